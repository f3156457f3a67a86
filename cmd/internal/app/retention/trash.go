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

// Gone returns the function that a store calls when it deletes an expired run from the trash. It deletes the run's mock shop
// log.
func Gone(data string, logger *slog.Logger) func(engine.RunID) {
	return func(run engine.RunID) {
		if err := removeLog(data, run); err != nil {
			logger.Warn("the mock shop's log of a deleted run remains", "run", run, "error", err)
		}
	}
}

func removeLog(data string, run engine.RunID) error {
	for _, path := range config.APILogs(data, run) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	err := os.Remove(config.ShopLog(data, run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Trashed lists the trash, newest first. Sizes include the mock shops' logs.
func Trashed(ctx context.Context, store *sqlite.Store, data string) ([]storage.Trashed, error) {
	all, err := store.Trashed(ctx)
	for i := range all {
		if info, statErr := os.Stat(config.ShopLog(data, all[i].Run.ID)); statErr == nil && all[i].Checkpoint == 0 {
			all[i].Bytes += info.Size()
		}
	}
	return all, err
}

// DeleteTrashed permanently deletes a checkpoint in the trash, or a run with its mock shop's log if number is 0.
func DeleteTrashed(ctx context.Context, store *sqlite.Store, data string, run engine.RunID, number int) error {
	if err := store.DeleteTrashed(ctx, run, number); err != nil || number != 0 {
		return err
	}
	return deletedLog(data, run)
}

// EmptyTrash permanently deletes what was moved to the trash up to a moment, and returns it.
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
		return fmt.Errorf("run %s is deleted, but its mock shop's log is not: %w", run, err)
	}
	return nil
}
