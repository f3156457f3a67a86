package view

import (
	"testing"
	"time"
)

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
		if got, err := StartTime(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "25:00", "soon", "+soon", "+-3m", "2030-02-01 22:00"} {
		if got, err := StartTime(text, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
