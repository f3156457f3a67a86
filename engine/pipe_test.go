package engine_test

import (
	"context"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/pipe"
)

// piped is a pool at the other end of a pipe.
func piped(cfg engine.PoolConfig) (engine.WorkerPool, error) {
	in, orders := io.Pipe()
	results, out := io.Pipe()
	go func() {
		_ = out.CloseWithError(pipe.Serve(context.Background(), in, out, cfg.Program))
		_ = in.Close()
	}()
	return pipe.New(cfg, results, orders)
}

// TestLivesOverAPipe holds a run whose sessions are executed at the other end of a pipe to what any run is held to: nothing
// that happens to it changes its results, no request whose answer is journaled leaves again, and the limit holds.
func TestLivesOverAPipe(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := drawLife(r)
		l.pool = piped
		check(r, t, l.live)
	})
}
