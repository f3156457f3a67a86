package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// letterReader is a program whose sessions take a second and read all their letters. It records what each session found.
type letterReader struct {
	mu    sync.Mutex
	found map[engine.Place]string
	fails func(p engine.Place) bool // sessions that fail and so leave their inbox unread
}

func (r *letterReader) Session(s *engine.Session) {
	select {
	case <-time.After(time.Second):
	case <-s.Clock().Context().Done():
		s.Row.Fail("read", context.Cause(s.Clock().Context()))
		return
	}
	var texts []string
	for _, l := range s.Injected() {
		if l.From != engine.Outside {
			texts = append(texts, "from another agent:")
		}
		texts = append(texts, fmt.Sprintf("%d:%s", l.Cycle, l.Body))
	}
	r.mu.Lock()
	if r.found == nil {
		r.found = map[engine.Place]string{}
	}
	r.found[s.Place] = strings.Join(texts, " ")
	r.mu.Unlock()
	if r.fails != nil && r.fails(s.Place) {
		s.Row.Fail("read", engine.Fail(engine.Script, "not now"))
		return
	}
	s.Row.Outcome, s.Row.Delta.Read = engine.OK, len(texts) > 0
}

// foundInCycle holds what the agents of a cycle found, by agent.
func (r *letterReader) foundInCycle(cycle, agents int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]string, agents)
	for a := range all {
		all[a] = r.found[engine.Place{Cycle: cycle, Agent: a}]
	}
	return strings.Join(all, "|")
}

func letter(text string, to ...int) engine.Message {
	return engine.Message{To: to, Body: fmt.Appendf(nil, "%q", text)}
}

// TestInject checks that an injected message is in its receivers' inboxes from the next barrier on, until a successful
// session has read it.
func TestInject(t *testing.T) {
	for _, limit := range []int{1, 7, 100} {
		synctest.Test(t, func(t *testing.T) {
			const agents = 3
			p := &letterReader{fails: func(p engine.Place) bool { return p.Cycle == 1 && p.Agent == 2 }}
			j := &enginetest.Journal{}
			cfg := enginetest.Config(agents, p, j)
			cfg.Settings.Cycles, cfg.Settings.Limit = 4, limit
			r := start(t, cfg)
			<-time.After(500 * time.Millisecond) // within cycle 0
			do(t, r.Inject(t.Context(), letter("storm"), "all", "test"))
			do(t, r.Inject(t.Context(), letter("secret", 0, 2), "a, c", "test"))
			if s := r.PublishNow(); s.Inexact == nil || s.Inexact.Cycle != 1 || len(s.Changes) != 2 || s.Changes[1].Old != "a, c" {
				t.Errorf("inexact: %v, changes %+v", s.Inexact, s.Changes)
			}
			r.Wait()
			for cycle, want := range []string{`||`, `1:"storm" 1:"secret"|1:"storm"|1:"storm" 1:"secret"`, `||1:"storm" 1:"secret"`, `||`} {
				if got := p.foundInCycle(cycle, agents); got != want {
					t.Errorf("limit %d, cycle %d: %s, want %s", limit, cycle, got, want)
				}
			}
		})
	}
}

// TestInjectBeforeACycleBegins checks that a message injected between two cycles arrives in the next one.
func TestInjectBeforeACycleBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &letterReader{}
		cfg := enginetest.Config(2, p, &enginetest.Journal{})
		cfg.Settings.Cycles, cfg.Settings.TimeScale = 3, 360 // one every 10 s
		r := start(t, cfg)
		<-time.After(5 * time.Second)
		do(t, r.Inject(t.Context(), letter("now"), "all", "test"))
		<-time.After(15500 * time.Millisecond) // within the last cycle
		var field *engine.FieldError
		if err := r.Inject(t.Context(), letter("too late"), "all", "test"); !errors.As(err, &field) {
			t.Errorf("in the last cycle: %v", err)
		}
		if err := r.Inject(t.Context(), engine.Message{Body: []byte("{")}, "all", "test"); !errors.As(err, &field) {
			t.Errorf("invalid JSON: %v", err)
		}
		r.Wait()
		if err := r.Inject(t.Context(), letter("too late"), "all", "test"); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("after the end: %v", err)
		}
		if got, want := p.foundInCycle(1, 2), `1:"now"|1:"now"`; got != want {
			t.Errorf("cycle 1: %s, want %s", got, want)
		}
	})
}

// TestInjectSurvivesACrash checks that the next process delivers the message in the same cycle, whenever the process dies
// after the order.
func TestInjectSurvivesACrash(t *testing.T) {
	const agents, cycles = 3, 4
	outcome := func(t *testing.T, dieAfter time.Duration) string {
		var out string
		synctest.Test(t, func(t *testing.T) {
			p := &letterReader{}
			j := &enginetest.Journal{Latency: 10 * time.Millisecond}
			cfg := enginetest.Config(agents, p, j)
			cfg.Settings.Cycles, cfg.Settings.Limit = cycles, 1 // a cycle takes three seconds
			ctx, cut := context.WithCancel(t.Context())
			r, err := run.Start(ctx, cfg)
			do(t, err)
			<-time.After(4 * time.Second)
			do(t, r.Inject(t.Context(), letter("storm", 1, 2), "b, c", "test"))
			do(t, r.Checkpoint(t.Context(), "test"))
			<-time.After(dieAfter)
			j.Die()
			cut()
			r.Wait()
			j = j.Reopen()
			cfg.Journal, cfg.Resume = j, j.Resumption()
			if got := start(t, cfg).Wait(); got.Totals.Ended() != agents*cycles {
				t.Errorf("%d sessions ended", got.Totals.Ended())
			}
			for c := range cycles {
				out += p.foundInCycle(c, agents) + "\n"
			}
		})
		return out
	}
	want := "||\n||\n|2:\"storm\"|2:\"storm\"\n||\n"
	for _, after := range []time.Duration{50 * time.Millisecond, 1500 * time.Millisecond, 2500 * time.Millisecond, 4500 * time.Millisecond, 6500 * time.Millisecond} {
		if got := outcome(t, after); got != want {
			t.Errorf("crash %v after the order:\n%swant\n%s", after, got, want)
		}
	}
}

// TestInjectionsAreBounded checks that a run keeps the newest injections, as an inbox does, and that older copies of the
// list do not change.
func TestInjectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &letterReader{}
		j := &enginetest.Journal{}
		cfg := enginetest.Config(1, p, j)
		cfg.Settings.Cycles = 3
		r := start(t, cfg)
		<-time.After(500 * time.Millisecond)
		for i := range engine.MostLetters + 5 {
			do(t, r.Inject(t.Context(), letter(fmt.Sprint(i)), "all", "test"))
		}
		<-time.After(time.Second)
		do(t, r.Checkpoint(t.Context(), "test"))
		r.Wait()
		all := strings.Fields(p.foundInCycle(1, 1))
		if len(all) != engine.MostLetters || all[0] != `1:"5"` {
			t.Errorf("%d letters, the first %s", len(all), all[0])
		}
		if kept := enginetest.Of[engine.CheckpointRow](j)[0]; len(kept.State.Injected) != engine.MostLetters || kept.Cycle != 1 {
			t.Errorf("the checkpoint of cycle %d has %d", kept.Cycle, len(kept.State.Injected))
		}
	})
}
