package chain

import (
	"slices"

	"github.com/throng-sim/throng/engine/script"
)

// segment is a stretch of a block that begins when all above it has ended: one step, or a group of neighbours that
// are ordered by what they name only.
type segment struct {
	from, to int           // of the block's steps
	order    []int         // of a group: its steps in file order, dependencies first
	inOrder  bool          // of a group: that is the file order
	shape    *script.Shape // of a group: what previous shows of it
}

// grouped reports whether the steps of the segment may run beside each other.
func (s *segment) grouped() bool { return s.shape != nil }

// node is the place of a step in a group, or of one that would be in one if it had neighbours.
type node struct {
	named  []int         // what depends_on names, in its order; earlier segments too
	shape  *script.Shape // of several, as previous shows them
	waits  []int         // those of the group that must have ended
	next   []int         // those of the group that wait for it
	before set           // all of the group that have ended when it begins, counted from the group's first
	beside bool          // another of the group may run at the same time
}

// set is a set of small numbers.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s set) has(i int) bool { return i >= 0 && i/64 < len(s) && s[i/64]&(1<<(i%64)) != 0 }

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s set) addAll(other set) {
	for i, word := range other {
		s[i] |= word
	}
}

// Plan is the order of a block for people: its segments one after another, and the longest row of steps that wait
// for one another.
type Plan struct {
	Segments [][]Planned // several of one segment run beside each other
	Longest  []string
}

// Planned is a step with the names of those in its segment that it waits for, and the plans of the blocks inside it.
type Planned struct {
	*Step
	After []string
	Inner []Plan
}

// Plan returns the order of the chain's steps.
func (c *Chain) Plan() Plan { return c.Body.plan() }

func (b *Block) plan() Plan {
	var p Plan
	for i := range b.segments {
		seg := &b.segments[i]
		var steps []Planned
		for _, s := range b.Steps[seg.from:seg.to] {
			steps = append(steps, b.planned(s))
		}
		p.Segments = append(p.Segments, steps)
		p.Longest = append(p.Longest, b.longest(seg)...)
	}
	return p
}

func (b *Block) planned(s *Step) Planned {
	p := Planned{Step: s}
	if s.node != nil {
		for _, i := range s.node.waits {
			p.After = append(p.After, b.Steps[i].Name)
		}
	}
	if nest, ok := s.action.(nest); ok {
		for _, inner := range nest.blocks() {
			p.Inner = append(p.Inner, inner.plan())
		}
	}
	return p
}

// longest is the longest row of steps of a segment that wait for one another, those that ask somebody counting most;
// the first in the file of several.
func (b *Block) longest(seg *segment) []string {
	if !seg.grouped() {
		return []string{b.Steps[seg.from].Name}
	}
	length, by := make([]int, seg.to-seg.from), make([]int, seg.to-seg.from)
	last := -1
	for _, i := range seg.order {
		at, before := i-seg.from, 0
		by[at] = -1
		for _, j := range b.Steps[i].node.waits {
			if n := length[j-seg.from]; n > before {
				before, by[at] = n, j-seg.from
			}
		}
		length[at] = before + b.Steps[i].weight()
		if last < 0 || length[at] > length[last] {
			last = at
		}
	}
	var names []string
	for at := last; at >= 0; at = by[at] {
		names = append(names, b.Steps[seg.from+at].Name)
	}
	slices.Reverse(names)
	return names
}

// weight is how long a step is likely to take, compared with others.
func (s *Step) weight() int {
	switch s.action.(type) {
	case asker, *subchain, *wait:
		return mostSteps // more than all that ask nobody
	}
	return 1
}
