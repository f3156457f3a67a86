// Package retention deletes runs and checkpoints, and manages the trash.
package retention

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Pruning says which runs and checkpoints are to go. The zero value takes nothing.
type Pruning struct {
	Run         engine.RunID  // only of this run; "" is of all
	Checkpoints int           // how many of the newest each run keeps; 0 is all
	OlderThan   time.Duration // runs that ended, or were made and interrupted, longer ago go; 0 is none
	Runs        int           // how many of the newest runs stay; 0 is all
}

// Going is what a pruning takes: a whole run, or some of its checkpoints.
type Going struct {
	Run         engine.RunRecord
	Whole       bool
	Doomed      storage.Deletion // of a whole run
	Checkpoints []int          // of one that stays
	Bytes       int64
}

// Unsent is how many rows no database has confirmed; 0 for a run that is sent to none.
func (g *Going) Unsent() (n int64) {
	for _, s := range g.Doomed.Sendings {
		n += s.Unsent
	}
	return n
}

// Find lists what is to go, in the order of the runs, newest first. A run in progress stays as it is.
func (p Pruning) Find(ctx context.Context, store *sqlite.Store, data string, now time.Time) (all []Going, err error) {
	runs, err := store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		r := &runs[i]
		if r.InProgress || p.Run != "" && r.ID != p.Run {
			continue
		}
		g := Going{Run: *r, Whole: p.takes(r, i, now)}
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

// takes reports whether a run goes as a whole; place is its place among all, newest first.
func (p Pruning) takes(r *engine.RunRecord, place int, now time.Time) bool {
	last := r.Ended
	if last.IsZero() {
		last = r.Created
	}
	return p.OlderThan > 0 && now.Sub(last) > p.OlderThan || p.Runs > 0 && place >= p.Runs
}

// older finds the checkpoints behind the newest few.
func (g *Going) older(ctx context.Context, store *sqlite.Store, keep int) error {
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

// Take puts it into the trash, or removes it at once.
func (g *Going) Take(ctx context.Context, store *sqlite.Store, data string, atOnce bool) error {
	switch {
	case g.Whole && atOnce:
		return Delete(ctx, store, data, g.Run.ID)
	case g.Whole:
		return store.Trash(ctx, g.Run.ID)
	case atOnce:
		return store.DeleteCheckpoints(ctx, g.Run.ID, g.Checkpoints)
	default:
		return store.TrashCheckpoints(ctx, g.Run.ID, g.Checkpoints)
	}
}
