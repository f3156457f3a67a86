package govern

import (
	"errors"
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"pgregory.net/rapid"
)

func TestInvalidSettings(t *testing.T) {
	for _, c := range []struct {
		s     engine.Steering
		field string
	}{
		{engine.Steering{Governor: "magic", Floor: 1, Ceiling: 2}, "governor"},
		{engine.Steering{Breaker: "sometimes"}, "breaker"},
		{engine.Steering{Governor: "adaptive", Floor: 0, Ceiling: 2}, "floor"},
		{engine.Steering{Governor: "adaptive", Floor: 5, Ceiling: 2}, "ceiling"},
		{engine.Steering{StallAfter: -1}, "stall-warning"},
	} {
		_, err := New(c.s, Options{})
		var mistake *engine.FieldError
		if !errors.As(err, &mistake) || mistake.Field != c.field {
			t.Errorf("%+v: got %v, want a mistake in %s", c.s, err, c.field)
		}
	}
	for _, g := range engine.Governors {
		for _, b := range engine.Breakers {
			if _, err := New(engine.Steering{Governor: g.Name, Breaker: b, Floor: 1, Ceiling: 1}, Options{}); err != nil {
				t.Errorf("%s, %s: %v", g.Name, b, err)
			}
		}
	}
	if _, err := New(engine.Steering{}, Options{}); err != nil {
		t.Errorf("by hand: %v", err)
	}
}

// An invalid setting in Use changes nothing.
func TestUseRefused(t *testing.T) {
	p := governorOf(t, "success")
	if p.Use(engine.Steering{Governor: "magic"}) == nil {
		t.Fatal("taken")
	}
	s := script{t, p, newScript(t, engine.Steering{}).r}
	var o engine.Orders
	for range 10 {
		o = s.ends(50, 0)
	}
	if o.By != "success" || o.Limit != 100 {
		t.Errorf("got %+v", o)
	}
}

func TestManualMovesNothing(t *testing.T) {
	p := &plant{agents: 372, mean: 1, knee: constant(10), fails: func(float64, int) float64 { return 0.3 }, cpu: machine(constant(90), 1)}
	p.start(1, 50)
	for i, o := range drive(t, governorWith(t, engine.Steering{StallAfter: time.Minute}), p, 600).orders {
		if o.Limit != 50 || o.Why != "" || o.By != "manual" || o.Breaker != engine.BreakerClosed {
			t.Fatalf("second %d: %+v", i, o)
		}
	}
}

func TestBoundsAreKept(t *testing.T) {
	s := newScript(t, engine.Steering{Governor: "success", Floor: 5, Ceiling: 60})
	if o := s.ends(0, 0); o.Limit != 50 || o.By != "success" {
		t.Fatalf("within bounds: %+v", o)
	}
	if err := s.governor.Use(engine.Steering{Governor: "success", Floor: 5, Ceiling: 30}); err != nil {
		t.Fatal(err)
	}
	if o := s.ends(0, 0); o.Limit != 30 || o.Why != "50 → 30: the highest limit is 30" {
		t.Errorf("a lower ceiling: %+v", o)
	}
	if err := s.governor.Use(engine.Steering{Governor: "success", Floor: 40, Ceiling: 60}); err != nil {
		t.Fatal(err)
	}
	s.r.Busy = 0
	if o := s.ends(0, 0); o.Limit != 40 || o.Why != "30 → 40: the lowest limit is 40" {
		t.Errorf("a higher floor: %+v", o)
	}
}

func TestNothingHappensWithoutEvidence(t *testing.T) {
	for _, g := range engine.Governors {
		s := newScript(t, engine.Steering{Governor: g.Name, Floor: 1, Ceiling: 100})
		s.r.Host = engine.HostMetrics{CPU: 10, MemoryTotal: 16e9, Available: 8e9}
		s.r.Connections = engine.Connections{Own: 1, Server: 5, Max: 60}
		for range 600 {
			if o := s.ends(0, 0); o.Limit != 50 {
				t.Fatalf("%s: %s", g.Name, o.Why)
			}
		}
		for _, phase := range []engine.Phase{engine.Preparing, engine.Paused, engine.Draining} {
			for range 60 {
				s.r.Phase = phase
				if o := s.ends(20, 0); o.Limit != 50 {
					t.Fatalf("%s while %v: %s", g.Name, phase, o.Why)
				}
			}
		}
	}
}

func TestSleepRestartsObservation(t *testing.T) {
	s := newScript(t, engine.Steering{Governor: "resources", Floor: 1, Ceiling: 100})
	s.r.Host = engine.HostMetrics{CPU: 95, MemoryTotal: 16e9, Available: 8e9}
	s.ends(10, 0)
	s.ends(10, 0)
	s.r.Slept = time.Hour
	if o := s.ends(10, 0); o.Limit != 50 {
		t.Fatalf("moved because of readings before the sleep: %s", o.Why)
	}
	s.r.Slept = 0
	s.ends(10, 0)
	if o := s.ends(10, 0); o.Limit != 50 {
		t.Fatalf("moved after two seconds awake: %s", o.Why)
	}
	if o := s.ends(10, 0); o.Limit >= 50 {
		t.Error("the spell after the sleep did not count")
	}
}

// The latency governor keeps what it learned while another one is used, and needs no probe afterwards.
func TestUseKeepsWhatWasLearned(t *testing.T) {
	p := &plant{agents: 372, mean: 1, knee: constant(40)}
	p.start(1, 50)
	governor := governorOf(t, "latency")
	drive(t, governor, p, 300)
	l := governor.signals[latencySignal].(*latency)
	base := l.base
	if base.mean < 0.9 || base.mean > 1.1 {
		t.Fatalf("a session of about a second takes %+v", base)
	}
	for _, g := range []string{"manual", "success", "latency"} {
		if err := governor.Use(engine.Steering{Governor: g, Floor: 1, Ceiling: 100}); err != nil {
			t.Fatal(err)
		}
		if g != "latency" {
			drive(t, governor, p, 60)
		}
	}
	if l.base != base {
		t.Errorf("got %+v, want %+v", l.base, base)
	}
	if f := drive(t, governor, p, 900).settled(300, 40); math.Abs(f.distance) > 0.10 {
		t.Errorf("chosen again: %+v", f)
	}
}

func TestAdaptiveNamesTheDecidingSignal(t *testing.T) {
	for _, c := range []struct {
		by string
		p  *plant
	}{
		{"resources", &plant{agents: 372, mean: 1, cpu: machine(constant(20), 1.5)}},
		{"connections", &plant{agents: 372, mean: 1, own: 0.75, others: constant(20), most: 60}},
		{"success", &plant{agents: 372, mean: 1, fails: failsAbove(40)}},
		{"latency", &plant{agents: 372, mean: 1, knee: constant(40)}},
		{"adaptive", &plant{agents: 372, mean: 0.2}},
	} {
		c.p.start(1, 30)
		counts := make(map[string]int)
		tr := drive(t, governorOf(t, "adaptive"), c.p, 1200)
		for _, o := range tr.orders[600:] {
			counts[o.By]++
		}
		if counts[c.by] < 500 {
			t.Errorf("%s binds, got %v", c.by, counts)
		}
	}
}

// A provider's quota is the bottleneck: sessions wait at the rate limiter, and more of them would wait longer.
func TestQuota(t *testing.T) {
	for _, name := range []string{"adaptive", "latency", "resources", "success"} {
		for _, start := range []int{1, 50} {
			p := &plant{agents: 100_000, mean: 1, quota: 20, cpu: machine(constant(10), 0.5)}
			p.start(2, start)
			governor := governorOf(t, name)
			drive(t, governor, p, 300)
			before := p.total
			tr := drive(t, governor, p, 3000)
			rate := float64(p.total-before) / 3000
			t.Logf("| %s | quota of 20/s from %d | %.1f/s, limit %d |", name, start, rate, tr.limits[len(tr.limits)-1])
			if rate < 0.95*20 {
				t.Errorf("%s from %d: %.1f sessions a second of 20", name, start, rate)
			}
		}
	}
}

var nonsense = regexp.MustCompile(`NaN|Inf|%!|: $|-\d+ %`)

// For any readings, orders keep the promises of engine.Governor, and are the same for the same readings.
func TestOrdersKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		governor := rapid.SampledFrom(engine.Governors).Draw(t, "governor").Name
		floor := rapid.IntRange(1, 20).Draw(t, "floor")
		s := engine.Steering{
			Governor: governor, Floor: floor, Ceiling: floor + rapid.IntRange(0, 200).Draw(t, "above"),
			Breaker: rapid.SampledFrom(engine.Breakers).Draw(t, "breaker"), StallAfter: time.Minute,
		}
		p, err := New(s, Options{})
		twin, _ := New(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		limit, at := rapid.IntRange(0, 300).Draw(t, "limit"), begin
		for range rapid.IntRange(1, 120).Draw(t, "readings") {
			r := anyReading(t, at, limit)
			at = r.At
			o := p.Steer(r)
			if again := twin.Steer(r); again.Limit != o.Limit || again.Why != o.Why || again.Breaker != o.Breaker {
				t.Fatalf("%+v and %+v for the same readings", o, again)
			}
			keeps(t, &s, &r, &o)
			limit = o.Limit
		}
	})
}

func keeps(t *rapid.T, s *engine.Steering, r *engine.Reading, o *engine.Orders) {
	switch {
	case s.Governor == engine.Manual && o.Limit != r.Limit:
		t.Fatalf("moved by hand to %d", o.Limit)
	case o.Limit != r.Limit && (o.Limit < s.Floor || o.Limit > s.Ceiling):
		t.Fatalf("%d → %d is not within %d and %d", r.Limit, o.Limit, s.Floor, s.Ceiling)
	case o.Limit > max(r.Limit, s.Floor) && r.Busy < busyEnough:
		t.Fatalf("grew to %d although the limit was not reached", o.Limit)
	case (o.Why == "") != (o.Limit == r.Limit), o.By == "", nonsense.MatchString(o.Why):
		t.Fatalf("%d → %d by %q: %q", r.Limit, o.Limit, o.By, o.Why)
	case (o.BreakerWhy == "") != (o.Breaker == engine.BreakerClosed), nonsense.MatchString(o.BreakerWhy):
		t.Fatalf("%v: %q", o.Breaker, o.BreakerWhy)
	case o.Probe && (o.Breaker != engine.BreakerHalfOpen || s.Breaker != "probe"):
		t.Fatalf("a probe while %v in the mode %s", o.Breaker, s.Breaker)
	case !o.NextProbe.IsZero() && o.Breaker != engine.BreakerOpen:
		t.Fatalf("a next probe while %v", o.Breaker)
	case s.Breaker == "off" && o.Breaker != engine.BreakerClosed:
		t.Fatalf("the breaker tripped although it is off")
	case o.Stall != nil && (r.InFlight == 0 || r.Ended > 0 || o.Stall.Why == ""):
		t.Fatalf("stall %+v", o.Stall)
	}
}

func anyReading(t *rapid.T, at time.Time, limit int) engine.Reading {
	count := func(name string, most int) int64 { return int64(rapid.IntRange(0, most).Draw(t, name)) }
	share := func(name string) float64 { return rapid.Float64Range(0, 1).Draw(t, name) }
	span := time.Duration(rapid.IntRange(1, 20000).Draw(t, "span")) * time.Millisecond
	r := engine.Reading{
		At: at.Add(span), Span: span, Phase: rapid.SampledFrom([]engine.Phase{engine.Running, engine.Running, engine.Running, engine.Paused}).Draw(t, "phase"),
		Cycle: int(count("cycle", 3)), Limit: limit, InFlight: int(count("in flight", limit+5)), Busy: share("busy"),
		Ended: count("ended", 60), CycleTotal: count("total", 400), LastEnd: at,
		Host:        engine.HostMetrics{CPU: 100 * share("cpu"), MemoryTotal: 8e9, Available: uint64(8e9 * share("available")), Memory: uint64(4e9 * share("memory"))},
		Connections: engine.Connections{Own: int(count("own", 30)) - 1, Server: int(count("server", 70)) - 1, Max: int(count("max", 60)) - 1},
	}
	r.Failed = int64(share("failed") * share("failed too") * float64(r.Ended))
	r.CycleEnded, r.CycleFailed = r.Ended, r.Failed
	r.Service = engine.Quantiles{Count: r.Ended, Mean: time.Duration(count("mean", 3000)) * time.Millisecond}
	if count("sleeps", 50) == 0 {
		r.Slept = time.Hour
	}
	return r
}
