package govern

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func second(limit, inFlight, cycle int, ended int64, mean time.Duration) *engine.Reading {
	return &engine.Reading{
		Span: time.Second, Limit: limit, InFlight: inFlight, Busy: 1, Cycle: cycle, CycleTotal: 100, Ended: ended,
		Service: engine.Quantiles{Count: ended, Mean: mean},
	}
}

// One and a half times as many sessions as were in flight when the limit moved do not count for the new limit.
func TestWindowLeavesOutWhatBeganBefore(t *testing.T) {
	var w window
	w.clear(20, 0)
	w.add(second(20, 20, 0, 10, time.Second))
	if w.count != 10 {
		t.Fatalf("%v sessions at a limit that was in force", w.count)
	}
	for i := range 3 { // 10 sessions each: 30, with 20 in flight
		if w.add(second(40, 20, 0, 10, time.Second)) {
			t.Errorf("reading %d after the limit moved counts", i)
		}
	}
	if !w.add(second(40, 40, 0, 10, 2*time.Second)) || w.count != 10 || w.measure().mean != 2 || w.limit != 40 {
		t.Errorf("got %+v", w)
	}
	if w.add(second(41, 40, 0, 10, 2*time.Second)); w.count != 20 {
		t.Error("a move by one of forty begins a new window")
	}
}

func TestWindowCollectsWholeShortCycles(t *testing.T) {
	w := window{cycles: true}
	w.clear(20, 0)
	for _, cycle := range []int{0, 0} {
		if w.add(second(20, 20, cycle, 10, time.Second)) {
			t.Error("a part of a cycle counts")
		}
	}
	if !w.add(second(20, 20, 1, 10, time.Second)) || !w.whole {
		t.Error("the window does not begin with the next cycle")
	}
	if !w.add(second(20, 20, 1, 10, time.Second)) || w.whole {
		t.Error("the window is complete before the cycle")
	}
	if !w.add(second(20, 20, 2, 10, time.Second)) || !w.whole {
		t.Error("the window is not complete with the cycle")
	}
	long := second(4, 4, 2, 10, time.Second) // 25 turns
	w.clear(4, 0)
	if !w.add(long) || !w.whole {
		t.Error("a long cycle is waited for")
	}
}

func TestWindowLoadIsThatOfSessions(t *testing.T) {
	var w window
	w.clear(40, 0)
	w.add(second(40, 40, 0, 40, time.Second))
	w.add(second(40, 0, 0, 0, 0)) // between cycles no session is in flight
	if got := w.measure().load; got != 40 {
		t.Errorf("got %v, want 40", got)
	}
	w.halve()
	if got := w.measure(); got.load != 40 || got.count != 20 || got.mean != 1 {
		t.Errorf("half of it: %+v", got)
	}
	if got := (&window{}).measure(); !math.IsInf(got.doubt, 1) || got.load != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}

// Of many windows of bimodal sessions, two thirds must lie within the error, and nearly all within three errors.
func TestWindowDoubt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	const windows = 2000
	within, far := 0, 0
	for range windows {
		var w window
		w.clear(40, 0)
		for range 5 + rng.IntN(30) {
			sum, n := 0.0, 1+rng.IntN(40)
			for range n {
				work := 0.52
				if rng.Float64() < 0.3 {
					work = 2.12
				}
				sum += work * (0.8 + 0.4*rng.Float64())
			}
			w.add(second(40, 40, 0, int64(n), time.Duration(sum/float64(n)*float64(time.Second))))
		}
		m := w.measure()
		if off := math.Abs(m.mean - 1); off < m.doubt*m.mean {
			within++
		} else if off > 3*m.doubt*m.mean {
			far++
		}
	}
	if share := float64(within) / windows; share < 0.6 || share > 0.8 {
		t.Errorf("%.2f of the means lie within their error", share)
	}
	if share := float64(far) / windows; share > 0.01 {
		t.Errorf("%.3f of the means are off by three errors", share)
	}
}
