package govern

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// script feeds a governor with readings that each change some fields of the previous one.
type script struct {
	t        *testing.T
	governor *Governor
	r        engine.Reading
}

func newScript(t *testing.T, s engine.Steering) *script {
	t.Helper()
	return &script{t, governorWith(t, s), engine.Reading{
		At: begin, Span: time.Second, Phase: engine.Running, Limit: 50, InFlight: 50, Busy: 1, CycleTotal: 372,
		LastEnd: begin, Connections: engine.Connections{Own: -1, Server: -1, Max: -1},
	}}
}

// ends advances by a second in which sessions end, some of them failed.
func (s *script) ends(ended, failed int64) engine.Orders {
	s.t.Helper()
	return s.after(time.Second, ended, failed)
}

func (s *script) after(d time.Duration, ended, failed int64) engine.Orders {
	s.t.Helper()
	r := &s.r
	r.At, r.Span = r.At.Add(d), d
	r.Ended, r.Failed = ended, failed
	r.CycleEnded += ended
	r.CycleFailed += failed
	r.Service = engine.Quantiles{Count: ended, Mean: time.Second}
	if ended > 0 {
		r.LastEnd = r.At
	}
	o := s.governor.Steer(*r)
	r.Limit = o.Limit
	r.Phase = engine.Running
	if o.Breaker != engine.BreakerClosed {
		r.Phase = engine.Paused
	}
	return o
}

func governed(breaker string) engine.Steering {
	return engine.Steering{Governor: "success", Floor: 2, Ceiling: 100, Breaker: breaker, StallAfter: time.Minute}
}

func TestBreakerTrips(t *testing.T) {
	for _, c := range []struct {
		name                            string
		total, ended, failed            int64
		inFlight                        int
		governor, breaker               string
		state                           engine.BreakerState
		why                             string
		cycleEndedBefore, cycleFailedBf int64
	}{
		{"half of a cycle", 372, 60, 60, 50, "success", "", engine.BreakerOpen, "60 of 60 sessions of cycle 1 failed; a session probes every 1 min whether the run works again", 0, 0},
		{"by hand", 372, 60, 60, 50, "", "probe", engine.BreakerOpen, "60 of 60 sessions of cycle 1 failed; a session probes every 1 min whether the run works again", 0, 0},
		{"for a person", 372, 60, 60, 50, "success", "wait", engine.BreakerOpen, "60 of 60 sessions of cycle 1 failed; resume the run to continue", 0, 0},
		{"never", 372, 60, 60, 50, "success", "off", engine.BreakerClosed, "", 0, 0},
		{"not quite half", 372, 100, 49, 0, "success", "", engine.BreakerClosed, "", 0, 0},
		{"half to the session", 372, 100, 50, 0, "success", "", engine.BreakerOpen, "50 of 100 sessions of cycle 1 failed", 0, 0},
		{"quick failures end first", 372, 30, 30, 50, "success", "", engine.BreakerClosed, "", 0, 0},
		{"too few", 372, 9, 9, 0, "success", "", engine.BreakerClosed, "", 0, 0},
		{"a handful", 372, 10, 10, 0, "success", "", engine.BreakerOpen, "10 of 10", 0, 0},
		{"a small cycle, whole", 4, 4, 2, 0, "success", "", engine.BreakerOpen, "2 of 4", 0, 0},
		{"late in a successful cycle", 372, 60, 60, 10, "success", "", engine.BreakerClosed, "", 300, 0},
		{"cycles shorter than a reading", 8, 40, 30, 2, "success", "", engine.BreakerOpen, "30 of 40 sessions failed", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, engine.Steering{Governor: c.governor, Floor: 2, Ceiling: 100, Breaker: c.breaker})
			s.r.CycleTotal, s.r.InFlight, s.r.CycleEnded = c.total, c.inFlight, c.cycleEndedBefore
			if c.total == 8 {
				s.r.CycleEnded = -38 // the open cycle has seen two
				s.r.CycleFailed = -30
			}
			o := s.ends(c.ended, c.failed)
			if o.Breaker != c.state || !strings.HasPrefix(o.BreakerWhy, c.why) || (c.why == "") != (o.BreakerWhy == "") {
				t.Errorf("got %v %q, want %v %q", o.Breaker, o.BreakerWhy, c.state, c.why)
			}
			probes := c.state == engine.BreakerOpen && c.breaker != "wait"
			if probes != o.NextProbe.Equal(s.r.At.Add(time.Minute)) || o.Probe {
				t.Errorf("next probe %v, probe %v", o.NextProbe, o.Probe)
			}
		})
	}
}

func TestBreakerTripsAtTheFloor(t *testing.T) {
	s := newScript(t, governed(""))
	s.r.Limit, s.r.InFlight = 2, 2
	var o engine.Orders
	for range 4 {
		o = s.ends(5, 0)
	}
	if o.Breaker != engine.BreakerClosed {
		t.Fatalf("tripped although all sessions succeeded: %q", o.BreakerWhy)
	}
	s.r.Limit = 2
	for i := range 20 {
		s.r.Limit = 2
		if o = s.ends(5, 1); o.Breaker == engine.BreakerOpen {
			t.Logf("after %d s: %s", i, o.BreakerWhy)
			break
		}
	}
	if o.Breaker != engine.BreakerOpen || !strings.Contains(o.BreakerWhy, "failed at the lowest limit") {
		t.Errorf("a fifth failed at the lowest limit: %v %q", o.Breaker, o.BreakerWhy)
	}
}

func TestBreakerProbes(t *testing.T) {
	s := newScript(t, governed("probe"))
	s.ends(60, 60)
	s.r.InFlight = 0
	for range 59 {
		if o := s.ends(0, 0); o.Breaker != engine.BreakerOpen || o.Probe {
			t.Fatalf("%v: %v, probe %v", s.r.At, o.Breaker, o.Probe)
		}
	}
	o := s.ends(0, 0)
	if o.Breaker != engine.BreakerHalfOpen || !o.Probe || !o.NextProbe.IsZero() || !strings.Contains(o.BreakerWhy, "60 of 60") {
		t.Fatalf("after a minute: %+v", o)
	}
	s.r.InFlight = 1
	for range 10 { // the probe takes its time
		if o = s.ends(0, 0); o.Probe || o.Breaker != engine.BreakerHalfOpen {
			t.Fatalf("during the probe: %+v", o)
		}
	}
	s.r.InFlight = 0
	if o = s.ends(1, 1); o.Breaker != engine.BreakerOpen || !o.NextProbe.Equal(s.r.At.Add(time.Minute)) {
		t.Fatalf("after a bad probe: %+v", o)
	}
	if o = s.after(time.Minute, 0, 0); !o.Probe {
		t.Fatalf("a minute later: %+v", o)
	}
	o = s.ends(1, 0)
	if o.Breaker != engine.BreakerClosed || o.BreakerWhy != "" || o.Limit != 2 || o.By != "breaker" {
		t.Fatalf("after a good probe: %+v", o)
	}
	if want := "→ 2: a session succeeded again, and the limit grows from the lowest limit"; !strings.HasSuffix(o.Why, want) {
		t.Errorf("got %q, want ...%q", o.Why, want)
	}
	s.r.InFlight = 2
	for range 12 { // earlier failures no longer count, and the limit grows
		if o = s.ends(4, 0); o.Breaker != engine.BreakerClosed {
			t.Fatalf("tripped again: %q", o.BreakerWhy)
		}
	}
	if o.Limit <= 2 {
		t.Errorf("still at %d", o.Limit)
	}
}

func TestBreakerAsksAgainForAProbeThatDidNotStart(t *testing.T) {
	s := newScript(t, governed("probe"))
	s.ends(60, 60)
	s.r.InFlight = 0
	probes := 0
	for range 70 {
		if s.ends(0, 0).Probe {
			probes++
		}
	}
	if probes < 3 || probes > 7 {
		t.Errorf("%d probes in ten seconds in which none started", probes)
	}
}

func TestBreakerWaitsForTheUser(t *testing.T) {
	s := newScript(t, governed("wait"))
	s.ends(60, 60)
	s.r.InFlight = 0
	for range 300 {
		if o := s.ends(0, 0); o.Breaker != engine.BreakerOpen || o.Probe || !o.NextProbe.IsZero() {
			t.Fatalf("%+v", o)
		}
	}
	s.governor.Reset()
	s.r.Phase = engine.Running
	o := s.ends(0, 0)
	if o.Breaker != engine.BreakerClosed || o.Limit != 2 || !strings.Contains(o.Why, "the run was resumed") {
		t.Errorf("after the resume: %+v", o)
	}
	if o = s.ends(5, 5); o.Breaker != engine.BreakerClosed {
		t.Errorf("five failures after it tripped again: %q", o.BreakerWhy)
	}
}

func TestBreakerTakesItsMode(t *testing.T) {
	s := newScript(t, governed("wait"))
	s.ends(60, 60)
	s.r.InFlight = 0
	use := func(mode string) {
		t.Helper()
		if err := s.governor.Use(governed(mode)); err != nil {
			t.Fatal(err)
		}
	}
	use("probe")
	if o := s.ends(0, 0); o.Breaker != engine.BreakerOpen || o.NextProbe.IsZero() {
		t.Fatalf("probing now: %+v", o)
	}
	use("wait")
	if o := s.after(time.Hour, 0, 0); o.Breaker != engine.BreakerOpen || !o.NextProbe.IsZero() || o.Probe {
		t.Fatalf("waiting again: %+v", o)
	}
	use("off")
	if o := s.ends(0, 0); o.Breaker != engine.BreakerClosed || o.Limit != 2 {
		t.Fatalf("switched off: %+v", o)
	}
}

func TestBreakerByHandMovesNothing(t *testing.T) {
	s := newScript(t, engine.Steering{Breaker: "probe"})
	if o := s.ends(60, 60); o.Limit != 50 || o.Breaker != engine.BreakerOpen || o.Why != "" {
		t.Errorf("tripping: %+v", o)
	}
	s.after(time.Minute, 0, 0)
	if o := s.ends(1, 0); o.Limit != 50 || o.Breaker != engine.BreakerClosed || o.Why != "" || o.By != "manual" {
		t.Errorf("healing: %+v", o)
	}
}

func TestBreakerAfterSleep(t *testing.T) {
	s := newScript(t, governed("probe"))
	s.ends(20, 20)
	s.r.Slept = 3 * time.Hour
	s.ends(25, 25)
	s.r.Slept = 0
	if o := s.ends(9, 9); o.Breaker != engine.BreakerClosed {
		t.Errorf("failures before and during the sleep count: %q", o.BreakerWhy)
	}
	s.ends(90, 90)
	s.r.InFlight, s.r.Slept = 0, time.Hour
	if o := s.ends(0, 0); !o.Probe {
		t.Errorf("no probe immediately after a sleep: %+v", o)
	}
}

// TestOvernight checks that a run recovers from an hour in which its backend is unavailable at night.
func TestOvernight(t *testing.T) {
	for _, governor := range []string{"adaptive", "latency", "success", "manual"} {
		t.Run(governor, func(t *testing.T) {
			p := &plant{agents: 372, mean: 1, knee: constant(40), away: func(t float64) bool { return t > 7200 && t < 10800 }}
			p.start(1, 50)
			governor := governorOf(t, governor)
			tr := drive(t, governor, p, 7200)
			before, losses := tr.limits[len(tr.limits)-1], p.losses
			tr = drive(t, governor, p, 3600)
			probes, tripped := 0, 0
			for i, o := range tr.orders {
				if o.Probe {
					probes++
				}
				if o.Breaker == engine.BreakerOpen && tripped == 0 {
					tripped = i
				}
			}
			lost := p.losses - losses
			tr = drive(t, governor, p, 3600)
			closed, back := -1, -1
			for i, o := range tr.orders {
				if closed < 0 && o.Breaker == engine.BreakerClosed {
					closed = i
				}
				if back < 0 && float64(o.Limit) >= 0.8*float64(before) && closed >= 0 {
					back = i
				}
			}
			t.Logf("tripped after %d s, %d probes, %d sessions failed; closed %d s after, back at %d of %d after %d s", tripped, probes, lost, closed, tr.limits[max(back, 0)], before, back)
			if tripped < 1 || tripped > 30 || probes < 55 || probes > 60 || lost > 800 {
				t.Errorf("tripped after %d s, %d probes, %d sessions failed", tripped, probes, lost)
			}
			if closed < 0 || closed > 65 || back < 0 || back > 400 {
				t.Errorf("closed after %d s, back after %d s", closed, back)
			}
			if last := tr.orders[len(tr.orders)-1]; last.Breaker != engine.BreakerClosed {
				t.Errorf("the breaker is %v at the end: %s", last.Breaker, last.BreakerWhy)
			}
		})
	}
}
