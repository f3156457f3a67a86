package graph

import (
	"cmp"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/pen"
)

const (
	mostEdges = 2000 // of groups: more are not drawn
	mostSlots = 4000 // where they pass columns
)

// place is a step of a group in its column, or a slot where a line passes the column.
type place struct {
	step       bool
	x, y, w, h float32
	from, to   mark     // what was laid out for the step
	before     []*place // those in the column before that lines come from
	order      float64  // from the top
}

// group lays out steps that wait for each other in columns: each behind the last that it waits for, and near those that
// it waits for (Sugiyama, Tagawa and Toda, 1981; one sweep). It reports whether a single step is first.
func (l *layout) group(steps []engine.GraphStep, width float32, up int) (w, h float32, single bool) {
	g := rank(steps)
	columns := make([][]*place, g.columns)
	places := make([]*place, len(steps))
	for i := range steps {
		p := &place{step: true, from: l.mark()}
		p.w, p.h = l.step(&steps[i], width, up)
		p.to = l.mark()
		places[i] = p
		columns[g.depth[i]] = append(columns[g.depth[i]], p)
	}
	for i := range steps {
		for _, j := range g.waits[i] {
			if l.edges++; l.edges <= mostEdges {
				before := l.pass(columns, places[j], g.depth[j], g.depth[i])
				places[i].before = append(places[i].before, before)
			}
		}
	}
	for i := range steps {
		if !g.waited[i] {
			l.pass(columns, places[i], g.depth[i], g.columns)
		}
	}
	l.sort(columns)
	w, h = l.stand(columns)
	return w, h, len(columns[0]) == 1
}

// pass leads a line from a place through the columns before one, and returns its last place.
func (l *layout) pass(columns [][]*place, from *place, depth, until int) *place {
	for depth++; depth < until; depth++ {
		if l.slots++; l.slots > mostSlots {
			return from
		}
		slot := &place{h: l.slot, before: []*place{from}}
		columns[depth] = append(columns[depth], slot)
		from = slot
	}
	return from
}

// sort puts the places of each column in the order of those that their lines come from.
func (l *layout) sort(columns [][]*place) {
	for k, column := range columns {
		for i, p := range column {
			p.order = float64(i)
			if len(p.before) > 0 {
				p.order = 0
				for _, b := range p.before {
					p.order += b.order / float64(len(p.before))
				}
			}
		}
		if k > 0 {
			slices.SortStableFunc(column, func(a, b *place) int { return cmp.Compare(a.order, b.order) })
		}
		for i, p := range column {
			p.order = float64(i)
		}
	}
}

// stand places the columns, draws the lines and returns the total size.
func (l *layout) stand(columns [][]*place) (w, h float32) {
	if len(columns[0]) > 1 {
		w = l.fan
	}
	for _, column := range columns {
		wide, y := float32(0), float32(0)
		for _, p := range column {
			wide = max(wide, p.w)
		}
		for i, p := range column {
			p.x, p.y = w, y
			if p.step {
				l.shift(p.from, p.to, p.x, p.y)
			} else {
				p.w = wide
			}
			y += p.h + l.pad
			l.come(p, float32(i+1)/float32(len(column)+1))
		}
		h = max(h, y-l.pad)
		w += wide + l.gap*1.5
	}
	w -= l.gap * 1.5
	begin := pen.Point{X: 0, Y: l.port()}
	if len(columns[0]) > 1 {
		for _, p := range columns[0] {
			l.draw(true, 0.5, begin, pen.Point{X: p.x, Y: l.portOf(p)})
		}
	}
	if last := columns[len(columns)-1]; len(last) > 1 {
		for _, p := range last {
			l.draw(false, 0.5, pen.Point{X: p.x + p.w, Y: l.portOf(p)}, pen.Point{X: w, Y: l.portOf(p)}, pen.Point{X: w + l.fan, Y: begin.Y})
		}
		w += l.fan
	}
	return w, h
}

// portOf is where lines come to a place.
func (l *layout) portOf(p *place) float32 {
	if p.step {
		return p.y + l.port()
	}
	return p.y + p.h/2
}

// come draws the lines to a place. Those to another place of its column turn after another share of the way.
func (l *layout) come(p *place, share float32) {
	port := l.portOf(p)
	for _, b := range p.before {
		from := l.portOf(b)
		points := []pen.Point{{X: b.x + b.w, Y: from}, {X: p.x - l.gap*1.5, Y: from}, {X: p.x, Y: port}}
		if !p.step {
			points = append(points, pen.Point{X: p.x + p.w, Y: port})
		}
		l.draw(p.step, share, points...)
	}
}

// draw adds a line through points, level at each of them. Where it is steep it turns after a share of the way.
func (l *layout) draw(arrow bool, share float32, points ...pen.Point) {
	w := wire{from: len(l.points), arrow: arrow}
	l.points = append(l.points, points[0])
	for _, p := range points[1:] {
		l.sway(p, share)
	}
	w.to = len(l.points)
	l.wires = append(l.wires, w)
}

// ranking is the order of a group's steps.
type ranking struct {
	steps   []engine.GraphStep
	waits   [][]int    // what each waits for, but for what it waits for by way of others too
	waited  []bool     // whether others wait for it
	depth   []int      // the column that it stands in
	behind  [][]uint64 // all that it waits for, by any way
	columns int
}

func rank(steps []engine.GraphStep) *ranking {
	n := len(steps)
	r := &ranking{steps: steps, waits: make([][]int, n), waited: make([]bool, n), depth: make([]int, n), behind: make([][]uint64, n)}
	for i := range steps {
		r.visit(i)
		r.columns = max(r.columns, r.depth[i]+1)
	}
	return r
}

// visit ranks a step after those that it waits for.
func (r *ranking) visit(i int) {
	if r.behind[i] != nil {
		return
	}
	behind := make([]uint64, (len(r.steps)+63)/64)
	r.behind[i] = behind
	for _, j := range r.steps[i].After {
		r.visit(j)
		r.depth[i] = max(r.depth[i], r.depth[j]+1)
		for k, word := range r.behind[j] {
			behind[k] |= word
		}
	}
	for _, j := range r.steps[i].After {
		if behind[j/64]&(1<<(j%64)) == 0 {
			r.waits[i] = append(r.waits[i], j)
			r.waited[j] = true
		}
	}
	for _, j := range r.steps[i].After {
		behind[j/64] |= 1 << (j % 64)
	}
}
