// Package retention deletes runs and checkpoints, and manages the trash.
package retention

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Pruning selects runs and checkpoints to delete. The zero value selects nothing.
type Pruning struct {
	Run         engine.RunID  // only this run; "" means all runs
	Checkpoints int           // newest checkpoints that each run keeps; 0 keeps all
	OlderThan   time.Duration // deletes runs that ended, or were created and interrupted, longer ago; 0 deletes none
	Runs        int           // newest runs to keep; 0 keeps all
}

// Removal is a run to delete, or some of its checkpoints.
type Removal struct {
	Run         engine.RunRecord
	Whole       bool
	Doomed      view.Footprint // if Whole
	Checkpoints []int          // if not Whole
	Bytes       int64
}

// Unsent returns the number of rows that no database has confirmed; 0 if the run is not sent.
func (g *Removal) Unsent() (n int64) {
	for _, s := range g.Doomed.Sendings {
		n += s.Unsent
	}
	return n
}

// Find lists the removals, newest run first. It skips runs in progress and those that wait in the queue.
func (p Pruning) Find(ctx context.Context, store *sqlite.Store, data string, now time.Time) (all []Removal, err error) {
	runs, err := store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		r := &runs[i]
		if r.InProgress || r.Queued != "" || p.Run != "" && r.ID != p.Run {
			continue
		}
		g := Removal{Run: *r, Whole: p.takes(r, i, now)}
		if g.Whole {
			g.Doomed, err = Weigh(ctx, store, data, r.ID)
			g.Bytes = g.Doomed.Bytes
		} else if p.Checkpoints > 0 {
			err = g.older(ctx, store, p.Checkpoints)
		}
		if err != nil {
			return nil, err
		}
		if g.Whole || len(g.Checkpoints) > 0 {
			all = append(all, g)
		}
	}
	return all, nil
}

// takes reports whether a whole run is selected; place is its index among all runs, newest first.
func (p Pruning) takes(r *engine.RunRecord, place int, now time.Time) bool {
	last := r.Ended
	if last.IsZero() {
		last = r.Created
	}
	return p.OlderThan > 0 && now.Sub(last) > p.OlderThan || p.Runs > 0 && place >= p.Runs
}

// older selects all but the newest checkpoints.
func (g *Removal) older(ctx context.Context, store *sqlite.Store, keep int) error {
	points, err := store.Checkpoints(ctx, g.Run.ID)
	if err != nil || len(points) <= keep {
		return err
	}
	for _, c := range points[keep:] {
		g.Checkpoints = append(g.Checkpoints, c.Number)
	}
	g.Bytes, err = store.WeighCheckpoints(ctx, g.Run.ID, g.Checkpoints)
	return err
}

// Do moves the run or the checkpoints to the trash, or deletes them permanently.
func (g *Removal) Do(ctx context.Context, store *sqlite.Store, data string, permanently bool) error {
	switch {
	case g.Whole && permanently:
		return Delete(ctx, store, data, g.Run.ID)
	case g.Whole:
		return store.Trash(ctx, g.Run.ID)
	case permanently:
		return store.DeleteCheckpoints(ctx, g.Run.ID, g.Checkpoints)
	default:
		return store.TrashCheckpoints(ctx, g.Run.ID, g.Checkpoints)
	}
}
