package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Gone returns what a store has to call with a run that it removes because the bin kept it long enough: the log of its
// mock goes too.
func Gone(data string, logger *slog.Logger) func(engine.RunID) {
	return func(run engine.RunID) {
		if err := removeLog(data, run); err != nil {
			logger.Warn("the log of a deleted run's mock stays", "run", run, "error", err)
		}
	}
}

func removeLog(data string, run engine.RunID) error {
	err := os.Remove(ShopLog(data, run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Binned lists what is in the bin, newest first; the logs of mocks are weighed too.
func Binned(ctx context.Context, store *sqlite.Store, data string) ([]storage.Binned, error) {
	all, err := store.Binned(ctx)
	for i := range all {
		if info, statErr := os.Stat(ShopLog(data, all[i].Run.ID)); statErr == nil && all[i].Checkpoint == 0 {
			all[i].Bytes += info.Size()
		}
	}
	return all, err
}

// DeleteBinned removes a run of the bin for good, with the log of its mock, or a checkpoint.
func DeleteBinned(ctx context.Context, store *sqlite.Store, data string, run engine.RunID, number int) error {
	if err := store.DeleteBinned(ctx, run, number); err != nil || number != 0 {
		return err
	}
	return deletedLog(data, run)
}

// EmptyBin removes for good what was put into the bin at a moment or before, and returns that.
func EmptyBin(ctx context.Context, store *sqlite.Store, data string, upTo time.Time) ([]storage.Binned, error) {
	gone, err := store.EmptyBin(ctx, upTo)
	for _, b := range gone {
		if b.Checkpoint == 0 {
			err = errors.Join(err, deletedLog(data, b.Run.ID))
		}
	}
	return gone, err
}

func deletedLog(data string, run engine.RunID) error {
	if err := removeLog(data, run); err != nil {
		return fmt.Errorf("run %s is deleted, the log of its mock is not: %w", run, err)
	}
	return nil
}
