package run_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/fleet"
	"github.com/throng-sim/throng/engine/fleet/fleettest"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service/lending"
)

// work starts a worker with a link of its own.
func work(f *testFleet, link fleet.Link, p engine.Program) {
	ctx, end := context.WithCancel(context.Background())
	f.ends[link.Name()] = end
	f.all.Go(func() {
		_ = fleet.Work(ctx, fleet.WorkerConfig{
			Link: link,
			Prepare: func(context.Context, []byte, *lending.Borrower, fleet.Part) (*fleet.Prepared, error) {
				return &fleet.Prepared{Program: p}, nil
			},
		})
	})
}

// interrupted is a link that is interrupted while the worker receives its first bundles.
type interrupted struct {
	fleet.Link
	times int
}

func (l *interrupted) Bundle(ctx context.Context, name string) ([]byte, error) {
	if l.times > 0 {
		l.times--
		return nil, errors.New("the connection was interrupted")
	}
	return l.Link.Bundle(ctx, name) //nolint:wrapcheck // as the link says it
}

// TestInterruptedBundle checks that a worker executes sessions of a run although its connection was interrupted while it received the
// scenario.
func TestInterruptedBundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleettest.Faults{})
		cfg := enginetest.Config(4, &enginetest.Crowd{Work: time.Second}, &enginetest.Journal{})
		work(f, &interrupted{f.bus.Join("w0"), 3}, cfg.Program)
		cfg.Pool = f.pool(0)
		r := start(t, cfg)
		late := time.AfterFunc(time.Hour, func() { _, _ = r.Stop("test", "it takes forever"), r.Stop("test", "it takes forever") })
		defer late.Stop()
		if got := r.Wait(); got.Ending != engine.EndFinished {
			t.Errorf("it ended as %v: %s; the workers are %+v", got.Ending, got.Reason, f.of.Workers())
		}
	})
}

// measured is a link that knows the size of the largest request.
type measured struct {
	fleet.Link
	largest atomic.Int64
}

func (l *measured) Request(ctx context.Context, request []byte) ([]byte, error) {
	if n := int64(len(request)); n > l.largest.Load() {
		l.largest.Store(n)
	}
	return l.Link.Request(ctx, request) //nolint:wrapcheck // as the link says it
}

// TestWorkerUnderASlowDisk checks that a worker does not gather news of itself while the coordinator cannot take it: it would need more
// and more memory, and in the end one packet for all.
func TestWorkerUnderASlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		f := newFleet(t, fleettest.Faults{})
		cfg := enginetest.Config(50, &enginetest.Crowd{Asks: 4, Work: 10 * time.Second}, j)
		link := &measured{Link: f.bus.Join("w0")}
		work(f, link, cfg.Program)
		cfg.Settings.Limit, cfg.Pool = 50, f.pool(0)
		r := start(t, cfg)
		time.Sleep(time.Second)
		j.Stall()
		time.Sleep(10 * time.Minute)
		j.Heal()
		if got := r.Wait(); got.Ending != engine.EndFinished {
			t.Errorf("it ended as %v: %s", got.Ending, got.Reason)
		}
		if n := link.largest.Load(); n > 100_000 {
			t.Errorf("the largest request has %d bytes", n)
		}
	})
}

// TestManySessionsUnderASlowDisk checks that no call of a session is lost while the coordinator waits for its disk: the session would wait
// for the answer until it repeats the call.
func TestManySessionsUnderASlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := func(pool func(run.PoolConfig) (run.WorkerPool, error)) (last time.Duration) {
			j := &enginetest.Journal{Room: 1}
			cfg := enginetest.Config(10_000, &enginetest.Crowd{Asks: 2, Work: time.Second}, j)
			cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Settings.Budget.Requests, cfg.Pool = 10_000, 1, 1_000_000, pool
			began := time.Now()
			r := start(t, cfg)
			time.Sleep(300 * time.Millisecond)
			j.Stall()
			time.Sleep(time.Second)
			j.Heal()
			if got := r.Wait(); got.Ending != engine.EndFinished {
				t.Errorf("it ended as %v: %s", got.Ending, got.Reason)
			}
			for _, s := range j.Sessions() {
				last = max(last, s.Started.Add(s.Total).Sub(began))
			}
			return last
		}
		here, there := took(nil), took(newFleet(t, fleettest.Faults{}).pool(1))
		if there > here+time.Second {
			t.Errorf("over a fleet it took %v, in one process %v", there, here)
		}
	})
}

// TestWorkerLeavesACoordinatorThatIsGone checks that a worker that is asked to end does not wait for answers that do not come.
func TestWorkerLeavesACoordinatorThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleettest.Faults{})
		cfg := enginetest.Config(4, &enginetest.Crowd{Asks: 2, Work: time.Minute}, &enginetest.Journal{})
		link := f.bus.Join("w0")
		work(f, link, cfg.Program)
		cfg.Pool = f.pool(0)
		r := start(t, cfg)
		time.Sleep(time.Second)
		link.Part(true)
		f.ends["w0"]()
		began := time.Now()
		f.all.Wait()
		if waited := time.Since(began); waited > 3*time.Second {
			t.Errorf("the worker has ended after %v", waited)
		}
		_, _ = r.Stop("test", ""), r.Stop("test", "") // no worker is left
		r.Wait()
	})
}
