package app

import (
	"context"

	"github.com/throng-sim/throng/engine"
)

// purseKey is that of the ledger in the context of checks.
type purseKey struct{}

// withBudget has the requests of checks paid from a budget, whose time they end with.
func withBudget(ctx context.Context, b engine.Budget) (paid context.Context, end func()) {
	ctx = paidFrom(ctx, engine.NewLedger(b))
	if b.Wall <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, b.Wall, b.TimeOver())
}

// paidFrom has requests that payRequest is asked for paid from a ledger.
func paidFrom(ctx context.Context, l *engine.Ledger) context.Context {
	return context.WithValue(ctx, purseKey{}, l)
}

// payRequest pays for a request that is about to leave. Its error says that the budget has no room for it.
func payRequest(ctx context.Context) error {
	ledger, ok := ctx.Value(purseKey{}).(*engine.Ledger)
	if !ok {
		return nil
	}
	one := engine.Outlay{Requests: 1}
	settle, err := ledger.Claim(ctx, one)
	if err != nil {
		return err
	}
	settle(one)
	return nil
}
