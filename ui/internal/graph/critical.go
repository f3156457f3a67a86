package graph

import (
	"math"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// joint is a place where lines begin and end, on a grid of quarters of a pixel.
type joint struct{ x, y int }

func jointOf(p pen.Point) joint {
	return joint{int(math.Round(float64(p.X) * 4)), int(math.Round(float64(p.Y) * 4))}
}

// critical says which wires lead from one critical step to the next: those that can be reached from the right of one
// without passing another step, and from which the left of one can be reached. Lines that begin at no step begin a
// block, and those that end at none end it.
func (l *layout) critical(states []State) []bool {
	on := make([]bool, len(l.wires))
	ahead, back := map[joint]bool{}, map[joint]bool{} // joints that the path comes from, and that it goes to
	lefts, rights := map[joint]bool{}, map[joint]bool{}
	any := false
	for i := range l.boxes {
		b := &l.boxes[i]
		left, right := jointOf(pen.Point{X: b.x, Y: b.y + l.port()}), jointOf(pen.Point{X: b.x + b.w, Y: b.y + l.port()})
		lefts[left], rights[right] = true, true
		if states[i].Critical {
			ahead[right], back[left], any = true, true, true
		}
	}
	if !any {
		return on
	}
	begins, ends := map[joint]bool{}, map[joint]bool{}
	for i := range l.wires {
		from, to := l.ends(&l.wires[i])
		begins[from], ends[to] = true, true
	}
	for i := range l.wires {
		from, to := l.ends(&l.wires[i])
		if !rights[from] && !ends[from] {
			ahead[from] = true
		}
		if !lefts[to] && !begins[to] {
			back[to] = true
		}
	}
	for changed := true; changed; { // mostly once: wires are in the order of the chain
		changed = false
		for i := range l.wires {
			if from, to := l.ends(&l.wires[i]); ahead[from] && !ahead[to] && !lefts[to] {
				ahead[to], changed = true, true
			}
		}
		for i := len(l.wires) - 1; i >= 0; i-- {
			if from, to := l.ends(&l.wires[i]); back[to] && !back[from] && !rights[from] {
				back[from], changed = true, true
			}
		}
	}
	for i := range l.wires {
		from, to := l.ends(&l.wires[i])
		on[i] = ahead[from] && back[to]
	}
	return on
}

// ends are where a wire begins and ends.
func (l *layout) ends(w *wire) (from, to joint) {
	return jointOf(l.points[w.from]), jointOf(l.points[w.to-1])
}
