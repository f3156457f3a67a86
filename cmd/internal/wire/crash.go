package wire

import (
	"context"

	"github.com/throng-sim/throng/cmd/internal/crash"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Crashes says, once, how earlier processes ended unexpectedly, where their text is, and what can be resumed; "" is
// nothing.
func Crashes(ctx context.Context, store *sqlite.Store, data string) (string, error) {
	left, err := crash.Left(data)
	if err != nil || len(left) == 0 {
		return "", err
	}
	run := ""
	if r, err := store.Newest(ctx); err == nil && r.Ending == engine.NotEnded && !r.InProgress {
		run = string(r.ID)
	}
	return crash.Words(left, run), nil
}
