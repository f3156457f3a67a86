package desk

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/runs"
)

// Doomed returns what goes when a run is deleted.
func (d runsDesk) Doomed(ctx context.Context, run engine.RunID) (runs.Doomed, error) {
	doomed, err := retention.Weigh(ctx, d.store, d.data, run)
	out := runs.Doomed{Sessions: doomed.Sessions, Events: doomed.Events, Checkpoints: doomed.Checkpoints, Bytes: doomed.Bytes}
	for _, to := range doomed.Sendings {
		out.Sendings = append(out.Sendings, runs.Sending(to))
	}
	return out, err
}

// Delete puts a run into the trash, or removes it at once; before, what is to be sent is, and what is to go from the database
// goes for good.
func (d runsDesk) Delete(ctx context.Context, run engine.RunID, how runs.Deletion) error {
	if how.Send {
		if err := d.remote.Drain(ctx, run); err != nil {
			return fmt.Errorf("the run was kept: %w", err)
		}
		if refused := d.remote.Refused(); refused != "" {
			return fmt.Errorf("the run was kept: %s", refused)
		}
	}
	if how.There {
		if _, err := d.remote.Remove(ctx, run); err != nil {
			return fmt.Errorf("the run was kept: %w", err)
		}
	}
	if how.Now {
		return retention.Delete(ctx, d.store, d.data, run)
	}
	return d.store.Trash(ctx, run)
}

// WeighThere counts a run's rows in the configured database.
func (d runsDesk) WeighThere(ctx context.Context, run engine.RunID) (int64, error) {
	w, err := d.remote.Weigh(ctx, run)
	return w.Rows, err
}

// DeleteCheckpoint puts a checkpoint into the trash; the others stay restorable.
func (d runsDesk) DeleteCheckpoint(ctx context.Context, run engine.RunID, number int) error {
	return d.store.TrashCheckpoints(ctx, run, []int{number})
}

// Old weighs what is old.
func (d runsDesk) Old(ctx context.Context, age runs.Age) (old runs.Old, err error) {
	_, old, err = d.old(ctx, age)
	return old, err
}

// Prune puts what is old into the trash, or removes it at once.
func (d runsDesk) Prune(ctx context.Context, age runs.Age, now bool) (gone runs.Old, err error) {
	all, old, err := d.old(ctx, age)
	if err != nil {
		return gone, err
	}
	gone.Kept = old.Kept
	for i := range all {
		if err := all[i].Do(ctx, d.store, d.data, now); err != nil {
			return gone, err
		}
		count(&gone, &all[i])
	}
	return gone, nil
}

// old finds what may go: runs with rows that have not arrived may not.
func (d runsDesk) old(ctx context.Context, age runs.Age) (all []retention.Removal, old runs.Old, err error) {
	p := retention.Pruning{Checkpoints: age.Checkpoints, OlderThan: age.OlderThan, Runs: age.Runs}
	found, err := p.Find(ctx, d.store, d.data, time.Now())
	for i := range found {
		if found[i].Unsent() > 0 {
			old.Kept++
			continue
		}
		all = append(all, found[i])
		count(&old, &found[i])
	}
	return all, old, err
}

func count(o *runs.Old, g *retention.Removal) {
	if g.Whole {
		o.Runs++
	}
	o.Checkpoints += len(g.Checkpoints)
	o.Bytes += g.Bytes
	if g.Whole {
		o.Things = append(o.Things, runs.Thing{Run: g.Run.ID})
	}
	for _, number := range g.Checkpoints {
		o.Things = append(o.Things, runs.Thing{Run: g.Run.ID, Checkpoint: number})
	}
}
