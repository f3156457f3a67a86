package remote

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres"
)

// Weigh counts the rows of a run in the database.
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

// Remove deletes the rows of a run from the database and returns their number. It also stops sending the run; [Sender.Send]
// sends it again from its beginning. The error is [engine.ErrInUse] if the run is in progress.
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
		return 0, fmt.Errorf("delete the rows of run %s in %s: %w", run, cfg.Target(), engine.ErrInUse)
	}
	if _, err := postgres.Weigh(ctx, cfg, run); err != nil { // if the server does not answer, keep sending the run
		return 0, err
	}
	if err := r.store.Unsubscribe(ctx, run, cfg.Target()); err != nil {
		return 0, err
	}
	// Rows or checkpoints may be in transit, so a new pusher that does not know the run takes over.
	if err := r.use(db); err != nil {
		return 0, err
	}
	return postgres.Remove(ctx, cfg, run)
}
