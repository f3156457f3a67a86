package retention

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Gone returns what a store has to call with a run that it removes because the trash kept it long enough: the log of its
// mock goes too.
func Gone(data string, logger *slog.Logger) func(engine.RunID) {
	return func(run engine.RunID) {
		if err := removeLog(data, run); err != nil {
			logger.Warn("the log of a deleted run's mock stays", "run", run, "error", err)
		}
	}
}

func removeLog(data string, run engine.RunID) error {
	err := os.Remove(config.ShopLog(data, run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Trashed lists what is in the trash, newest first; the logs of mocks are weighed too.
func Trashed(ctx context.Context, store *sqlite.Store, data string) ([]storage.Trashed, error) {
	all, err := store.Trashed(ctx)
	for i := range all {
		if info, statErr := os.Stat(config.ShopLog(data, all[i].Run.ID)); statErr == nil && all[i].Checkpoint == 0 {
			all[i].Bytes += info.Size()
		}
	}
	return all, err
}

// DeleteTrashed removes a run of the trash for good, with the log of its mock, or a checkpoint.
func DeleteTrashed(ctx context.Context, store *sqlite.Store, data string, run engine.RunID, number int) error {
	if err := store.DeleteTrashed(ctx, run, number); err != nil || number != 0 {
		return err
	}
	return deletedLog(data, run)
}

// EmptyTrash removes for good what was put into the trash at a moment or before, and returns that.
func EmptyTrash(ctx context.Context, store *sqlite.Store, data string, upTo time.Time) ([]storage.Trashed, error) {
	gone, err := store.EmptyTrash(ctx, upTo)
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
