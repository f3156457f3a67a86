package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/throng-sim/throng/engine"
)

// change is a change with its position in the journal.
type change struct {
	pos int64
	engine.ChangeRow
}

// readChanges reads the changes of the run and applies those that affect agents and services.
func (r *resuming) readChanges(ctx context.Context) error {
	for rows, err := range r.store.file.Query(ctx, `SELECT pos, at, cycle, inexact, what, new FROM changes WHERE run = ? ORDER BY pos`, r.key) {
		if err != nil {
			return err
		}
		var c change
		var at int64
		var text sql.NullString
		if err := rows.Scan(&c.pos, &at, &c.Cycle, &text, &c.What, &c.New); err != nil {
			return err
		}
		c.At = timeOf(at)
		if c.Inexact, err = inexactOfText(text); err != nil {
			return err
		}
		injected := len(r.Injected)
		if err := r.Apply(&c.ChangeRow); err != nil {
			return err
		}
		if n := len(r.Injected); n > injected && r.Injected[n-1].Cycle <= r.from && c.pos <= r.after {
			r.Injected = r.Injected[:injected] // it is in the checkpoint
		}
		r.changes = append(r.changes, c)
		if c.What == engine.ClockChange {
			step, err := time.ParseDuration(c.New)
			if err != nil {
				return err
			}
			if step < 0 {
				r.spans.SetBack(c.pos, c.At, -step)
			}
		}
		r.spans.Seen(c.pos, c.At)
	}
	return nil
}

// findInexact adds changes and requests that made the run inexact, and subtracts the time for which the machine slept.
func (r *resuming) findInexact(ctx context.Context) error {
	if err := r.unconfirmed(ctx); err != nil {
		return err
	}
	for i := range r.changes {
		c := &r.changes[i]
		r.State.Totals.Inexact = earliest(r.State.Totals.Inexact, c.Inexact)
		if c.Cycle < r.Cycle {
			r.AtBarrier.Inexact = earliest(r.AtBarrier.Inexact, c.Inexact)
		}
		if c.What == engine.SleepChange && c.pos > r.after {
			slept, err := time.ParseDuration(c.New)
			if err != nil {
				return err
			}
			r.State.Totals.Peaks.Elapsed -= slept
		}
	}
	return nil
}
