package run_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestWatch checks that the exchanges of the watched agent are kept from the start of the watch, and failed exchanges of
// the others.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		program := programFunc(func(s *engine.Session) {
			for i, failed := range []bool{false, true} {
				time.Sleep(time.Second)
				if s.Traced(failed) {
					s.Trace(engine.Exchange{At: time.Now(), Path: fmt.Sprint(i)}, failed)
				}
			}
			s.Row.Outcome = engine.OK
		})
		cfg, _, _ := governedRun(3, program)
		cfg.Settings.Cycles, cfg.Settings.Limit = 2, 1
		r := start(t, cfg)
		r.Watch(1)
		time.Sleep(7 * time.Second) // past the first cycle
		r.Watch(2)
		r.Wait()
		for agent, want := range [][]string{{"0/1", "1/1"}, {"0/1", "1/1"}, {"0/1", "1/0", "1/1"}} {
			var got []string
			for _, e := range r.Exchanges(agent) {
				got = append(got, fmt.Sprintf("%d/%s", e.Cycle, e.Path))
			}
			if !slices.Equal(got, want) {
				t.Errorf("agent %d has exchanges %v, want %v", agent, got, want)
			}
		}
		r.Watch(-1)
		if n := len(r.Exchanges(2)); n != 2 {
			t.Errorf("after the watch, %d exchanges are kept, want 2", n)
		}
	})
}

// TestExchangesAreBounded checks the limits for the watched agent, for failed exchanges, and for many failures in one
// second.
func TestExchangesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		traced := 0
		program := programFunc(func(s *engine.Session) {
			for i := range 1000 {
				if s.Traced(true) {
					traced++
					s.Trace(engine.Exchange{At: time.Now(), Attempt: i}, true)
				}
			}
			time.Sleep(2 * time.Second)
			s.Row.Outcome = engine.OK
		})
		cfg, _, _ := governedRun(2, program)
		cfg.Settings.Limit = 1
		r := start(t, cfg)
		r.Watch(1)
		r.Wait()
		if a, b := len(r.Exchanges(0)), len(r.Exchanges(1)); a != 0 || b != 200 || traced != 1050 {
			t.Errorf("%d and %d exchanges are kept, %d were traced; want 0, 200, 1050", a, b, traced)
		}
	})
}

// TestSessionWithoutARunTracesNothing checks that a session without a run traces nothing.
func TestSessionWithoutARunTracesNothing(t *testing.T) {
	var s *engine.Session
	s.Trace(engine.Exchange{}, true)
	if s.Traced(true) || (&engine.Session{}).Traced(true) {
		t.Error("a session without a run is traced")
	}
}
