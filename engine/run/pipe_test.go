package run_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/pipe"
	"github.com/throng-sim/throng/engine/run"
)

// piped is a pool at the other end of a pipe.
func piped(cfg run.PoolConfig) (run.WorkerPool, error) {
	in, orders := io.Pipe()
	results, out := io.Pipe()
	go func() {
		_ = out.CloseWithError(pipe.Serve(context.Background(), in, out, cfg.Program))
		_ = in.Close()
	}()
	return pipe.New(cfg, results, orders)
}

// TestResultOverAPipe checks the usual promises for a run whose sessions execute at the other end of a pipe: nothing changes
// its results, no request with a journaled answer is sent again, and the limit holds.
func TestResultOverAPipe(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := drawCase(r)
		l.pool = piped
		check(r, t, l.check)
	})
}

// TestBudgetOverAPipe checks that sessions in another process claim from the run's single budget. It is used up exactly,
// and the run ends with the same reason as in one process.
func TestBudgetOverAPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := func(pool func(run.PoolConfig) (run.WorkerPool, error)) (run.Result, int64) {
			j := &enginetest.Journal{}
			cfg := enginetest.Config(40, &enginetest.Crowd{Asks: 6, Work: time.Second}, j)
			cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Settings.Budget.Requests, cfg.Pool = 1, 2, 50, pool
			r, err := run.Start(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			result := r.Wait()
			return result, result.Totals.Spent().Requests
		}
		want, wantSpent := live(nil)
		got, spent := live(piped)
		if want.Ending != engine.EndOutOfBudget || got.Ending != want.Ending || got.Reason != want.Reason || spent != wantSpent {
			t.Errorf("got ending %v for %q with %d requests, want %v, %q, %d", got.Ending, got.Reason, spent, want.Ending, want.Reason, wantSpent)
		}
	})
}

// TestHopelessOverAPipe checks that a run learns why sessions in another process fail, and that the failure is permanent.
func TestHopelessOverAPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(40, &enginetest.Crowd{Fail: 1}, nil)
		cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Pool = 4, 2, piped
		r, err := run.Start(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Wait(); got.Ending != engine.EndHopeless || !strings.Contains(got.Reason, "as planned") {
			t.Errorf("got ending %v: %s", got.Ending, got.Reason)
		}
	})
}

// TestLostWorkerProcess checks that a run whose worker process disappears cuts the sessions in flight there and ends.
// Resumed with another worker process, it has the undisturbed results.
func TestLostWorkerProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, whole := &enginetest.Journal{}, &enginetest.Journal{}
		config := func(j *enginetest.Journal) run.Config {
			cfg := enginetest.Config(30, &enginetest.Crowd{Asks: 4, Work: time.Second, Remember: 0.5, Events: 2}, j)
			cfg.Settings.Limit, cfg.Settings.Cycles = 7, 3
			return cfg
		}
		end := func(cfg run.Config, during func(r *run.Run)) run.Result {
			r, err := run.Start(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			during(r)
			return r.Wait()
		}
		end(config(whole), func(*run.Run) {})
		var lose func()
		cfg := config(j)
		cfg.Pool = func(cfg run.PoolConfig) (run.WorkerPool, error) {
			in, orders := io.Pipe()
			results, out := io.Pipe()
			go func() { _ = out.CloseWithError(pipe.Serve(context.Background(), in, out, cfg.Program)) }()
			lose = func() { _, _ = in.Close(), out.Close() }
			return pipe.New(cfg, results, orders)
		}
		got := end(cfg, func(*run.Run) {
			time.Sleep(2 * time.Second)
			lose()
		})
		if got.Ending == engine.EndFinished || got.Totals.Ended() == 0 || len(j.Sessions()) == len(whole.Sessions()) {
			t.Fatalf("got ending %v, %s, with %d sessions: nothing was lost", got.Ending, got.Reason, got.Totals.Ended())
		}
		j.Close()
		again := j.Reopen()
		cfg = config(again)
		cfg.Pool, cfg.Resume = piped, again.Resumption()
		if got := end(cfg, func(*run.Run) {}); got.Ending != engine.EndFinished {
			t.Fatalf("resumed, it ended as %v: %s", got.Ending, got.Reason)
		}
		if a, b := enginetest.Results(again.Sessions()), enginetest.Results(whole.Sessions()); a != b {
			t.Errorf("results\n%s\nwant\n%s", a, b)
		}
	})
}
