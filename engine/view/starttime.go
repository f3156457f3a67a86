package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/duration"
)

// StartTime parses the start time of a run: a time of day, which means its next occurrence; a date and time; or a
// delay from now. Examples are 22:00, 2030-03-01 22:00 and +90m.
func StartTime(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	wrong := func(problem string) (time.Time, error) {
		return time.Time{}, &engine.FieldError{Field: "at", Problem: problem, Hint: "such as 22:00, 2030-03-01 22:00 or +90m"}
	}
	if after, ok := strings.CutPrefix(text, "+"); ok {
		d, err := duration.Parse(after)
		if err != nil || d < 0 {
			return wrong(fmt.Sprintf("%q is not a delay", text))
		}
		return now.Add(d).Round(0), nil
	}
	for _, form := range []string{"15:04", time.TimeOnly} {
		clock, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		day := now.Local()
		at := time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, time.Local)
		if !at.After(now) {
			at = time.Date(day.Year(), day.Month(), day.Day()+1, clock.Hour(), clock.Minute(), clock.Second(), 0, time.Local)
		}
		return at, nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04"} {
		at, err := time.ParseInLocation(form, text, time.Local)
		switch {
		case err != nil:
		case !at.After(now):
			return wrong(text + " is in the past")
		default:
			return at, nil
		}
	}
	return wrong(fmt.Sprintf("%q is not a time", text))
}
