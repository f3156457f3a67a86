package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestParseTime checks the durations that flags, variables and orders accept. Durations that are too long used to
// become negative, and malformed ones were reported as negative.
func TestParseTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "300": 5 * time.Minute, "0.5": 500 * time.Millisecond, "1e3": 1000 * time.Second, "+5s": 5 * time.Second,
		"5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "1d": 24 * time.Hour, "1d12h": 36 * time.Hour, "9e9": 9e9 * time.Second,
	} {
		if got, err := engine.ParseTime(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", " ", "-1", "-5s", "nan", "inf", "-inf", "1e10", "1e30", "99999999999d", "soon", "5 m"} {
		if got, err := engine.ParseTime(text); err == nil || got != 0 || !strings.Contains(err.Error(), "is not a duration") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestStartTime(t *testing.T) {
	now := time.Date(2030, 3, 1, 21, 30, 0, 0, time.Local)
	at := func(day, hour, minute, second int) time.Time {
		return time.Date(2030, 3, day, hour, minute, second, 0, time.Local)
	}
	for text, want := range map[string]time.Time{
		"22:00": at(1, 22, 0, 0), "21:30": at(2, 21, 30, 0), "7:05": at(2, 7, 5, 0), "22:00:09": at(1, 22, 0, 9), "+90m": at(1, 23, 0, 0),
		"2030-03-04T01:02": at(4, 1, 2, 0), "2030-03-04 01:02": at(4, 1, 2, 0), " 2030-03-04T01:02:03 ": at(4, 1, 2, 3),
		at(5, 1, 0, 0).Format(time.RFC3339): at(5, 1, 0, 0),
	} {
		if got, err := engine.StartTime(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "25:00", "soon", "+soon", "+-3m", "2030-02-01 22:00"} {
		if got, err := engine.StartTime(text, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
