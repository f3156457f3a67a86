package run_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// meeting is a program whose sessions work, park until all of them have parked, and work again.
type meeting struct {
	agents         int64
	working, most  atomic.Int64 // sessions that hold a slot
	parked, idle   atomic.Int64
	back           atomic.Int64
	released       chan struct{}
	parksInTheSame int // parallel steps that park
}

func (m *meeting) work() {
	n := m.working.Add(1)
	for was := m.most.Load(); n > was && !m.most.CompareAndSwap(was, n); was = m.most.Load() {
	}
	time.Sleep(time.Second)
	m.working.Add(-1)
}

// Session implements [engine.Program].
func (m *meeting) Session(s *engine.Session) {
	s.Clock()
	m.work()
	backs := make([]func(), max(m.parksInTheSame, 1))
	for i := range backs {
		backs[i] = engine.Park(s)
	}
	if m.parked.Add(1) == m.agents {
		time.Sleep(time.Second) // the others have parked, too
		if engine.Idle(s) {
			m.idle.Add(1)
		}
		close(m.released)
	}
	select {
	case <-m.released:
	case <-s.Clock().Context().Done():
		for _, back := range backs {
			back()
		}
		s.Row.Fail("meet", context.Cause(s.Clock().Context()))
		return
	}
	for _, back := range backs {
		back()
	}
	m.back.Add(1)
	m.work()
	s.Row.Outcome = engine.OK
}

// TestParkedSessionsLeaveTheirSlots checks that all sessions of a cycle can wait together whatever the limit is, and that no more than the
// limit are in flight before and after.
func TestParkedSessionsLeaveTheirSlots(t *testing.T) {
	for name, parks := range map[string]int{"one step": 1, "parallel steps": 3} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const agents, limit = 50, 3
				m := &meeting{agents: agents, released: make(chan struct{}), parksInTheSame: parks}
				cfg := enginetest.Config(agents, m, nil)
				cfg.Settings.Limit, cfg.Settings.Manual = limit, true
				result := start(t, cfg).Wait()
				if result.Ending != engine.EndFinished || result.Totals.Outcomes[engine.OK] != agents || m.most.Load() != limit || m.idle.Load() != 1 {
					t.Errorf("%v, %v; at most %d of %d in flight, idle: %d", result.Ending, result.Totals.Outcomes, m.most.Load(), limit, m.idle.Load())
				}
			})
		})
	}
}

// TestReturningSessionsKeepToTheLimit checks that sessions which come back share the slots with those that have not started.
func TestReturningSessionsKeepToTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const agents, limit, met = 60, 4, 20
		m := &meeting{agents: met, released: make(chan struct{})}
		cfg := enginetest.Config(agents, m, nil)
		cfg.Settings.Limit, cfg.Settings.Manual = limit, true
		result := start(t, cfg).Wait()
		if result.Totals.Outcomes[engine.OK] != agents || m.most.Load() > limit {
			t.Errorf("%v, at most %d of %d in flight", result.Totals.Outcomes, m.most.Load(), limit)
		}
	})
}

// TestCutWhileParked checks that a cut ends parked sessions, and that they do not count as in flight.
func TestCutWhileParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const agents = 9
		m := &meeting{agents: agents, released: make(chan struct{})}
		cfg := enginetest.Config(agents, m, nil)
		cfg.Settings.Limit, cfg.Settings.Manual = 2, true
		ctx, cut := context.WithCancel(t.Context())
		defer cut()
		r, err := run.Start(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3500 * time.Millisecond)
		if got := r.Snapshot().InFlight; m.parked.Load() == 0 || got > 2 {
			t.Errorf("%d parked, %d in flight", m.parked.Load(), got)
		}
		cut()
		if result := r.Wait(); result.Totals.Outcomes[engine.OK] != 0 || m.back.Load() != 0 {
			t.Errorf("after a cut: %v", result.Totals.Outcomes)
		}
	})
}
