package forecast

import (
	"container/heap"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

// places are the times at which each slot becomes free, the earliest first.
type places []float64

func (p places) Len() int           { return len(p) }
func (p places) Less(i, k int) bool { return p[i] < p[k] }
func (p places) Swap(i, k int)      { p[i], p[k] = p[k], p[i] }
func (p *places) Push(any)          { panic("there are no more places") }
func (p *places) Pop() any          { panic("no place goes") }

// take uses the earliest slot from some time on, and returns the time at which it becomes free again.
func (p places) take(from, length float64) (ends float64) {
	ends = max(p[0], from) + length
	p[0] = ends
	heap.Fix(&p, 0)
	return ends
}

// play simulates a cycle in which the next session starts as soon as a slot is free. It returns the end of the last session.
func play(limit int, times []float64) (ends float64) {
	free := make(places, limit)
	for _, t := range times {
		ends = max(ends, free.take(0, t))
	}
	return ends
}

func sum(all []float64) (s float64) {
	for _, v := range all {
		s += v
	}
	return s
}

func longest(all []float64) (most float64) {
	for _, v := range all {
		most = max(most, v)
	}
	return most
}

// TestCyclesOfUnequalSessions simulates cycles, and checks that each ends within its forecast, however sessions differ.
func TestCyclesOfUnequalSessions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Float64Range(0.001, 10), 1, 200).Draw(t, "times")
		limit := rapid.IntRange(1, 60).Draw(t, "limit")
		n := float64(len(times))
		s := session()
		s.Time, s.Longest = engine.Exactly(sum(times)/n, engine.Measured), engine.Exactly(longest(times), engine.Measured)
		f := Make(Order{Agents: len(times), Cycles: 1, Limit: limit}, s, anywhere)
		if took := play(limit, times); took < f.Cycle.Low*(1-1e-9) || took > f.Cycle.High*(1+1e-9) {
			t.Fatalf("a cycle took %v, forecast %v", took, f.Cycle)
		}
	})
}

// TestCyclesOfEqualSessions simulates cycles of equal sessions, and checks that they end with the last wave.
func TestCyclesOfEqualSessions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := make([]float64, rapid.IntRange(1, 500).Draw(t, "agents"))
		each := rapid.Float64Range(0.01, 10).Draw(t, "each")
		for i := range times {
			times[i] = each
		}
		limit := rapid.IntRange(1, 100).Draw(t, "limit")
		s := session()
		s.Thinks = exactly(each)
		f := Make(Order{Agents: len(times), Cycles: 1, Limit: limit}, s, anywhere)
		if took := play(limit, times); math.Abs(took-f.Cycle.High) > 1e-6*took {
			t.Fatalf("a cycle took %v, forecast %v", took, f.Cycle)
		}
	})
}

// TestCyclesAtAGovernedLimit simulates cycles at a moving limit, and checks that they end within the forecast.
func TestCyclesAtAGovernedLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Float64Range(0.1, 3), 1, 200).Draw(t, "times")
		start := rapid.IntRange(1, 30).Draw(t, "start")
		ceiling := rapid.IntRange(start, 100).Draw(t, "ceiling")
		settled := rapid.IntRange(start, ceiling).Draw(t, "settled")
		s := session()
		s.Time, s.Longest = engine.Exactly(sum(times)/float64(len(times)), engine.Measured), engine.Exactly(longest(times), engine.Measured)
		f := Make(Order{Agents: len(times), Cycles: 1, Limit: start, Ceiling: ceiling}, s, anywhere)
		if took := play(settled, times); took < f.Cycle.Low*(1-1e-9) || took > f.Cycle.High*(1+1e-9) {
			t.Fatalf("at %d between %d and %d a cycle took %v, forecast %v", settled, start, ceiling, took, f.Cycle)
		}
	})
}

// TestCyclesThroughAService simulates cycles whose sessions call a service with few slots or at a rate, and checks that
// the forecast differs by at most one call.
func TestCyclesThroughAService(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agents, limit := rapid.IntRange(1, 300).Draw(t, "agents"), rapid.IntRange(1, 100).Draw(t, "limit")
		latency := rapid.Float64Range(0.01, 2).Draw(t, "latency")
		v := shop(1, 1)
		v.Latency, v.WriteLatency = exactly(latency), exactly(latency)
		slack := latency
		if rapid.Bool().Draw(t, "paced") {
			v.Rate = rapid.Float64Range(1, 200).Draw(t, "rate")
			slack += 1 / v.Rate
		} else {
			v.Bound = rapid.IntRange(1, 50).Draw(t, "bound")
		}
		f := Make(Order{Agents: agents, Cycles: 1, Limit: limit}, session(v), anywhere)

		sessions, calls := make(places, limit), make(places, max(v.Bound, 1))
		took, turn := 0.0, 0.0
		for range agents {
			began := sessions[0]
			ends := max(began, turn) + latency
			if v.Bound > 0 {
				ends = calls.take(began, latency)
			} else {
				turn = max(began, turn) + 1/v.Rate
			}
			sessions.take(began, ends-began)
			took = max(took, ends)
		}
		if took < f.Cycle.Low-slack-1e-9 || took > f.Cycle.High+slack+1e-9 {
			t.Fatalf("a cycle took %v, forecast %v, a call %v", took, f.Cycle, latency)
		}
		// Little's law: the mean number of concurrent calls is their total duration divided by the time.
		busy := float64(agents) * latency / took
		if low, high := f.Connections.Low/Spare, f.Connections.High/Spare; busy*took < low*(took-slack)-1e-6 || busy*took > high*(took+slack)+1e-6 {
			t.Fatalf("%v writes were under way, forecast %v to %v", busy, low, high)
		}
	})
}

// TestServicesAddUp checks that a run's requests and writes are the sums over all services.
func TestServicesAddUp(t *testing.T) {
	a, b, c := shop(3, 1), shop(7, 7), shop(2, 0)
	a.Name, b.Name, c.Name = "a", "b", "c"
	f := Make(Order{Agents: 50, Cycles: 4, Limit: 10}, session(a, b, c), anywhere)
	var requests, writes float64
	for i, s := range f.Services {
		if want := string("abc"[i]); s.Name != want {
			t.Errorf("service %d is %s, want %s", i, s.Name, want)
		}
		requests, writes = requests+s.RequestRate.High, writes+s.WriteRate.High
	}
	if len(f.Services) != 3 || !near(requests, f.RequestRate.High) || !near(writes, f.WriteRate.High) {
		t.Errorf("%d services with %v requests and %v writes a minute, of %v and %v", len(f.Services), requests, writes, f.RequestRate, f.WriteRate)
	}
	want(t, "requests", f.Requests, 2400, 2400)
	want(t, "writes", f.Writes, 1600, 1600)
	want(t, "journal", f.Disk, 20_000, 20_000)
}
