package people

import (
	"container/heap"
	"math"
	"slices"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// keyed is a row with its key in a draw.
type keyed struct {
	row int64
	key float64
}

// before orders rows by their keys.
func (k keyed) before(other keyed) bool {
	return k.key < other.key || k.key == other.key && k.row < other.row
}

// rowKey returns the key of a row: the rows with the smallest keys are a weighted draw without replacement (Efraimidis and
// Spirakis, 2006: ln(u)/weight, with u a uniform number of the seed and the row). A row's key depends on no other row, so
// that a larger draw adds rows to a smaller one.
func rowKey(seed uint64, row int64, weight float64) float64 {
	u := (float64(draw.Key{}.Text("population").Int(seed).Int(uint64(row)).Source().Uint64()>>11) + 0.5) / (1 << 53)
	return -math.Log(u) / weight
}

// reservoir holds the rows with the smallest keys so far, the largest of them first.
type reservoir struct {
	most int
	rows []keyed
}

// offer takes a row if it is among the smallest.
func (r *reservoir) offer(k keyed) {
	switch {
	case len(r.rows) < r.most:
		heap.Push(r, k)
	case r.most > 0 && k.before(r.rows[0]):
		r.rows[0] = k
		heap.Fix(r, 0)
	}
}

// drawn returns the rows in the order of their keys.
func (r *reservoir) drawn() []int64 {
	slices.SortFunc(r.rows, func(a, b keyed) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	rows := make([]int64, len(r.rows))
	for i, k := range r.rows {
		rows[i] = k.row
	}
	return rows
}

// Len implements heap.Interface.
func (r *reservoir) Len() int { return len(r.rows) }

// Less implements heap.Interface.
func (r *reservoir) Less(i, j int) bool { return r.rows[j].before(r.rows[i]) }

// Swap implements heap.Interface.
func (r *reservoir) Swap(i, j int) { r.rows[i], r.rows[j] = r.rows[j], r.rows[i] }

// Push implements heap.Interface.
func (r *reservoir) Push(x any) { r.rows = append(r.rows, x.(keyed)) }

// Pop implements heap.Interface.
func (r *reservoir) Pop() any {
	last := r.rows[len(r.rows)-1]
	r.rows = r.rows[:len(r.rows)-1]
	return last
}
