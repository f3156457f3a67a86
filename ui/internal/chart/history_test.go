package chart

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// added is the whole input of a history.
type added struct {
	times  []float64
	values [][]float64
}

func (a *added) add(h *History, at time.Time, values []float64) {
	h.Add(at, values...)
	a.times = append(a.times, Seconds(at))
	for i, v := range values {
		a.values[i] = append(a.values[i], v)
	}
}

func TestHistoryKeepsExtremesInOrderWithinItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const gap = 5 * time.Second
		limit := rapid.IntRange(1, 120).Draw(t, "limit")
		series := rapid.IntRange(1, 3).Draw(t, "series")
		h, all := NewHistory(series, limit, gap), added{values: make([][]float64, series)}
		now := noon
		for range rapid.IntRange(1, 900).Draw(t, "rows") {
			// Mostly even, with a pause now and then.
			now = now.Add(time.Duration(rapid.SampledFrom([]int{1000, 1000, 1000, 250, 4000, 60000}).Draw(t, "ms")) * time.Millisecond)
			values := make([]float64, series)
			for i := range values {
				values[i] = rapid.SampledFrom([]float64{nan, 0, 1, 5, 50, -3, 99}).Draw(t, "value")
			}
			all.add(h, now, values)

			times, _ := h.Rows()
			if len(times) > max(limit, leastRows) {
				t.Fatalf("%d rows, at most %d", len(times), max(limit, leastRows))
			}
		}
		times, values := h.Rows()
		for i := 1; i < len(times); i++ {
			if times[i] <= times[i-1] {
				t.Fatalf("row %d at %v follows %v", i, times[i], times[i-1])
			}
		}
		if times[0] != all.times[0] || times[len(times)-1] != all.times[len(all.times)-1] {
			t.Fatalf("from %v to %v, want %v to %v", times[0], times[len(times)-1], all.times[0], all.times[len(all.times)-1])
		}
		for i := range values {
			low, high := bounds(values[i])
			wantLow, wantHigh := bounds(all.values[i])
			if low != wantLow || high != wantHigh {
				t.Fatalf("series %d: from %v to %v, want %v to %v", i, low, high, wantLow, wantHigh)
			}
		}
	})
}

// bounds returns the lowest and highest value, or infinities if there is none.
func bounds(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

func TestHistoryOfSixHours(t *testing.T) {
	const limit, hours = 3600, 6
	h, all := NewHistory(1, limit, 5*time.Second), added{values: make([][]float64, 1)}
	for i := range hours * 3600 {
		all.add(h, noon.Add(time.Duration(i)*time.Second), []float64{math.Sin(float64(i))})
	}
	times, values := h.Rows()
	if len(times) < limit/2 || len(times) > limit {
		t.Errorf("%d rows of %d", len(times), limit)
	}
	// The newest half of the places holds the newest seconds, as they were.
	recent := len(times) - limit/4
	if !slices.Equal(times[recent:], all.times[len(all.times)-limit/4:]) ||
		!slices.Equal(values[0][recent:], all.values[0][len(all.times)-limit/4:]) {
		t.Error("the newest quarter was thinned")
	}
	// What is old is even: no hole is wider than a few pixels of a chart of six hours.
	for i := 1; i < len(times); i++ {
		if hole := times[i] - times[i-1]; hole > hours*3600/300 {
			t.Fatalf("%v s without a row after row %d", hole, i)
		}
	}
	if slices.ContainsFunc(values[0], math.IsNaN) {
		t.Error("thinning broke the line")
	}
}

func TestHistoryMarksPauses(t *testing.T) {
	h := NewHistory(2, 100, 5*time.Second)
	h.Add(noon, 1, 2)
	h.Add(noon.Add(4*time.Second), 3, 4)
	h.Add(noon.Add(time.Minute), 5, 6)
	times, values := h.Rows()
	if len(times) != 4 || !math.IsNaN(values[0][2]) || !math.IsNaN(values[1][2]) || values[0][3] != 5 {
		t.Errorf("got %v %v, want a row without values before the last", times, values)
	}
}

func TestHistoryKeepsPausesWhenThinned(t *testing.T) {
	h := NewHistory(1, 64, 5*time.Second)
	at := noon
	for i := range 600 {
		at = at.Add(time.Second)
		if i == 20 {
			at = at.Add(2 * time.Hour)
		}
		h.Add(at, 1)
	}
	times, values := h.Rows()
	breaks := 0
	for i, v := range values[0] {
		if math.IsNaN(v) {
			breaks++
			if times[i] < Seconds(noon)+19 || times[i] > Seconds(noon)+7300 {
				t.Errorf("a break at %v", times[i])
			}
		}
	}
	if breaks != 1 {
		t.Errorf("%d breaks, want 1", breaks)
	}
}

func TestHistoryIgnoresWhatIsNotLater(t *testing.T) {
	h := NewHistory(1, 100, 0)
	h.Add(noon, 1)
	h.Add(noon, 2)
	h.Add(noon.Add(-time.Second), 3)
	h.Add(noon.Add(time.Hour), 4)
	if times, values := h.Rows(); len(times) != 2 || !slices.Equal(values[0], []float64{1, 4}) {
		t.Errorf("got %v %v, want 1 and 4", times, values)
	}
}

func TestHistoryAddsWithoutAllocation(t *testing.T) {
	h, at := NewHistory(3, 256, 5*time.Second), noon
	got := testing.AllocsPerRun(2000, func() {
		at = at.Add(time.Second)
		h.Add(at, 1, 2, 3)
	})
	if got != 0 {
		t.Errorf("%v allocations a row", got)
	}
}
