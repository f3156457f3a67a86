package desk

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/runs"
)

// Footprint returns what the deletion of a run deletes.
func (d runsDesk) Footprint(ctx context.Context, run engine.RunID) (view.Footprint, error) {
	return retention.Weigh(ctx, d.store, d.data, run)
}

// Delete moves a run to the trash, or deletes it permanently. Before that, it sends unsent rows or deletes rows in the database if how says
// so.
func (d runsDesk) Delete(ctx context.Context, run engine.RunID, how runs.Deletion) error {
	if how.Send {
		if err := d.remote.Drain(ctx, run); err != nil {
			return fmt.Errorf("the run was not deleted: %w", err)
		}
		if refused := d.remote.Refused(); refused != "" {
			return fmt.Errorf("the run was not deleted: %s", refused)
		}
	}
	if how.There {
		if _, err := d.remote.Remove(ctx, run); err != nil {
			return fmt.Errorf("the run was not deleted: %w", err)
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

// DeleteCheckpoint moves a checkpoint to the trash; the others remain usable.
func (d runsDesk) DeleteCheckpoint(ctx context.Context, run engine.RunID, number int) error {
	return d.store.TrashCheckpoints(ctx, run, []int{number})
}

// Old returns what Prune would delete.
func (d runsDesk) Old(ctx context.Context, age runs.Age) (old runs.Old, err error) {
	_, old, err = d.old(ctx, age)
	return old, err
}

// Prune moves old runs and checkpoints to the trash, or deletes them permanently.
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

// old finds what may be deleted: runs with unsent rows are kept.
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
