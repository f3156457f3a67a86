package run_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

func TestRaisedLimitAppliesImmediately(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		from, to := rapid.IntRange(0, 40).Draw(r, "from"), rapid.IntRange(1, 80).Draw(r, "to")
		check(r, t, func(t *testing.T) error {
			cfg := enginetest.Config(100, works(time.Hour), &enginetest.Journal{})
			cfg.Settings.Limit = max(from, 1)
			run := start(t, cfg)
			synctest.Wait()
			do(t, run.SetLimit(from, "test", ""))
			began := time.Now()
			do(t, run.SetLimit(to, "test", ""))
			synctest.Wait()
			if got, want := run.PublishNow().InFlight, max(from, to, 1); got != want || time.Since(began) != 0 {
				return fmt.Errorf("%v after going from %d to %d: %d in flight, want %d", time.Since(began), from, to, got, want)
			}
			do(t, run.Stop("test", ""))
			do(t, run.Stop("test", ""))
			run.Wait()
			return nil
		})
	})
}

func TestLoweredLimitAppliesAsSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(1000, works(10*time.Second), &enginetest.Journal{})
		cfg.Settings.Limit = 50
		r := start(t, cfg)
		time.Sleep(5 * time.Second)
		do(t, r.SetLimit(8, "test", ""))
		synctest.Wait()
		if got := r.PublishNow().InFlight; got != 50 {
			t.Errorf("%d in flight right after lowering, want the 50 that were", got)
		}
		time.Sleep(5*time.Second + time.Millisecond)
		if got := r.PublishNow(); got.InFlight != 8 || got.Ended != 50 || got.Cut != 0 {
			t.Errorf("once they ended: %d in flight, %d ended, %d cut; want 8, 50, 0", got.InFlight, got.Ended, got.Cut)
		}
		do(t, r.Stop("test", ""))
		r.Wait()
	})
}

func TestPauseLetsSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(100, works(10*time.Second), j)
		cfg.Settings.Limit = 10
		r := start(t, cfg)
		time.Sleep(15 * time.Second)
		do(t, r.Pause("me", "lunch"))
		s := r.Snapshot()
		if s.Phase != engine.Paused || s.Reason != "lunch" || s.InFlight != 10 {
			t.Errorf("%v, %q, %d in flight; want paused, lunch, 10", s.Phase, s.Reason, s.InFlight)
		}
		time.Sleep(time.Hour)
		if s := r.Snapshot(); s.Ended != 20 || s.InFlight != 0 {
			t.Errorf("an hour later %d ended and %d are in flight, want 20, 0", s.Ended, s.InFlight)
		}
		do(t, r.Pause("me", "again")) // already paused
		do(t, r.Resume("me"))
		do(t, r.Resume("me")) // already running
		if got := r.Wait(); got.Totals.Outcomes[engine.OK] != 100 {
			t.Errorf("outcomes = %v, want 100 ok", got.Totals.Outcomes)
		}
		var changes []string
		for _, c := range enginetest.Of[engine.ChangeRow](j) {
			changes = append(changes, fmt.Sprintf("%s %s→%s by %s: %s", c.What, c.Old, c.New, c.Who, c.Why))
		}
		want := "phase running→paused by me: lunch; phase paused→running by me: "
		if got := strings.Join(changes, "; "); got != want {
			t.Errorf("journaled changes: %s\nwant %s", got, want)
		}
		var reasons []string
		for _, c := range enginetest.Of[engine.CheckpointRow](j) {
			reasons = append(reasons, c.Reason)
		}
		if got := strings.Join(reasons, " "); got != "pause interval finish" {
			t.Errorf("checkpoints: %s; want one for the pause, one for the sessions that ended in it, none for the rest of the hour, and one at the end", got)
		}
	})
}

func TestStopDrainsAndTakesACheckpoint(t *testing.T) {
	for _, from := range []string{"running", "paused", "limit 0", "preparing"} {
		t.Run(from, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &enginetest.Journal{Latency: time.Second}
				cfg := enginetest.Config(100, works(10*time.Second), j)
				cfg.Settings.Limit = 10
				began := time.Now()
				r := start(t, cfg)
				want, ended := 10*time.Second, int64(10)
				switch from {
				case "paused":
					time.Sleep(time.Second)
					do(t, r.Pause("test", ""))
				case "limit 0":
					time.Sleep(time.Second)
					do(t, r.SetLimit(0, "test", ""))
				case "running":
					time.Sleep(15 * time.Second)
					want, ended = 20*time.Second, 20
				}
				do(t, r.Stop("me", "enough"))
				got := r.Wait()
				if from == "preparing" && got.Totals.Ended() == 0 {
					want, ended = 0, 0 // depends on which comes first
				}
				took(t, began, want+2*time.Second) // two commits
				if got.Ending != engine.EndStopped || got.Reason != "enough" || got.Totals.Ended() != ended {
					t.Errorf("%v, %q, %d ended; want stopped, enough, %d", got.Ending, got.Reason, got.Totals.Ended(), ended)
				}
				rows := j.Rows()
				if c, ok := rows[len(rows)-2].(engine.CheckpointRow); !ok || c.Reason != "stop" {
					t.Errorf("the last row but one is %T, want the checkpoint of the stop", rows[len(rows)-2])
				}
				if e, ok := rows[len(rows)-1].(engine.EndRow); !ok || e.Ending != engine.EndStopped {
					t.Errorf("the last row is %T, want the end", rows[len(rows)-1])
				}
			})
		})
	}
}

func TestStopInTheLastCycleFinishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, enginetest.Config(10, works(10*time.Second), &enginetest.Journal{}))
		time.Sleep(time.Second)
		do(t, r.Stop("me", "enough"))
		if got := r.Wait(); got.Ending != engine.EndFinished || got.Totals.Ended() != 10 {
			t.Errorf("%v with %d sessions, want finished with 10", got.Ending, got.Totals.Ended())
		}
	})
}

func TestSecondStopCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(100, works(time.Hour), j)
		cfg.Settings.Limit, cfg.Settings.SessionTimeout = 10, 0
		r := start(t, cfg)
		time.Sleep(time.Second)
		do(t, r.Stop("me", "enough"))
		time.Sleep(time.Second)
		if s := r.Snapshot(); s.Phase != engine.Draining || s.Reason != "enough" || s.InFlight != 10 {
			t.Errorf("%v, %q, %d in flight; want draining, enough, 10", s.Phase, s.Reason, s.InFlight)
		}
		began := time.Now()
		do(t, r.Stop("me", "now"))
		got := r.Wait()
		took(t, began, 0)
		s := r.Snapshot()
		if got.Ending != engine.EndStopped || s.Cut != 10 || s.Ended != 0 || s.Begun != 10 || len(j.Sessions()) != 0 {
			t.Errorf("%v, %d cut, %d ended, %d begun, %d session rows; want stopped, 10, 0, 10, 0", got.Ending, s.Cut, s.Ended, s.Begun, len(j.Sessions()))
		}
		for _, err := range []error{r.Stop("", ""), r.Pause("", ""), r.Resume(""), r.SetLimit(3, "", ""), r.Checkpoint(t.Context(), "")} {
			if !errors.Is(err, engine.ErrEnded) {
				t.Errorf("an order after the end: %v, want ErrEnded", err)
			}
		}
	})
}

func TestCanceledContextCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		j := &enginetest.Journal{}
		r, err := run.Start(ctx, enginetest.Config(100, works(time.Hour), j))
		do(t, err)
		time.Sleep(time.Minute)
		cancel()
		began := time.Now()
		if got := r.Wait(); got.Ending != engine.EndStopped || got.Totals.Ended() != 0 {
			t.Errorf("%v with %d sessions, want stopped with none", got.Ending, got.Totals.Ended())
		}
		took(t, began, 0)
		if s := r.Snapshot(); s.Begun != 50 || s.Cut != 50 {
			t.Errorf("%d begun and %d cut, want the 50 that were in flight: none starts only to be cut", s.Begun, s.Cut)
		}
		if n := len(enginetest.Of[engine.EndRow](j)); n != 1 {
			t.Errorf("%d ends journaled, want 1", n)
		}
	})
}

func TestCanceledContextStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r, err := run.Start(ctx, enginetest.Config(100, works(time.Hour), &enginetest.Journal{}))
		do(t, err)
		if got := r.Wait(); got.Ending != engine.EndStopped {
			t.Errorf("%v, want stopped", got.Ending)
		}
	})
}

// TestHungSessionIsAbandoned checks that a program that ignores its context cannot keep a run from ending.
func TestHungSessionIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{})
		j := &enginetest.Journal{}
		for agent := range 2 { // their sessions ran in an earlier process
			j.Append(engine.SessionRows{{Place: engine.Place{Agent: agent}, Outcome: engine.OK}})
		}
		cfg := enginetest.Config(10, programFunc(func(s *engine.Session) {
			s.Row.Outcome = engine.OK
			if s.Agent == 7 {
				s.Clock()
				<-wake
			}
		}), j)
		cfg.Resume = j.Resumption()
		r := start(t, cfg)
		time.Sleep(time.Minute)
		do(t, r.Stop("test", ""))
		do(t, r.Stop("test", ""))
		began := time.Now()
		got := r.Wait()
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("the run ended %v after it was cut, want seconds", d)
		}
		if s := r.Snapshot(); s.Begun != 8 || s.Ended != 9 || s.Cut != 1 || s.InFlight != 0 {
			t.Errorf("begun %d, ended %d, cut %d, in flight %d; want 8, 9, 1, 0", s.Begun, s.Ended, s.Cut, s.InFlight)
		}
		close(wake)
		synctest.Wait()
		if n := int64(len(j.Sessions())); n != got.Totals.Ended() {
			t.Errorf("%d session rows for %d sessions: one was journaled after the end", n, got.Totals.Ended())
		}
	})
}

// TestCutSessionCutsTheRun checks that the outcome Cut, for example because of a budget, never loses the
// session.
func TestCutSessionCutsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var poor atomic.Bool
		poor.Store(true)
		j := &enginetest.Journal{}
		cfg := enginetest.Config(10, programFunc(func(s *engine.Session) {
			s.Row.Outcome = engine.OK
			if s.Agent == 4 && poor.Load() {
				s.Row.Fail("buy", fmt.Errorf("no money: %w", engine.ErrCut))
			}
		}), j)
		got := start(t, cfg).Wait()
		if got.Ending != engine.EndStopped {
			t.Fatalf("got ending %v", got.Ending)
		}
		poor.Store(false)
		j = j.Reopen()
		cfg.Journal, cfg.Resume = j, j.Resumption()
		if got := start(t, cfg).Wait(); got.Ending != engine.EndFinished || got.Totals.Outcomes[engine.OK] != 10 {
			t.Errorf("resumed, it ended as %v with %v", got.Ending, got.Totals.Outcomes)
		}
	})
}

// TestFailureAfterACutDoesNotCount checks that a failure reported after a cut does not count.
func TestFailureAfterACutDoesNotCount(t *testing.T) {
	for name, ending := range map[string]func(s *engine.Session){
		"some error": func(s *engine.Session) { s.Row.Fail("call", errors.New("connection reset")) },
		"timeout":    func(s *engine.Session) { s.Row.Fail("call", &engine.TimeoutError{What: "chain", Limit: 1}) },
		"panic":      func(*engine.Session) { panic("cut off") },
		"nothing":    func(*engine.Session) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &enginetest.Journal{}
				r := start(t, enginetest.Config(5, programFunc(func(s *engine.Session) {
					<-s.Clock().Context().Done()
					ending(s)
				}), j))
				time.Sleep(time.Second)
				do(t, r.Stop("test", ""))
				do(t, r.Stop("test", ""))
				if got := r.Wait(); got.Totals.Ended() != 0 || len(j.Sessions()) != 0 || r.Snapshot().Cut != 5 {
					t.Errorf("%d ended, %d journaled, %d cut; want 0, 0, 5", got.Totals.Ended(), len(j.Sessions()), r.Snapshot().Cut)
				}
			})
		})
	}
}

// TestNoOrdersWhileTheEndIsWritten checks that nothing is journaled after the end row.
func TestNoOrdersWhileTheEndIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{Latency: 10 * time.Second}
		r := start(t, enginetest.Config(1, &enginetest.Crowd{}, j))
		time.Sleep(25 * time.Second) // the barrier and the checkpoint took 10 s each; the end is half written
		if err := r.SetLimit(3, "test", ""); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("an order while the end is being written: %v, want ErrEnded", err)
		}
		r.Wait()
		rows := j.Rows()
		if _, ok := rows[len(rows)-1].(engine.EndRow); !ok {
			t.Errorf("the last row is a %T", rows[len(rows)-1])
		}
	})
}

func TestLimitIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		r := start(t, enginetest.Config(1, works(time.Minute), j))
		var mistake *engine.FieldError
		for _, n := range []int{-1, engine.MaxLimit + 1} {
			if err := r.SetLimit(n, "test", ""); !errors.As(err, &mistake) {
				t.Errorf("a limit of %d: %v, want a *FieldError", n, err)
			}
		}
		do(t, r.SetLimit(50, "test", "as it is"))
		do(t, r.SetLimit(20, "test", "less"))
		if got := r.Snapshot().Limit; got != 20 {
			t.Errorf("the snapshot shows a limit of %d right after SetLimit(20)", got)
		}
		before := r.Snapshot()
		for i := range 300 { // more than snapshots keep
			do(t, r.SetLimit(21+i%2, "test", strconv.Itoa(i)))
		}
		if got := r.Snapshot().Changes; len(got) != 256 || got[255].Why != "299" || got[0].Why != "44" {
			t.Errorf("the snapshot keeps %d changes, the last %+v; want the newest 256", len(got), got[len(got)-1])
		}
		if got := before.Changes; len(got) != 1 || got[0].Why != "less" {
			t.Errorf("an older snapshot has changed: %+v", got)
		}
		r.Wait()
		if got := enginetest.Of[engine.ChangeRow](j)[:1]; len(got) != 1 || got[0].Old != "50" || got[0].New != "20" {
			t.Errorf("changes = %v, want one from 50 to 20", got)
		}
	})
}
