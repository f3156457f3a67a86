package desk

import (
	"context"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/runs"
)

// Trashed lists the trash.
func (d runsDesk) Trashed(ctx context.Context) ([]runs.Trashed, error) {
	all, err := retention.Trashed(ctx, d.store, d.data)
	out := make([]runs.Trashed, len(all))
	now := time.Now()
	for i := range all {
		b := &all[i]
		out[i] = runs.Trashed{
			Thing: runs.Thing{Run: b.Run.ID, Checkpoint: b.Checkpoint}, Title: b.Run.DisplayName(), Started: b.Run.Created,
			At: b.At, DaysLeft: b.DaysLeft(now), Bytes: b.Bytes,
		}
	}
	return out, err
}

// Restore restores a thing from the trash.
func (d runsDesk) Restore(ctx context.Context, thing runs.Thing) error {
	return d.store.Restore(ctx, thing.Run, thing.Checkpoint)
}

// DeleteTrashed deletes a thing permanently.
func (d runsDesk) DeleteTrashed(ctx context.Context, thing runs.Thing) error {
	return retention.DeleteTrashed(ctx, d.store, d.data, thing.Run, thing.Checkpoint)
}

// EmptyTrash permanently deletes everything that was in the trash at a moment.
func (d runsDesk) EmptyTrash(ctx context.Context, upTo time.Time) (int, error) {
	gone, err := retention.EmptyTrash(ctx, d.store, d.data, upTo)
	return len(gone), err
}

// Note stores the user's note on a run.
func (d *Desk) Note(ctx context.Context, run engine.RunID, text string) error {
	return d.store.Note(ctx, run, text)
}
