package govern

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func doing(agent int, name, service, path, gate string, since time.Duration) engine.Activity {
	return engine.Activity{
		Place: engine.Place{Agent: agent}, Name: name, Service: service, Path: path, ThrottledBy: gate, Since: begin.Add(since),
	}
}

func TestStallNamesTheCauseOfWaiting(t *testing.T) {
	lena := doing(3, "lena", "shop", "checkout", "", 0)
	for _, c := range []struct {
		name   string
		oldest []engine.Activity
		want   string
	}{
		{
			"a service",
			[]engine.Activity{lena, doing(4, "mo", "model", "think", "", 10*time.Second), doing(5, "", "shop", "browse", "", 20*time.Second)},
			"2 sessions wait for shop; the oldest, agent lena, for 2 min 10 s in checkout",
		},
		{
			"most of them, not the oldest",
			[]engine.Activity{lena, doing(4, "", "model", "think", "", 10*time.Second), doing(5, "", "model", "think", "", 20*time.Second)},
			"2 sessions wait for model; the oldest, agent 4, for 2 min in think",
		},
		{"one", []engine.Activity{lena}, "agent lena waits for shop, for 2 min 10 s in checkout"},
		{
			"a step",
			[]engine.Activity{doing(3, "lena", "", "pause", "", 0), doing(4, "mo", "", "pause", "", 0)},
			"2 sessions wait in step pause; the oldest, agent lena, for 2 min 10 s",
		},
		{
			"one throttled among others",
			[]engine.Activity{doing(1, "ann", "model", "think", "the rate", 0), doing(2, "bob", "model", "think", "the rate", 0), lena},
			"2 sessions wait for model, throttled (the rate); the oldest, agent ann, for 2 min 10 s in think",
		},
		{"nothing yet", []engine.Activity{doing(1, "ann", "", "", "", 0)}, "agent ann waits before the first step that calls a service, for 2 min 10 s"},
		{"unknown cause", nil, "50 sessions are in flight"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, governed(""))
			s.ends(5, 0)
			if s.r.Oldest = c.oldest; c.oldest != nil {
				s.r.InFlight = len(c.oldest)
			}
			o := s.after(129*time.Second, 0, 0)
			if o.Stall == nil || o.Stall.Why != c.want {
				t.Fatalf("got %+v, want %q", o.Stall, c.want)
			}
			if !o.Stall.Since.Equal(begin.Add(time.Second)) || len(o.Stall.Oldest) != len(c.oldest) {
				t.Errorf("since %v, oldest %v", o.Stall.Since, o.Stall.Oldest)
			}
		})
	}
}

// TestStallCountsOnlyKnownSessions checks that only listed sessions count as stalled. The list of the oldest is short,
// and the others may wait for the same cause.
func TestStallCountsOnlyKnownSessions(t *testing.T) {
	s := newScript(t, governed(""))
	s.ends(5, 0)
	s.r.Oldest = []engine.Activity{doing(1, "ann", "shop", "pay", "", 0), doing(2, "bob", "shop", "pay", "", 0)}
	s.r.InFlight = 30
	if o := s.after(129*time.Second, 0, 0); o.Stall == nil || o.Stall.Why != "at least 2 sessions wait for shop; the oldest, agent ann, for 2 min 10 s in pay" {
		t.Errorf("got %+v", o.Stall)
	}
}

func TestNoStall(t *testing.T) {
	held := []engine.Activity{doing(1, "ann", "model", "think", "the rate", 0), doing(2, "bob", "model", "think", "the rate", 0)}
	for _, c := range []struct {
		name string
		set  func(s *script)
		// seconds without an end until the warning; 0: no warning
		told int
	}{
		{"as a rule", func(*script) {}, 60},
		{"nothing in flight", func(s *script) { s.r.InFlight = 0 }, 0},
		{"sessions end", func(s *script) { s.ends(1, 0) }, 60},
		{"all are throttled", func(s *script) { s.r.Oldest = held }, 300},
		{"one is not", func(s *script) { s.r.Oldest = append(held, doing(3, "", "shop", "pay", "", 0)) }, 60},
		{"after a sleep", func(s *script) { s.r.Slept = time.Hour; s.after(time.Hour, 0, 0); s.r.Slept = 0 }, 60},
		{"while it drains", func(s *script) { s.r.Phase = engine.Draining }, 60},
		{"just resumed", func(s *script) { s.after(50*time.Second, 0, 0); s.governor.Reset(); s.ends(0, 0) }, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, governed(""))
			s.ends(1, 0)
			c.set(s)
			told := 0
			for i := range 400 {
				if o := s.ends(0, 0); o.Stall != nil {
					told = i + 1
					break
				}
			}
			if told != c.told {
				t.Errorf("reported after %d s, want %d", told, c.told)
			}
		})
	}
}

func TestStallWhilePaused(t *testing.T) {
	s := newScript(t, governed(""))
	s.ends(1, 0)
	for range 300 {
		s.r.Phase = engine.Paused
		if o := s.ends(0, 0); o.Stall != nil {
			t.Fatalf("a stall while a person paused the run: %s", o.Stall.Why)
		}
	}
	if o := s.ends(0, 0); o.Stall != nil {
		t.Errorf("an immediate stall: %s", o.Stall.Why)
	}
}

func TestStallSwitchedOff(t *testing.T) {
	s := newScript(t, engine.Steering{})
	s.ends(1, 0)
	if o := s.after(time.Hour, 0, 0); o.Stall != nil {
		t.Errorf("got %+v", o.Stall)
	}
}
