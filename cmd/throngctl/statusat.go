package main

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
)

// then shows the status at an earlier moment.
func (c *statusCmd) then(ctx context.Context, t *terminal) error {
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if err := review.CheckHere(&r); err != nil {
			return err
		}
		at, err := moment(c.At, r.Created)
		if err != nil {
			return err
		}
		s, err := scenario.Restore(r.Source)
		if err != nil {
			return fmt.Errorf("the scenario kept with run %s: %w", r.ID, err)
		}
		m, err := history.New(store, &r, s).Moment(ctx, at)
		if err != nil {
			return fmt.Errorf("the history of run %s: %w", r.ID, err)
		}
		var vitals health.Vitals
		for i := range m.Recent {
			vitals.See(&engine.Snapshot{Metrics: m.Recent[i]})
		}
		shown := view.NewStatus(r.DisplayName(), m.Snapshot, health.Judge(m.Snapshot, &vitals, r.Settings.CheckpointEvery))
		shown.Origin = app.Origin(ctx, store, &r)
		return c.showStatus(t, shown, t.json)
	})
}

// moment parses a time: a duration since the start, a time of day on the first day or the next, or a date and time.
func moment(text string, begun time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return begun.Add(d), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	for _, form := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if at, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return at, nil
		}
	}
	clock, err := time.Parse(time.TimeOnly, text)
	if err != nil {
		return clock, &engine.FieldError{Field: "at", Problem: fmt.Sprintf("%q is not a time", text), Hint: "for example 10m, 15:04:05 or 2006-01-02T15:04:05"}
	}
	day := begun.Local()
	at := time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, time.Local)
	if at.Before(begun.Truncate(time.Second)) {
		at = at.AddDate(0, 0, 1)
	}
	return at, nil
}
