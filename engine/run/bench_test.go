package run_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// startBenchmark starts a run that a benchmark measures.
func startBenchmark(b *testing.B, cfg run.Config) *run.Run {
	b.Helper()
	r, err := run.Start(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// cutBenchmark cuts a run.
func cutBenchmark(b *testing.B, r *run.Run) {
	b.Helper()
	if err := r.Stop("bench", ""); err != nil {
		b.Fatal(err)
	}
	if err := r.Stop("bench", ""); err != nil {
		b.Fatal(err)
	}
	r.Wait()
}

// BenchmarkEmptySessions measures the engine's own cost per session: an empty chain, no journal, a concurrency limit of 50.
func BenchmarkEmptySessions(b *testing.B) {
	cfg := enginetest.Config(b.N, programFunc(func(s *engine.Session) { s.Row.Outcome = engine.OK }), nil)
	if got := startBenchmark(b, cfg).Wait(); got.Totals.Outcomes[engine.OK] != int64(b.N) {
		b.Fatalf("%d of %d sessions ended", got.Totals.Outcomes[engine.OK], b.N)
	}
}

// BenchmarkShortRun measures the cost of a run in addition to its sessions.
func BenchmarkShortRun(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		startBenchmark(b, enginetest.Config(1, programFunc(func(s *engine.Session) { s.Row.Outcome = engine.OK }), nil)).Wait()
	}
}

// BenchmarkWaitingSessions compares 1,000 sessions that wait 20 ms each with bare goroutines that sleep as long, and with
// the ideal. One operation is both, one after the other.
func BenchmarkWaitingSessions(b *testing.B) {
	const sessions, wait = 1000, 20 * time.Millisecond
	for _, limit := range []int{10, 50, 100} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			ideal := wait * sessions / time.Duration(limit)
			var ours, bare time.Duration
			for b.Loop() {
				start := time.Now()
				sleepers(limit, sessions, wait)
				bare += time.Since(start)

				cfg := enginetest.Config(sessions, programFunc(func(s *engine.Session) {
					up := s.Clock()
					timer := time.NewTimer(wait)
					defer timer.Stop()
					select {
					case <-timer.C:
						s.Row.Outcome = engine.OK
					case <-up.Context().Done():
						s.Row.Fail("wait", context.Cause(up.Context()))
					}
				}), nil)
				cfg.Settings.Limit = limit
				start = time.Now()
				startBenchmark(b, cfg).Wait()
				ours += time.Since(start)
			}
			over := func(d time.Duration) float64 { return 100 * (float64(d)/float64(b.N)/float64(ideal) - 1) }
			b.ReportMetric(over(ours), "%-over-ideal")
			b.ReportMetric(over(bare), "%-bare-over-ideal")
			b.ReportMetric(over(ours)-over(bare), "points-over-bare")
		})
	}
}

// sleepers lets n goroutines sleep until all sleeps are done.
func sleepers(n, sleeps int, d time.Duration) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for next.Add(1) <= int64(sleeps) {
				time.Sleep(d)
			}
		})
	}
	all.Wait()
}

// BenchmarkSliderToEffect measures the time from a call that raises the limit by one to the start of a new session. It uses
// workers that wait, and enough computing workers to occupy every core.
func BenchmarkSliderToEffect(b *testing.B) {
	for name, work := range map[string]func(s *engine.Session, leave <-chan struct{}){
		"waiting": func(s *engine.Session, leave <-chan struct{}) {
			select {
			case <-leave:
			case <-s.Clock().Context().Done():
			}
		},
		"computing": func(*engine.Session, <-chan struct{}) {
			for start := time.Now(); time.Since(start) < time.Millisecond; {
				continue
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			const limit = 8
			var known sync.Map // an unknown session belongs to a new worker
			began, leave := make(chan time.Time, 1), make(chan struct{})
			cfg := enginetest.Config(1<<30, programFunc(func(s *engine.Session) {
				if _, is := known.LoadOrStore(s, true); !is {
					select {
					case began <- time.Now():
					default:
					}
				}
				work(s, leave)
				s.Row.Outcome = engine.OK
			}), nil)
			cfg.Settings.Limit = limit
			r := startBenchmark(b, cfg)
			set := func(n int) {
				if err := r.SetLimit(n, "bench", ""); err != nil {
					b.Fatal(err)
				}
			}
			var sum, worst time.Duration
			for b.Loop() {
				for r.PublishNow().InFlight != limit {
					time.Sleep(50 * time.Microsecond)
				}
				for len(began) > 0 {
					<-began
				}
				start := time.Now()
				set(limit + 1)
				took := (<-began).Sub(start)
				sum, worst = sum+took, max(worst, took)
				set(limit)
				if name == "waiting" {
					leave <- struct{}{}
				}
			}
			b.ReportMetric(float64(sum.Microseconds())/float64(b.N), "µs-to-effect")
			b.ReportMetric(float64(worst.Microseconds()), "µs-worst")
			cutBenchmark(b, r)
		})
	}
}

// BenchmarkCrowd measures Crowd for a million agents while their sessions run.
func BenchmarkCrowd(b *testing.B) {
	cfg := enginetest.Config(1_000_000, programFunc(func(s *engine.Session) { s.Row.Outcome = engine.OK }), nil)
	cfg.Settings.Cycles = 1_000_000
	r := startBenchmark(b, cfg)
	c := r.Crowd(nil)
	for b.Loop() {
		c = r.Crowd(c)
	}
	cutBenchmark(b, r)
}
