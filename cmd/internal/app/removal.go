package app

import (
	"context"
	"fmt"
	"os"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Weigh returns what goes when a run is deleted; its Bytes have the log of the mock too.
func Weigh(ctx context.Context, store *sqlite.Store, data string, run engine.RunID) (storage.Doomed, error) {
	d, err := store.Doomed(ctx, run)
	if info, statErr := os.Stat(ShopLog(data, run)); statErr == nil {
		d.Bytes += info.Size()
	}
	return d, err
}

// Delete removes a run and the log of its mock at once.
func Delete(ctx context.Context, store *sqlite.Store, data string, run engine.RunID) error {
	if err := store.Delete(ctx, run); err != nil {
		return err
	}
	return deletedLog(data, run)
}

// Weigh counts what the database has of a run.
func (r *Remote) Weigh(ctx context.Context, run engine.RunID) (postgres.Weight, error) {
	db := r.Database()
	cfg, err := db.config()
	if db.URL == "" {
		err = ErrNoDatabase
	}
	if err != nil {
		return postgres.Weight{}, err
	}
	return postgres.Weigh(ctx, cfg, run)
}

// Remove deletes what the database has of a run, and returns how many rows have gone. The run is not sent any more, unless
// [Remote.Send] has it sent again, from its beginning. ErrInUse if it is in progress.
func (r *Remote) Remove(ctx context.Context, run engine.RunID) (rows int64, err error) {
	r.changing.Lock()
	defer r.changing.Unlock()
	db := r.Database()
	if db.URL == "" {
		return 0, ErrNoDatabase
	}
	cfg, err := db.config()
	if err != nil {
		return 0, err
	}
	record, err := r.store.Run(ctx, run)
	if err != nil {
		return 0, err
	}
	if record.InProgress {
		return 0, fmt.Errorf("the rows of run %s in %s stay: %w", run, cfg.Target(), engine.ErrInUse)
	}
	if _, err := postgres.Weigh(ctx, cfg, run); err != nil { // where it does not answer, the run goes on being sent
		return 0, err
	}
	if err := r.store.Unsubscribe(ctx, run, cfg.Target()); err != nil {
		return 0, err
	}
	// Rows may be on their way, or what checkpoints restore: a pusher that knows nothing of the run takes over.
	if err := r.use(db); err != nil {
		return 0, err
	}
	return postgres.Remove(ctx, cfg, run)
}
