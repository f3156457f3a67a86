package journey

import (
	"fmt"
	"slices"

	"github.com/throng-sim/throng/engine/importer"
)

// align finds the requests that two recordings have in common, in order.
func (b *builder) align() {
	v := b.visits[0]
	v.twin = make([]int, len(v.calls))
	for i := range v.twin {
		v.twin[i] = -1
	}
	if len(b.visits) < 2 {
		return
	}
	w := b.visits[1]
	used := make([]bool, len(w.calls))
	for i, j := range longest(v.calls, w.calls) {
		if j >= 0 {
			v.twin[i], used[j] = j, true
		}
	}
	for i, c := range v.calls {
		if v.twin[i] < 0 {
			c.note("only in the first recording")
		}
	}
	for j, c := range w.calls {
		if !used[j] {
			b.draft.Dropped = append(b.draft.Dropped, importer.Dropped{What: c.step.ID, Reason: "only in the second recording", Count: 1})
		}
	}
	if len(b.visits) > 2 {
		b.draft.Notes = append(b.draft.Notes, fmt.Sprintf("Only the first two of %d recordings were compared; the others contribute their pauses.", len(b.visits)))
	}
}

// longest returns, for each call of a, the index of its partner in b or -1: the longest common subsequence by method, host and
// path. Very long recordings are matched greedily instead.
func longest(a, b []*call) []int {
	const most = 4_000_000 // cells
	pairs := make([]int, len(a))
	for i := range pairs {
		pairs[i] = -1
	}
	if len(a)*len(b) > most {
		const ahead = 50
		next := 0
		for i, c := range a {
			for j := next; j < len(b) && j < next+ahead; j++ {
				if matches(c, b[j]) {
					pairs[i], next = j, j+1
					break
				}
			}
		}
		return pairs
	}
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width)
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if matches(x, y) {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case matches(a[i], b[j]):
			pairs[i] = j
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

func matches(a, b *call) bool {
	return a.Method == b.Method && a.service == b.service && slices.Equal(a.shape, b.shape) && a.operation() == b.operation()
}

// twin returns the same value of the same request in the other recording, or nil.
func (b *builder) twin(c *call, s *slot) *slot {
	v := b.visits[0]
	if v.twin == nil || v.twin[c.index] < 0 {
		return nil
	}
	for _, other := range b.visits[1].calls[v.twin[c.index]].slots {
		if other.place == s.place && other.at == s.at {
			return other
		}
	}
	return nil
}
