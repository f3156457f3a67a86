package run_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/seconds"
	"github.com/throng-sim/throng/engine/workers"
)

// TestSnapshotsNeverChangeAndOnlyGrow collects the snapshots of a run whose limit moves.
func TestSnapshotsNeverChangeAndOnlyGrow(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		limits := rapid.SliceOfN(rapid.IntRange(0, 20), 1, 8).Draw(r, "limits")
		check(r, t, func(t *testing.T) error {
			cfg := enginetest.Config(30, &enginetest.Crowd{Work: time.Second, Asks: 2, Remember: 1, Fail: 0.2, Panic: 0.1, Events: 2}, &enginetest.Journal{})
			cfg.Settings.Cycles = 3
			run := start(t, cfg)
			var seen []*engine.Snapshot
			var were []string
			look := func() {
				if s := run.Snapshot(); len(seen) == 0 || seen[len(seen)-1] != s {
					seen, were = append(seen, s), append(were, fmt.Sprintf("%+v", *s))
				}
			}
			for _, n := range append(limits, 20) {
				_ = run.SetLimit(n, "test", "") // the run may have ended
				for range 4 {
					look()
					time.Sleep(100 * time.Millisecond)
				}
			}
			run.Wait()
			look()
			for i, s := range seen {
				if now := fmt.Sprintf("%+v", *s); now != were[i] {
					return fmt.Errorf("snapshot %d was\n%s\nand is\n%s", i, were[i], now)
				}
				if i == 0 {
					continue
				}
				p := seen[i-1]
				if s.Ended < p.Ended || s.Begun < p.Begun || s.Cycle < p.Cycle || s.Phase < p.Phase && p.Phase != engine.Paused ||
					s.Requests < p.Requests || s.Events < p.Events || s.At.Before(p.At) || s.Elapsed < p.Elapsed || s.Checkpoints < p.Checkpoints {
					return fmt.Errorf("snapshot %d decreases:\n%s\n%s", i, were[i-1], were[i])
				}
			}
			last := seen[len(seen)-1]
			if last.Phase != engine.Ended || last.Ended != 90 || last.Total != 90 || last.Remaining != 0 || last.InFlight != 0 {
				return fmt.Errorf("the last is %s", were[len(were)-1])
			}
			return nil
		})
	})
}

func TestSnapshotFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(100, programFunc(func(s *engine.Session) {
			s.Clock()
			time.Sleep(time.Second)
			s.Row.Outcome, s.Row.Throttled, s.Row.Service = engine.OK, 0, time.Second
			s.Row.Steps = append(s.Row.Steps, engine.StepRecord{Path: "a", Attempts: 3, Statuses: []int{429, 500, 429, 500, 200}, Label: engine.Confirmed})
			if err := spend(s, &s.Row.Steps[0]); err != nil {
				t.Error(err)
			}
			if s.Agent%10 == 0 {
				s.Row.Fail("b", engine.Fail(engine.ClientError, "no such thing %d", s.Agent))
			}
		}), &enginetest.Journal{})
		cfg.Settings.Limit, cfg.Settings.Cycles = 10, 2
		r := start(t, cfg)
		time.Sleep(5*time.Second + 500*time.Millisecond)
		s := r.PublishNow()
		if s.Phase != engine.Running || s.Cycle != 0 || s.CycleEnded != 50 || s.CycleTotal != 100 || s.Ended != 50 || s.Total != 200 || s.InFlight != 10 || s.Begun != 60 {
			t.Errorf("%+v", s)
		}
		if s.Requests != 150 || s.Retries != 100 || s.RateLimited != 100 || s.Labels[engine.Confirmed] != 50 {
			t.Errorf("requests %d, retries %d, 429s %d, labels %v", s.Requests, s.Retries, s.RateLimited, s.Labels)
		}
		want := map[engine.Outcome]int64{engine.OK: 45, engine.Failed: 5}
		if !maps.Equal(s.Outcomes, want) {
			t.Errorf("outcomes %v, want %v", s.Outcomes, want)
		}
		if n := s.Errors; len(n) != 1 || n[0] != (engine.ErrorNote{Class: engine.ClientError, Count: 5, Agent: 40, Path: "b", Message: "no such thing 40"}) {
			t.Errorf("errors = %+v", n)
		}
		if s.PerSecond < 9 || s.PerSecond > 11 {
			t.Errorf("%v sessions per second, want 10", s.PerSecond)
		}
		if s.Remaining < 12*time.Second || s.Remaining > 19*time.Second {
			t.Errorf("%v left, want about 15s", s.Remaining)
		}
		if q := s.Latency; q.Count != 50 || q.Mean != time.Second || q.P50 < 990*time.Millisecond || q.Max > 1010*time.Millisecond {
			t.Errorf("latency %+v, want 1s", q)
		}
		time.Sleep(7 * time.Second)
		if s := r.PublishNow(); s.Cycle != 1 || s.CycleEnded != 20 || s.CycleTotal != 100 || !s.SimTime.Equal(cfg.Clock.At(1)) {
			t.Errorf("in the second cycle: %+v", s)
		}
		r.Wait()
	})
}

func TestRateIsKnownFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(1000, works(10*time.Millisecond), &enginetest.Journal{})
		cfg.Settings.Limit = 5
		r := start(t, cfg)
		time.Sleep(505 * time.Millisecond)
		if s := r.PublishNow(); s.PerSecond < 450 || s.PerSecond > 510 {
			t.Errorf("after half a second: %v sessions per second, want about 500", s.PerSecond)
		}
		r.Wait()
	})
}

// TestErrorsAreSorted checks that the most frequent class comes first.
func TestErrorsAreSorted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		classes := []engine.Class{engine.Script, engine.Panic, engine.Panic, engine.Network, engine.Network, engine.Network, engine.ClientError}
		r := start(t, enginetest.Config(len(classes), programFunc(func(s *engine.Session) {
			s.Row.Fail("x", engine.Fail(classes[s.Agent], "no"))
		}), nil))
		r.Wait()
		var got []engine.Class
		for _, n := range r.Snapshot().Errors {
			got = append(got, n.Class)
		}
		if want := []engine.Class{engine.Network, engine.Panic, engine.ClientError, engine.Script}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

func TestMetricsRows(t *testing.T) {
	const sessionTime = 930 * time.Millisecond // no session but the last ends in the moment of a sample, every 100 ms
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(100, programFunc(func(s *engine.Session) {
			s.Clock()
			time.Sleep(sessionTime)
			s.Row.Outcome, s.Row.Acted, s.Row.Service = engine.OK, s.Agent%2 == 0, sessionTime
			s.Row.Steps = append(s.Row.Steps, engine.StepRecord{Attempts: 2})
		}), j)
		cfg.Settings.Limit, cfg.Settings.Metrics = 10, true
		memory, began := uint64(0), time.Now()
		cfg.Probe = engine.Probe{
			Host: func() engine.HostMetrics {
				memory = 100 - memory
				return engine.HostMetrics{CPU: 12, Memory: memory}
			},
			Connections: func() engine.Connections { return engine.Connections{Own: 3, Server: 17, Max: 60} },
			Writes:      func() int64 { return 1000 + int64(time.Since(began)/(20*time.Millisecond)) },
			Unsent:      func() int64 { return 7 },
		}
		got := start(t, cfg).Wait()
		rows := enginetest.Of[engine.MetricsRow](j)
		if len(rows) != 93 && len(rows) != 94 { // ten per second for 9.3 s, and one at the end, which may fall on the same moment
			t.Fatalf("%d rows of figures for 9.3 s", len(rows))
		}
		var ended int64
		for i, m := range rows[:92] {
			ended += m.Total.Count
			if m.Ended != ended || m.Acted != ended/2 || m.Limit != 10 || m.InFlight != 10 || m.Phase != engine.Running || !m.Fine {
				t.Errorf("row %d: %d ended, %d acted, limit %d, %d in flight, %v; the windows add up to %d", i+1, m.Ended, m.Acted, m.Limit, m.InFlight, m.Phase, ended)
			}
			if !near(m.SessionsPerSec, 10*float64(m.Total.Count)) || !near(m.RequestsPerSec, 20*float64(m.Total.Count)) || m.WritesPerSec != 50 {
				t.Errorf("row %d: %v sessions, %v requests, %v writes per second; %d ended", i+1, m.SessionsPerSec, m.RequestsPerSec, m.WritesPerSec, m.Total.Count)
			}
			if m.Host.CPU != 12 || m.Connections != 3 || m.ServerConnections != 17 || m.ServerMax != 60 || m.Unsent != 7 {
				t.Errorf("row %d: %+v", i+1, m)
			}
		}
		if p := got.Totals.Peaks; p.Memory != 100 || p.Connections != 3 || p.ServerConnections != 17 || p.Elapsed != 10*sessionTime {
			t.Errorf("peaks = %+v", p)
		}
	})
}

// TestWorkersAreThrong checks that the CPU and the memory of workers on this machine count as Throng's own, up to what is in use, and that
// the journal has a sample of each worker.
func TestWorkersAreThrong(t *testing.T) {
	for name, c := range map[string]struct{ machine, want float64 }{
		"as reported":           {90, 20 + 150 + 30},
		"a report that is late": {40, 4 * 40},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &enginetest.Journal{}
				cfg := enginetest.Config(1, works(time.Second), j)
				cfg.Settings.Metrics = true
				cfg.Probe = engine.Probe{
					Host: func() engine.HostMetrics {
						return engine.HostMetrics{CPU: c.machine, ProcessCPU: 20, Memory: 100, Cores: 4}
					},
					Workers: func() []workers.State {
						return []workers.State{
							{Name: "local-1", Here: true, CPU: 150, Memory: 1000, InFlight: 1},
							{Name: "local-2", Here: true, CPU: 30, Memory: 2000},
							{Name: "rack", CPU: 800, Memory: 5000},
							{Name: "gone", Status: workers.Lost},
						}
					},
				}
				got := start(t, cfg).Wait()
				m := enginetest.Of[engine.MetricsRow](j)[0]
				if m.Host.ProcessCPU != c.want || m.Host.Memory != 3100 || got.Totals.Peaks.Memory != 3100 {
					t.Errorf("Throng uses %v%% of a core and %d bytes, at most %d", m.Host.ProcessCPU, m.Host.Memory, got.Totals.Peaks.Memory)
				}
				if len(m.Workers) != 3 || m.Workers[0] != (workers.Sample{Name: "local-1", InFlight: 1, CPU: 150}) {
					t.Errorf("the samples are %+v", m.Workers)
				}
			})
		})
	}
}

// TestSampling checks that the first ten seconds of a run, over all its processes, are sampled ten times a second, that snapshots
// have whole seconds with exact quantiles, and that the governor is asked once a second.
func TestSampling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, p, j := governedRun(1000, works(30*time.Millisecond))
		cfg.Settings.Metrics, cfg.Settings.Limit = true, 1
		asked := 0
		p.orders(func(r engine.Reading) engine.Orders { asked++; return engine.Orders{} })
		r := start(t, cfg)
		time.Sleep(6050 * time.Millisecond)
		s := r.PublishNow()
		if n := s.Metrics.Total.Count; n < 32 || n > 34 || s.Metrics.Fine || !near(s.Metrics.SessionsPerSec, float64(n)) || s.Metrics.Total.P95 != s.Metrics.Total.Max || len(s.Early) != 60 || asked != 6 {
			t.Errorf("a second is %+v, after %d fine rows; the governor was asked %d times", s.Metrics, len(s.Early), asked)
		}
		cut(t, r)
		cfg.Resume, cfg.Journal = j.Reopen().Resumption(), &enginetest.Journal{}
		began := time.Now()
		r = start(t, cfg)
		time.Sleep(10500 * time.Millisecond)
		cut(t, r)
		fine, coarse := 0, 0
		for _, m := range enginetest.Of[engine.MetricsRow](cfg.Journal.(*enginetest.Journal)) {
			switch {
			case m.Fine && m.At.Sub(began) > 5*time.Second:
				t.Fatalf("a fine row %v after the run was resumed after 6 s", m.At.Sub(began))
			case m.Fine:
				fine++
			default:
				coarse++
			}
		}
		if fine < 39 || fine > 50 || coarse < 6 || coarse > 8 {
			t.Errorf("%d fine and %d other rows", fine, coarse)
		}
	})
}

func TestMetricsWithoutProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(1, works(1500*time.Millisecond), j)
		cfg.Settings.Metrics = true
		r := start(t, cfg)
		r.Wait()
		m := enginetest.Of[engine.MetricsRow](j)[0]
		want := engine.MetricsRow{At: m.At, Phase: engine.Running, Limit: 50, InFlight: 1, DatabaseUse: engine.DatabaseUse{Connections: -1, ServerConnections: -1, ServerMax: -1, Unsent: -1}, Counters: engine.Counters{Overhead: engine.Overhead{Span: seconds.Each}}, Fine: true}
		if !reflect.DeepEqual(m, want) {
			t.Errorf("%+v, want %+v", m, want)
		}
		if math.IsNaN(r.Snapshot().PerSecond) {
			t.Error("the rate is NaN")
		}
	})
}

// TestResumedSnapshot checks that run figures continue after a resume, and that process figures restart.
func TestResumedSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(100, works(10*time.Second), j)
		cfg.Settings.Limit, cfg.Settings.Cycles = 10, 2
		r := start(t, cfg)
		time.Sleep(115 * time.Second)
		do(t, r.Stop("test", ""))
		r.Wait()
		first := r.Snapshot()
		j = j.Reopen()
		cfg.Journal, cfg.Resume = j, j.Resumption()
		time.Sleep(time.Hour)
		r = start(t, cfg)
		if s := r.Snapshot(); s.Ended != first.Ended || s.Elapsed != first.Elapsed || s.Checkpoints != 1 || s.Begun != 0 || !s.LastCheckpoint.IsZero() || s.Cycle != 1 {
			t.Errorf("ended %d, elapsed %v, %d checkpoints, begun %d, last checkpoint %v, cycle %d; the process before left %d, %v",
				s.Ended, s.Elapsed, s.Checkpoints, s.Begun, s.LastCheckpoint, s.Cycle, first.Ended, first.Elapsed)
		}
		synctest.Wait()
		if s := r.PublishNow(); s.CycleEnded != 20 || s.CycleTotal != 100 || s.InFlight != 10 || s.Begun != 10 {
			t.Errorf("cycle %d of %d, in flight %d, begun %d; want 20 of 100, 10, 10", s.CycleEnded, s.CycleTotal, s.InFlight, s.Begun)
		}
		if got := r.Wait(); got.Totals.Ended() != 200 || got.Totals.Peaks.Elapsed != 200*time.Second {
			t.Errorf("%d sessions in %v, want 200 in 3m20s", got.Totals.Ended(), got.Totals.Peaks.Elapsed)
		}
	})
}

// TestErrorsAreNamed checks that the last agent of each class is shown with its display name.
func TestErrorsAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(4, programFunc(func(s *engine.Session) {
			if s.Agent > 1 {
				s.Row.Fail("think", engine.Fail([]engine.Class{engine.Script, engine.Network}[s.Agent-2], "oh"))
				return
			}
			s.Row.Outcome = engine.OK
		}), nil)
		cfg.Name = func(index int) (string, error) {
			if index == 3 {
				return "", errors.New("no name")
			}
			return fmt.Sprintf("mara-%d", index), nil
		}
		r := start(t, cfg)
		got := r.Wait()
		who := map[engine.Class]string{}
		for _, n := range r.Snapshot().Errors {
			who[n.Class] = n.AgentName()
		}
		if who[engine.Script] != "mara-2" || who[engine.Network] != "3" {
			t.Errorf("errors of %v", who)
		}
		if first, all := got.Totals.Failures(1); all != 2 || len(first) != 1 || first[0] != 2 {
			t.Errorf("%d failed, the first %v", all, first)
		}
	})
}

// TestSnapshotsListEvents checks that the final snapshot has the newest events, in the order in which their sessions
// ended.
func TestSnapshotsListEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(100, &enginetest.Crowd{Work: time.Second, Events: 2}, &enginetest.Journal{})
		cfg.Settings.Limit = 5
		run := start(t, cfg)
		run.Wait()
		s := run.Snapshot()
		if len(s.Emitted) != 50 || s.Events <= 50 {
			t.Fatalf("%d of %d events are listed", len(s.Emitted), s.Events)
		}
		for i := range s.Emitted {
			e := &s.Emitted[i]
			if e.Event == "" || e.Path == "" || e.At.IsZero() || i > 0 && e.At.Before(s.Emitted[i-1].At) {
				t.Errorf("event %d is %+v", i, e)
			}
		}
	})
}
