package chart

import (
	"math"
	"slices"
	"time"
)

// History is a growing series of rows, a time and one value per series, with a maximum number of rows. If it is full, it merges neighboring
// rows of the older half into two rows with each series' lowest and highest value. The newer half is not changed. It belongs to one
// goroutine.
type History struct {
	limit  int
	gap    float64 // seconds
	width  float64 // width of the merged buckets in seconds; 0 before the first merge
	times  []float64
	values [][]float64
}

// leastRows makes sure that the newer half and two buckets of the older one fill less than three quarters, so that merging always ends.
const leastRows = 64

// NewHistory returns an empty history of at most rows rows, and at least 64. Between rows further apart than gap it adds a row of NaN,
// which breaks the line; 0 never does.
func NewHistory(series, rows int, gap time.Duration) *History {
	rows = max(rows, leastRows)
	h := &History{limit: rows, gap: gap.Seconds(), times: make([]float64, 0, rows), values: make([][]float64, series)}
	for i := range h.values {
		h.values[i] = make([]float64, 0, rows)
	}
	return h
}

// Add appends a row; a missing value is NaN. It ignores a row that is not later than the newest.
func (h *History) Add(at time.Time, values ...float64) {
	t := Seconds(at)
	if n := len(h.times); n > 0 {
		last := h.times[n-1]
		if t <= last {
			return
		}
		if len(h.times)+2 > h.limit {
			h.thin()
		}
		if h.gap > 0 && t-last > h.gap {
			h.append(last+h.gap/2, nil)
		}
	}
	h.append(t, values)
}

// Cut removes the rows from a time on.
func (h *History) Cut(from time.Time) {
	n, _ := slices.BinarySearch(h.times, Seconds(from))
	h.times = h.times[:n]
	for i := range h.values {
		h.values[i] = h.values[i][:n]
	}
}

// Rows returns the times in Unix seconds and the values by series, as in Data. They are valid until the next Add.
func (h *History) Rows() (times []float64, values [][]float64) { return h.times, h.values }

func (h *History) append(t float64, values []float64) {
	h.times = append(h.times, t)
	for i := range h.values {
		v := math.NaN()
		if i < len(values) {
			v = values[i]
		}
		h.values[i] = append(h.values[i], v)
	}
}

// thin merges the older half until a quarter of the rows is free.
func (h *History) thin() {
	old := len(h.times) / 2
	if h.width == 0 {
		h.width = 4 * (h.times[old-1] - h.times[0]) / float64(old)
	}
	for {
		kept := h.merge(old)
		h.times = slices.Delete(h.times, kept, old)
		for i := range h.values {
			h.values[i] = slices.Delete(h.values[i], kept, old)
		}
		old = kept
		if len(h.times) <= h.limit*3/4 {
			return
		}
		h.width *= 2
	}
}

// merge rewrites the first old rows in place, in buckets of h.width, and returns the number of rows left.
func (h *History) merge(old int) int {
	kept := 0
	for i := 0; i < old; {
		end, bucket := i+1, math.Floor(h.times[i]/h.width)
		for end < old && math.Floor(h.times[end]/h.width) == bucket {
			end++
		}
		kept = h.mergeRows(i, end, kept)
		i = end
	}
	return kept
}

// mergeRows writes the rows i to end as at most four rows at index to, and returns the index after them: a break before, two rows of
// extremes, a break after. Breaks in between are too short to be visible.
func (h *History) mergeRows(i, end, to int) int {
	first, last := i, end-1
	for first < end && h.broken(first) {
		first++
	}
	for last > first && h.broken(last) {
		last--
	}
	if first == end {
		h.copyRow(to, i)
		return to + 1
	}
	behind := last < end-1
	behindAt, firstAt, lastAt := h.times[end-1], h.times[first], h.times[last]
	if i < first {
		h.copyRow(to, i)
		to++
	}
	for _, v := range h.values {
		early, late := extremes(v[first : last+1])
		v[to] = early
		if last > first {
			v[to+1] = late
		}
	}
	h.times[to] = firstAt
	to++
	if last > first {
		h.times[to] = lastAt
		to++
	}
	if behind {
		h.times[to] = behindAt
		for _, v := range h.values {
			v[to] = math.NaN()
		}
		to++
	}
	return to
}

func (h *History) copyRow(to, from int) {
	h.times[to] = h.times[from]
	for _, v := range h.values {
		v[to] = v[from]
	}
}

// broken reports whether a row has no values.
func (h *History) broken(i int) bool {
	for _, v := range h.values {
		if !math.IsNaN(v[i]) {
			return false
		}
	}
	return true
}

// extremes returns the lowest and the highest value in the order in which they occur, or NaN.
func extremes(values []float64) (early, late float64) {
	low, high := -1, -1
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if low < 0 || v < values[low] {
			low = i
		}
		if high < 0 || v > values[high] {
			high = i
		}
	}
	if low < 0 {
		return math.NaN(), math.NaN()
	}
	return values[min(low, high)], values[max(low, high)]
}
