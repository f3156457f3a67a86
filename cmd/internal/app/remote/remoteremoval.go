package remote

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres"
)

// Weigh counts what the database has of a run.
func (r *Sender) Weigh(ctx context.Context, run engine.RunID) (postgres.Weight, error) {
	db := r.Database()
	cfg, err := db.Config()
	if db.URL == "" {
		err = config.ErrNoDatabase
	}
	if err != nil {
		return postgres.Weight{}, err
	}
	return postgres.Weigh(ctx, cfg, run)
}

// Remove deletes what the database has of a run, and returns how many rows have gone. The run is not sent any more, unless
// [Remote.Send] has it sent again, from its beginning. ErrInUse if it is in progress.
func (r *Sender) Remove(ctx context.Context, run engine.RunID) (rows int64, err error) {
	r.changing.Lock()
	defer r.changing.Unlock()
	db := r.Database()
	if db.URL == "" {
		return 0, config.ErrNoDatabase
	}
	cfg, err := db.Config()
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
