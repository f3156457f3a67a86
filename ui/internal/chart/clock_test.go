package chart

import (
	"strings"
	"testing"
	"time"
)

func TestClockTicks(t *testing.T) {
	quarter := time.FixedZone("", 5*3600+45*60)
	at := func(day, hour, minute, second int) time.Time {
		return time.Date(2026, 3, day, hour, minute, second, 0, quarter)
	}
	tests := []struct {
		name        string
		from, to    time.Time
		short, long float64
		want        string
	}{
		{"a minute", at(4, 12, 0, 5), at(4, 12, 1, 5), 12, 18, "12:00:30 12:01:00"},
		{"two minutes", at(4, 12, 0, 5), at(4, 12, 2, 5), 25, 35, "12:01 12:02"},
		{"ten minutes", at(4, 12, 0, 5), at(4, 12, 10, 5), 80, 120, "12:02 12:04 12:06 12:08 12:10"},
		{"an hour", at(4, 12, 0, 0), at(4, 13, 0, 0), 1000, 1500, "12:00 12:30 13:00"},
		{"six hours over midnight", at(4, 20, 30, 0), at(5, 2, 30, 0), 4000, 6000, "22:00 5 Mar 02:00"},
		{"three days", at(4, 12, 0, 0), at(7, 12, 0, 0), 60000, 80000, "5 Mar 6 Mar 7 Mar"},
		{"years", at(4, 12, 0, 0), at(4, 12, 0, 0).AddDate(9, 0, 0), 900 * day, 900 * day, "1 Jul 27 Mar 21 Dec"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := clock{from: Seconds(tt.from), to: Seconds(tt.to), zone: quarter}
			c.divide(tt.short, tt.long)
			var labels []string
			first, end := c.ticks()
			for n := first; n < end; n++ {
				if at := c.tick(n); at < c.from || at > c.to {
					t.Errorf("tick %d is at %v, outside %v to %v", n, at, c.from, c.to)
				}
				labels = append(labels, string(c.appendLabel(nil, n)))
			}
			if got := strings.Join(labels, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestNumbersOfAnAxis(t *testing.T) {
	for _, c := range []struct {
		to, least float64
		want      string
	}{{4, 0.3, "0 1 2 3 4"}, {23, 3.2, "0 5 10 15 20"}, {1000, 160, "0 200 400 600 800 1000"}} {
		axis := clock{to: c.to, numbers: true}
		axis.divide(c.least, 2*c.least)
		var labels []string
		first, end := axis.ticks()
		for n := first; n < end; n++ {
			labels = append(labels, string(axis.appendLabel(nil, n)))
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("up to %v: %s, want %s", c.to, got, c.want)
		}
	}
}

// TestElapsedAxis checks the labels of an axis that counts from the start of a run.
func TestElapsedAxis(t *testing.T) {
	c := clock{from: 0, to: 7300, zone: time.UTC, elapsed: true}
	c.divide(1200, 1200)
	first, _ := c.ticks()
	var got []string
	for n := first; n < first+5; n++ {
		got = append(got, string(c.appendLabel(nil, n)))
	}
	if text := strings.Join(got, " "); text != "0:00 30:00 1:00:00 1:30:00 2:00:00" {
		t.Errorf("the labels are %s", text)
	}
	if text := string(c.appendMoment(nil, 95)); text != "after 1:35" {
		t.Errorf("a moment is %s", text)
	}
}
