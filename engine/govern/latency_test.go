package govern

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func TestLatencyKnee(t *testing.T) {
	for _, start := range []int{1, 50, 100} {
		c := trial{
			name: "knee 40, 40 sessions/s", governor: "latency", start: start, seeds: 10, seconds: 3600, from: 900, knee: 40,
			plant:    func() *plant { return &plant{agents: 372, mean: 1, knee: constant(40)} },
			distance: 0.10, oscillation: 0.10,
		}
		c.run(t)
	}
}

func TestLatencyOtherKnees(t *testing.T) {
	for _, knee := range []float64{20, 80} {
		for _, agents := range []int{372, 100_000} {
			c := trial{
				name: fmt.Sprintf("knee %.0f, %d agents", knee, agents), governor: "latency", start: 50, seeds: 10, seconds: 3600, from: 1800, knee: knee,
				plant:    func() *plant { return &plant{agents: agents, mean: 1, knee: constant(knee)} },
				distance: 0.10, oscillation: 0.12,
			}
			c.run(t)
		}
	}
}

// With seven sessions a second, it takes minutes to know a mean to a few percent.
func TestLatencyKneeFewSessions(t *testing.T) {
	for _, start := range []int{50, 100} {
		c := trial{
			name: "knee 40, 7 sessions/s", governor: "latency", start: start, seeds: 10, seconds: 7200, from: 3600, knee: 40,
			plant:    func() *plant { return &plant{agents: 372, mean: 6, knee: constant(40)} },
			distance: 0.10, oscillation: 0.10,
		}
		c.run(t)
	}
}

func TestLatencyWithoutAKnee(t *testing.T) {
	for seed := range uint64(5) {
		p := &plant{agents: 372, mean: 1}
		p.start(seed, 10)
		tr := drive(t, governorOf(t, "latency"), p, 900)
		if last := tr.limits[len(tr.limits)-1]; last != 100 && !tr.probes[len(tr.probes)-1] {
			t.Errorf("seed %d: %d after a quarter of an hour, with room for 100", seed, last)
		}
	}
}

// The long-term average of a gradient would learn the latency of an overload; the base must not.
func TestLatencyDoesNotDrift(t *testing.T) {
	p := &plant{agents: 372, mean: 1, knee: constant(40)}
	p.start(3, 60)
	governor := governorOf(t, "latency")
	drive(t, governor, p, 900)
	for hour := range 8 {
		f := drive(t, governor, p, 3600).settled(0, 40)
		t.Logf("hour %d: %+.0f%%, oscillation %.0f%%, probing %.0f%%", hour+1, 100*f.distance, 100*f.oscillation, 100*f.probing)
		if math.Abs(f.distance) > 0.10 || f.oscillation > 0.12 || f.probing > 0.10 {
			t.Errorf("hour %d: %+v", hour+1, f)
		}
	}
}

// At night the backend takes twice as long for everything; in the morning it is fast again.
func TestLatencySlowerByItself(t *testing.T) {
	for seed := range uint64(10) {
		p := &plant{agents: 372, mean: 1, knee: constant(40), slower: func(t float64) float64 {
			if t > 3600 && t < 10800 {
				return 2
			}
			return 1
		}}
		p.start(seed, 50)
		governor := governorOf(t, "latency")
		drive(t, governor, p, 3600+900)
		night := drive(t, governor, p, 6300).settled(0, 40)
		drive(t, governor, p, 900)
		morning := drive(t, governor, p, 3600).settled(0, 40)
		t.Logf("seed %d: at night %+.0f%%, in the morning %+.0f%%", seed, 100*night.distance, 100*morning.distance)
		if math.Abs(night.distance) > 0.15 || math.Abs(morning.distance) > 0.15 {
			t.Errorf("seed %d: at night %+v, in the morning %+v", seed, night, morning)
		}
	}
}

// The backend loses half of its servers for an hour.
func TestLatencyKneeMoves(t *testing.T) {
	for seed := range uint64(10) {
		knee := func(t float64) float64 {
			if t > 3600 && t < 7200 {
				return 20
			}
			return 40
		}
		p := &plant{agents: 372, mean: 1, knee: knee}
		p.start(seed, 50)
		governor := governorOf(t, "latency")
		drive(t, governor, p, 3600)
		tr := drive(t, governor, p, 3600)
		half := tr.settled(900, 20)
		tr = drive(t, governor, p, 5400)
		whole := tr.settled(2700, 40)
		t.Logf("seed %d: half %+.0f%%, whole again %+.0f%%, after %d s", seed, 100*half.distance, 100*whole.distance, whole.converged)
		if math.Abs(half.distance) > 0.15 || math.Abs(whole.distance) > 0.15 {
			t.Errorf("seed %d: half %+v, whole again %+v", seed, half, whole)
		}
	}
}

func TestLatencyReportsItsMeasurements(t *testing.T) {
	p := &plant{agents: 372, mean: 1, knee: constant(40)}
	p.start(0, 100)
	tr := drive(t, governorOf(t, "latency"), p, 300)
	want := []string{"100 → 50: to measure fewer concurrent sessions", "50 → 25: to measure fewer concurrent sessions"}
	for i, w := range want {
		if len(tr.words) <= i || !contains(tr.words[i], w) {
			t.Fatalf("got %q, want ...%q", tr.words, w)
		}
	}
	if last := tr.words[2]; !contains(last, "with 100 concurrent") {
		t.Errorf("got %q", last)
	}
}

// Sessions that fail immediately do not show how fast the service is.
func TestLatencyLeavesFailuresOut(t *testing.T) {
	l := &latency{}
	l.restart(4)
	r := engine.Reading{Span: time.Second, Limit: 4, InFlight: 4, Busy: 1, Ended: 10, Failed: 5, Service: engine.Quantiles{Count: 10, Mean: time.Second}}
	for range 1000 {
		if n, _ := l.next(&r, bounds{1, 100}); n != 4 {
			t.Fatalf("moved to %d", n)
		}
	}
	if l.base.mean != 0 {
		t.Errorf("learned %+v", l.base)
	}
}

// Sessions that wait for nothing have no latency to measure, so the other signals decide.
func TestLatencyOfSessionsThatWaitForNothing(t *testing.T) {
	for _, c := range []struct {
		governor string
		want     int
	}{{"adaptive", 100}, {"latency", 50}} {
		s := newScript(t, engine.Steering{Governor: c.governor, Floor: 1, Ceiling: 100})
		s.r.CycleTotal = 1_000_000
		var o engine.Orders
		for range 60 {
			s.r.Ended, s.r.Service = 10000, engine.Quantiles{Count: 10000, Mean: 20 * time.Microsecond}
			s.r.At = s.r.At.Add(time.Second)
			s.r.CycleEnded += 10000
			o = s.governor.Steer(s.r)
			s.r.Limit = o.Limit
		}
		if o.Limit != c.want {
			t.Errorf("%s: %d, want %d", c.governor, o.Limit, c.want)
		}
	}
}

// After the user raises the limit during a probe, it does not return to the earlier limit.
func TestLatencyProbeEndsWhenTheLimitIsChanged(t *testing.T) {
	for _, to := range []int{10, 80} {
		p := &plant{agents: 372, mean: 1, knee: constant(100)}
		p.start(1, 50)
		governor := governorOf(t, "latency")
		l := governor.signals[latencySignal].(*latency)
		for l.probe == nil {
			drive(t, governor, p, 1)
		}
		p.limit = to
		drive(t, governor, p, 1)
		if l.probe != nil || l.want < 50 {
			t.Errorf("moved to %d: wants %d, probe %v", to, l.want, l.probe)
		}
	}
}
