package desk

import (
	"context"
	"time"

	"github.com/throng-sim/throng/cmd/internal/wire"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/runs"
)

// Binned lists what was deleted and can be restored.
func (d runsDesk) Binned(ctx context.Context) ([]runs.Binned, error) {
	all, err := wire.Binned(ctx, d.store, d.data)
	out := make([]runs.Binned, len(all))
	now := time.Now()
	for i := range all {
		b := &all[i]
		out[i] = runs.Binned{
			Thing: runs.Thing{Run: b.Run.ID, Checkpoint: b.Checkpoint}, Title: b.Run.Title, Started: b.Run.Created,
			At: b.At, DaysLeft: b.DaysLeft(now), Bytes: b.Bytes,
		}
	}
	return out, err
}

// Restore takes a thing out of the bin.
func (d runsDesk) Restore(ctx context.Context, thing runs.Thing) error {
	return d.store.Restore(ctx, thing.Run, thing.Checkpoint)
}

// DeleteBinned removes one for good.
func (d runsDesk) DeleteBinned(ctx context.Context, thing runs.Thing) error {
	return wire.DeleteBinned(ctx, d.store, d.data, thing.Run, thing.Checkpoint)
}

// EmptyBin removes all for good that was there at a moment.
func (d runsDesk) EmptyBin(ctx context.Context, upTo time.Time) (int, error) {
	gone, err := wire.EmptyBin(ctx, d.store, d.data, upTo)
	return len(gone), err
}

// Note keeps a person's own words of a run.
func (d runsDesk) Note(ctx context.Context, run engine.RunID, text string) error {
	return d.store.Note(ctx, run, text)
}

// Note keeps a person's own words of a run.
func (d resultsDesk) Note(ctx context.Context, run engine.RunID, text string) error {
	return d.store.Note(ctx, run, text)
}
