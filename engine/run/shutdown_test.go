package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// TestShutdown ends the run, because the program exits, in the middle of sessions of a given length. A checkpoint comes
// first. Sessions that end in time count and the rest is cut, whatever the sessions and the disk do.
func TestShutdown(t *testing.T) {
	for _, c := range []struct {
		name    string
		program engine.Program
		upset   func(j *enginetest.Journal)
		took    time.Duration
		ended   int // sessions
	}{
		{name: "short sessions", program: works(2 * time.Second), took: time.Second, ended: 4},
		{name: "long sessions", program: works(time.Hour), took: run.ShutdownTimeout - 2*time.Second},
		{name: "sessions that ignore a cut", took: run.ShutdownTimeout - time.Second, program: programFunc(func(s *engine.Session) {
			time.Sleep(time.Minute)
			s.Row.Outcome = engine.OK
		})},
		{name: "a disk in trouble", program: works(time.Hour), took: run.ShutdownTimeout - time.Second, upset: func(j *enginetest.Journal) { j.Break(engine.ErrNoRoom) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &enginetest.Journal{}
				cfg := enginetest.Config(10, c.program, j)
				cfg.Settings.Limit = 4
				r := start(t, cfg)
				time.Sleep(time.Second)
				if c.upset != nil {
					c.upset(j)
				}
				began := time.Now()
				do(t, r.Shutdown("SIGTERM"))
				do(t, r.Shutdown("SIGTERM")) // a second call changes nothing
				got := r.Wait()
				took(t, began, c.took)
				time.Sleep(time.Minute) // sessions that ignored the cut end now
				if got.Ending != engine.EndStopped || !strings.HasPrefix(got.Reason, "SIGTERM") || got.Totals.Ended() != int64(c.ended) {
					t.Errorf("ended %v (%s) with %d sessions, want %d", got.Ending, got.Reason, got.Totals.Ended(), c.ended)
				}
				if c.upset != nil {
					return
				}
				rows, first := j.Rows(), ""
				for _, row := range rows {
					switch row := row.(type) {
					case engine.CheckpointRow:
						first += " " + row.Reason
					case engine.SessionRows:
						first += " session"
					}
				}
				if !strings.HasPrefix(first, " SIGTERM") || strings.Count(first, "SIGTERM") != 1 || strings.Contains(first, "stop") {
					t.Errorf("journaled%s: want one checkpoint, at first", first)
				}
			})
		})
	}
}

// TestPanic makes goroutines of the run panic outside of sessions. A checkpoint is taken, the program is notified, and the
// run can be resumed.
func TestPanic(t *testing.T) {
	bug := func() { panic("a bug") }
	for name, breakIt := range map[string]func(cfg *run.Config){
		"the node": func(cfg *run.Config) {
			n := 0
			cfg.Probe.Host = func() engine.HostMetrics {
				if n++; n == 5 {
					bug()
				}
				return engine.HostMetrics{}
			}
		},
		"outside the node": func(cfg *run.Config) { cfg.Barrier = func(int) { bug() } },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &enginetest.Journal{Latency: 10 * time.Millisecond}
				crowd := &enginetest.Crowd{Work: 2 * time.Second, Remember: 1}
				cfg := enginetest.Config(20, crowd, j)
				cfg.Settings.Cycles, cfg.Settings.Limit = 3, 5
				breakIt(&cfg)
				crash := make(chan string, 1)
				ctx, cancel := context.WithCancel(t.Context())
				cfg.Crashed = func(value any, stack []byte) { crash <- fmt.Sprintf("%v\n%s", value, stack) }
				r, err := run.Start(ctx, cfg)
				do(t, err)
				if text := <-crash; !strings.HasPrefix(text, "a bug\n") || !strings.Contains(text, "shutdown_test.go") {
					t.Errorf("got %s, want the panic with its stack", text)
				}
				if all := enginetest.Of[engine.CheckpointRow](j); len(all) != 1 || all[0].Reason != engine.PanicReason {
					t.Errorf("checkpoints %v, want one of the panic", all)
				}
				j.Die()
				cancel()
				<-r.Done()

				j = j.Reopen()
				cfg = enginetest.Config(20, crowd, j)
				cfg.Settings.Cycles, cfg.Settings.Limit, cfg.Resume = 3, 5, j.Resumption()
				if got := start(t, cfg).Wait(); got.Ending != engine.EndFinished || got.Totals.Ended() != 60 {
					t.Errorf("resumed: %v (%s) with %d sessions", got.Ending, got.Reason, got.Totals.Ended())
				}
				for agent := range 20 {
					got, want := j.Resumption().Memory[agent], crowd.Memory(cfg.Settings.Seed, agent, 3)
					if g, w := enginetest.ShowMemory(map[int]*engine.Memory{0: got}), enginetest.ShowMemory(map[int]*engine.Memory{0: want}); g != w {
						t.Errorf("agent %d remembers %s, want %s", agent, g, w)
					}
				}
			})
		})
	}
}

// TestShutdownAtAnyMoment ends the run at many moments, also while a barrier is being committed, and resumes it each time.
// Nothing is lost, and nothing is duplicated.
func TestShutdownAtAnyMoment(t *testing.T) {
	atBarriers := 0
	for every := 70 * time.Millisecond; every < 300*time.Millisecond; every += 25 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			crowd := &enginetest.Crowd{Work: 50 * time.Millisecond, Remember: 2}
			j, left := &enginetest.Journal{Latency: 120 * time.Millisecond}, 0
			var res *engine.Resumption
			for ended := false; !ended; left++ {
				if left == 100 {
					t.Fatalf("every %v: the run makes no progress", every)
				}
				cfg := enginetest.Config(12, crowd, j)
				cfg.Settings.Cycles, cfg.Settings.Limit, cfg.Resume = 4, 2, res
				r := start(t, cfg)
				time.Sleep(every + time.Duration(left%7)*30*time.Millisecond)
				_ = r.Shutdown("SIGTERM") // the run may have ended
				ended = r.Wait().Ending == engine.EndFinished
				atBarriers += countBarrierCheckpoints(j)
				j.Die()
				j = j.Reopen()
				res = j.Resumption()
			}
			if left < 2 {
				t.Errorf("every %v: shut down only %d times", every, left)
			}
			wantComplete(t, j, crowd, 4)
		})
	}
	if atBarriers == 0 {
		t.Error("no shutdown came while a barrier was being committed, so the test proves little")
	}
}

// countBarrierCheckpoints counts the emergency checkpoints that are journaled right after the barrier of their own cycle.
// They were requested while that barrier was being committed.
func countBarrierCheckpoints(j *enginetest.Journal) (n int) {
	closed := -1
	for _, row := range j.Rows() {
		switch row := row.(type) {
		case engine.BarrierRow:
			closed = row.Cycle
		case engine.CheckpointRow:
			if row.Cycle == closed {
				n++
			}
		}
	}
	return n
}

// wantComplete fails the test unless the journal has every session of a crowd of 12 exactly once, and their memory.
func wantComplete(t *testing.T, j *enginetest.Journal, crowd *enginetest.Crowd, cycles int) {
	t.Helper()
	seen := map[engine.Place]int{}
	for _, rows := range enginetest.Of[engine.SessionRows](j) {
		for i := range rows {
			seen[rows[i].Place]++
		}
	}
	for place, n := range seen {
		if n != 1 {
			t.Errorf("%+v has %d rows", place, n)
		}
	}
	if n := len(enginetest.Of[engine.BarrierRow](j)); n != cycles || len(seen) != 12*cycles {
		t.Errorf("%d barriers and %d sessions of %d cycles", n, len(seen), cycles)
	}
	res, seed := j.Resumption(), enginetest.Config(12, crowd, j).Settings.Seed
	for agent := range 12 {
		got, want := res.Memory[agent], crowd.Memory(seed, agent, cycles)
		if g, w := enginetest.ShowMemory(map[int]*engine.Memory{0: got}), enginetest.ShowMemory(map[int]*engine.Memory{0: want}); g != w {
			t.Errorf("agent %d remembers %s, want %s", agent, g, w)
		}
	}
}
