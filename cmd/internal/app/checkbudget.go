package app

import (
	"context"

	"github.com/throng-sim/throng/engine"
)

// ledgerKey is the context key of the ledger that pays for checks.
type ledgerKey struct{}

// withBudget returns a context whose requests are paid from a budget. The context ends with the time of the budget.
func withBudget(ctx context.Context, b engine.Budget) (paid context.Context, end func()) {
	ctx = paidFrom(ctx, engine.NewLedger(b))
	if b.Wall <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, b.Wall, b.TimeOver())
}

// paidFrom returns a context in which payRequest uses a ledger.
func paidFrom(ctx context.Context, l *engine.Ledger) context.Context {
	return context.WithValue(ctx, ledgerKey{}, l)
}

// payRequest pays for a request before it is sent. It returns an error if the budget is used up.
func payRequest(ctx context.Context) error {
	ledger, ok := ctx.Value(ledgerKey{}).(*engine.Ledger)
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
