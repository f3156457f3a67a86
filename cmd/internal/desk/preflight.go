package desk

import (
	"context"
	"fmt"
	"strconv"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/setup"
)

// Preflight runs the preflight checks of a launch.
func (d setupDesk) Preflight(ctx context.Context, o setup.Order, anew bool, told func([]engine.Check)) ([]engine.Check, error) {
	l, err := d.launch(ctx, o)
	if err != nil {
		return nil, err
	}
	if anew {
		d.preflight.Forget()
	}
	if err := l.Population().TakeKept(); err != nil {
		return nil, err
	}
	l.Store, l.Remote, l.EarlierRuns = d.store, d.remote, d.app.EarlierRuns()
	return d.preflight.Run(ctx, l, d.remote.Database(), !anew, told), nil
}

// Recheck makes the next checks send their requests again.
func (d setupDesk) Recheck() { d.preflight.Forget() }

// Allow stores that the file of an order may call the addresses that the order allows.
func (d setupDesk) Allow(ctx context.Context, o setup.Order) error {
	l, err := d.launch(ctx, o)
	if err != nil {
		return err
	}
	l.Remote = d.remote
	return l.Permits().KeepAllowed()
}

// LowerConnections limits the database connections for sending results from now on.
func (d setupDesk) LowerConnections(_ context.Context, most int) error {
	if err := config.Save(d.data, map[string]string{"database-connections": strconv.Itoa(most)}); err != nil {
		return fmt.Errorf("save database-connections: %w", err)
	}
	return d.reconnect()
}
