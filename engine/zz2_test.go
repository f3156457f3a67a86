package engine_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
)

func gang(n, sleeps int, f func()) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for next.Add(1) <= int64(sleeps) {
				f()
			}
		})
	}
	all.Wait()
}

func TestZZ2(t *testing.T) {
	const n, gate, wait = 100_000, 1000, 20 * time.Millisecond
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	report := func(name string, f func()) {
		c := cpu()
		gang(gate, n, f)
		t.Logf("%-20s %v per session", name, (cpu()-c)/n)
	}
	for range 3 {
		report("sleep", func() { time.Sleep(wait) })
		report("timer+select", func() {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		})
		report("clock+timer+select", func() {
			up := clock.New(ctx, 300*time.Second, &engine.TimeoutError{What: "session", Limit: 300 * time.Second})
			timer := time.NewTimer(wait)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-up.Context().Done():
			}
			up.Stop()
		})
		report("clock+sleep", func() {
			up := clock.New(ctx, 300*time.Second, &engine.TimeoutError{What: "session", Limit: 300 * time.Second})
			time.Sleep(wait)
			up.Stop()
		})
	}
}
