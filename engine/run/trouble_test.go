package run_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

func TestJournalTroublePausesTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(100, works(10*time.Second), j)
		cfg.Settings.Limit, cfg.Settings.Cycles = 10, 2
		r := start(t, cfg)
		time.Sleep(15 * time.Second)
		j.Break(engine.ErrNoRoom)
		synctest.Wait()
		if s := r.Snapshot(); s.Phase != engine.Paused || s.Reason != engine.ErrNoRoom.Error() {
			t.Errorf("%v, %q; want paused for the disk", s.Phase, s.Reason)
		}
		time.Sleep(10 * time.Minute)
		if s := r.Snapshot(); s.InFlight != 0 || s.Ended != 20 {
			t.Errorf("ten minutes later %d in flight, %d ended; want 0, 20", s.InFlight, s.Ended)
		}
		if n := len(j.Sessions()); n != 10 {
			t.Errorf("%d sessions are durable, want the 10 from before", n)
		}
		j.Heal()
		synctest.Wait()
		if s := r.Snapshot(); s.Phase != engine.Running {
			t.Errorf("after the recovery, the run is %v", s.Phase)
		}
		if got := r.Wait(); got.Ending != engine.EndFinished || len(j.Sessions()) != 200 {
			t.Errorf("%v with %d session rows, want finished with 200", got.Ending, len(j.Sessions()))
		}
	})
}

func TestTroubleAndPersonBothPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		r := start(t, enginetest.Config(10, works(time.Hour), j))
		phase := func(want engine.Phase, reason string) {
			t.Helper()
			synctest.Wait()
			if s := r.Snapshot(); s.Phase != want || s.Reason != reason {
				t.Errorf("%v, %q; want %v, %q", s.Phase, s.Reason, want, reason)
			}
		}
		do(t, r.Pause("me", "lunch"))
		j.Break(engine.ErrNoRoom)
		phase(engine.Paused, engine.ErrNoRoom.Error()+"; lunch")
		j.Heal()
		phase(engine.Paused, "lunch")
		j.Break(engine.ErrNoRoom)
		synctest.Wait()
		do(t, r.Resume("me"))
		phase(engine.Paused, engine.ErrNoRoom.Error())
		changes := r.Snapshot().Changes
		if got := describeChanges(changes[len(changes)-1:]); got != "phase paused→paused by me: " {
			t.Errorf("the last change is %s, want that the run is still paused", got)
		}
		j.Heal()
		phase(engine.Running, "")
		r.Wait()
	})
}

func TestStopWhileInTroubleWaitsForTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{Room: 3}
		cfg := enginetest.Config(100, works(10*time.Second), j)
		cfg.Settings.Limit = 10
		r := start(t, cfg)
		time.Sleep(15 * time.Second)
		j.Break(engine.ErrNoRoom)
		time.Sleep(time.Second)
		began := time.Now()
		do(t, r.Stop("me", "enough"))
		took(t, began, 0)
		if s := r.Snapshot(); s.Phase != engine.Draining || !strings.Contains(s.Reason, "enough") || !strings.Contains(s.Reason, engine.ErrNoRoom.Error()) {
			t.Errorf("%v, %q; want draining, and both reasons", s.Phase, s.Reason)
		}
		time.Sleep(10 * time.Minute)
		if s := r.Snapshot(); s.Phase != engine.Draining {
			t.Errorf("ten minutes later it is %v", s.Phase)
		}
		j.Heal()
		if got := r.Wait(); got.Ending != engine.EndStopped || got.Totals.Ended() != 20 || len(j.Sessions()) != 20 {
			t.Errorf("%v with %d sessions, %d journaled; want stopped with 20", got.Ending, got.Totals.Ended(), len(j.Sessions()))
		}
	})
}

// TestSecondStopWhileInTroubleEnds checks every moment of a run: workers, the node's rows, a checkpoint, a barrier or the
// end itself wait for a disk that never recovers.
func TestSecondStopWhileInTroubleEnds(t *testing.T) {
	const long = 10 * time.Second
	for name, when := range map[string]struct {
		room  int
		after time.Duration // until the trouble
		then  time.Duration // from the trouble to the first stop
	}{
		"workers have no room":        {3, 5 * time.Second, long},
		"a checkpoint is waiting":     {0, 5 * time.Second, 0},
		"the barrier is waiting":      {0, 9 * time.Second, long},
		"the barrier has no room":     {1, 9 * time.Second, long},
		"the end is waiting":          {0, 19 * time.Second, long},
		"nothing has happened at all": {0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &enginetest.Journal{Room: when.room}
				cfg := enginetest.Config(10, works(10*time.Second), j)
				cfg.Settings.Limit, cfg.Settings.Cycles = 10, 2
				r := start(t, cfg)
				time.Sleep(when.after)
				j.Break(engine.ErrNoRoom)
				if strings.HasPrefix(name, "a checkpoint") {
					do(t, r.Pause("me", ""))
				}
				time.Sleep(when.then)
				began := time.Now()
				do(t, r.Stop("me", "enough"))
				do(t, r.Stop("me", "now"))
				got := r.Wait()
				if d := time.Since(began); d > 6*time.Second {
					t.Errorf("it ended after %v, want seconds", d)
				}
				if got.Ending != engine.EndStopped || !strings.Contains(got.Reason, "could not be written") {
					t.Errorf("%v: %q; want stopped, and that the end could not be written", got.Ending, got.Reason)
				}
				if s := r.Snapshot(); s.Begun != s.Ended+s.Cut || s.InFlight != 0 {
					t.Errorf("begun %d, ended %d, cut %d, in flight %d", s.Begun, s.Ended, s.Cut, s.InFlight)
				}
				j.Close()
			})
		})
	}
}

// TestBacklogIsBoundedDuringTrouble checks that hours of metrics and thousands of changes do not block the run, and that no
// change is lost.
func TestBacklogIsBoundedDuringTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{Room: 2}
		cfg := enginetest.Config(10, works(time.Minute), j)
		cfg.Settings.Metrics, cfg.Settings.Limit = true, 1
		r := start(t, cfg)
		time.Sleep(time.Second)
		j.Break(engine.ErrNoRoom)
		time.Sleep(2 * time.Hour)
		for n := range 3000 {
			do(t, r.SetLimit(2+n, "governor", ""))
		}
		do(t, r.Pause("me", ""))
		do(t, r.Resume("me"))
		j.Heal()
		r.Wait()
		if n := len(enginetest.Of[engine.ChangeRow](j)); n != 3002 {
			t.Errorf("%d of 3002 changes were journaled", n)
		}
		if n := len(enginetest.Of[engine.MetricsRow](j)); n < 4000 || n > 5000 {
			t.Errorf("%d rows of figures, want about the 4096 that are kept waiting", n)
		}
	})
}

func TestFailedJournalFailsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(10, works(10*time.Second), j)
		cfg.Settings.Cycles = 5
		r := start(t, cfg)
		time.Sleep(15 * time.Second)
		j.Die()
		began := time.Now()
		got := r.Wait()
		took(t, began, 5*time.Second) // at the barrier
		if got.Ending != engine.EndFailed || !strings.Contains(got.Reason, enginetest.ErrDead.Error()) {
			t.Errorf("%v: %q; want failed for the journal", got.Ending, got.Reason)
		}
	})
}

// TestJournalWaitIsNotSessionTime checks that the wait of a worker for a full queue does not count for any session.
func TestJournalWaitIsNotSessionTime(t *testing.T) {
	for name, c := range map[string]struct {
		took    time.Duration
		program engine.Program
	}{
		"sessions that wait": {time.Second, programFunc(func(s *engine.Session) {
			s.Clock()
			time.Sleep(time.Second)
			s.Row.Outcome = engine.OK
		})},
		"sessions that compute": {time.Second, programFunc(func(s *engine.Session) {
			time.Sleep(time.Second)
			s.Row.Outcome = engine.OK
		})},
		"empty sessions": {0, programFunc(func(s *engine.Session) { s.Row.Outcome = engine.OK })},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &enginetest.Journal{Room: 1}
				j.Stall() // the start row fills the queue
				cfg := enginetest.Config(600, c.program, j)
				cfg.Settings.Limit = 1
				r := start(t, cfg)
				time.Sleep(10 * time.Minute)
				if ended := r.Snapshot().Ended; ended > 0 {
					t.Errorf("%d sessions ended although the journal was full", ended)
				}
				j.Heal()
				r.Wait()
				for _, row := range j.Sessions() {
					if row.Total != c.took {
						t.Fatalf("session %v took %v, want %v", row.Place, row.Total, c.took)
					}
				}
			})
		})
	}
}
