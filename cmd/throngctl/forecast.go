package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// forecast returns the forecast of a launch. It does not create a missing store.
func forecast(ctx context.Context, t *terminal, l app.Launch) (f engine.Forecast, err error) {
	l.Data, l.Cores = t.data, t.hooks.cores
	var store *sqlite.Store
	if sqlite.Exists(t.data) {
		if store, err = sqlite.Open(t.data, sqlite.Options{OnGone: t.storeOptions().OnGone, Logger: slog.New(slog.DiscardHandler)}); err != nil {
			return f, err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
	}
	if err := l.Population().TakeKept(); err != nil {
		return f, err
	}
	taking, err := l.Forecaster().Workload(ctx)
	if err != nil {
		return f, err
	}
	return l.Forecaster().Forecast(app.NewEarlierRuns(store).Find(ctx, l.Forecaster()), taking), nil
}
