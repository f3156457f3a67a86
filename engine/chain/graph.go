package chain

import (
	"slices"

	"github.com/throng-sim/throng/engine/internal/bitset"
	"github.com/throng-sim/throng/engine/script/value"
)

// segment is a stretch of a block that begins when everything above it has ended: one step, or a group of adjacent
// steps ordered only by their dependencies.
type segment struct {
	from, to int          // positions in the block
	order    []int        // for a group: its steps in file order, dependencies first
	inOrder  bool         // for a group: whether that is the file order
	shape    *value.Shape // for a group: the steps that previous shows
}

// grouped reports whether the steps of the segment may run in parallel.
func (s *segment) grouped() bool { return s.shape != nil }

// node describes a step in a group, or one that would form a group with neighbors.
type node struct {
	named      []int        // names in depends_on, in order, including those of earlier segments
	shape      *value.Shape // if there are several, as previous shows them
	waits      []int        // steps of the group that must end first
	next       []int        // steps of the group that wait for it
	before     bitset.Set   // steps of the group that have ended when it begins, counted from the group's first
	parallelTo bool         // another step of the group may run at the same time
}

// Plan is the order of a block for display: its segments in order, and the longest path of dependent steps.
type Plan struct {
	Segments [][]Planned // several steps of one segment run in parallel
	Longest  []string
}

// Planned is a step with its dependencies in the segment, and the plans of its inner blocks.
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

// longest returns the longest path of dependent steps in a segment. Steps that send requests count most; ties go to
// the first in the file.
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

// weight is the likely duration of a step relative to others.
func (s *Step) weight() int {
	switch s.action.(type) {
	case asker, *subchain, *wait:
		return maxChainSteps // more than all steps without requests
	}
	return 1
}
