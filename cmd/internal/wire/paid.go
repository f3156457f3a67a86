package wire

import (
	"context"

	"github.com/throng-sim/throng/engine"
)

// purseKey is that of the ledger in the context of checks.
type purseKey struct{}

// withBudget has the requests of checks paid from a budget.
func withBudget(ctx context.Context, b engine.Budget) context.Context {
	return context.WithValue(ctx, purseKey{}, engine.NewLedger(b))
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
