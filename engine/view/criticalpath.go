package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// mostNamed limits how many steps of the critical path are named. A named step takes at least leastNamed of its time.
const (
	mostNamed  = 4
	leastNamed = 0.05
)

// CriticalPath is the critical path of a chain: the longest path by the mean time of its steps. It determines how long a session takes.
type CriticalPath struct {
	Paths map[string]bool // of the steps on the path
	Took  time.Duration   // by the steps on the path
	All   time.Duration   // by all steps
	Names []string        // of the slowest outermost steps, in execution order
}

// length is the longest path through a step or block.
type length struct {
	took  time.Duration
	paths []string // the steps inside, in execution order
}

// FindCriticalPath finds the critical path (critical path method, Kelley and Walker, 1959). each returns the time that a step itself takes in a
// session, over all iterations. Of the branches of a condition, the longer one counts.
func FindCriticalPath(g *engine.Graph, each func(path string) time.Duration) CriticalPath {
	c := CriticalPath{Paths: map[string]bool{}}
	g.Walk(func(s *engine.GraphStep) { c.All += each(s.Path) })
	var parts []leg
	for _, segment := range g.Segments {
		longest, steps := longestOf(segment, each)
		c.Took += longest.took
		for _, path := range longest.paths {
			c.Paths[path] = true
		}
		parts = append(parts, steps...)
	}
	if c.Took == 0 {
		return CriticalPath{All: c.All}
	}
	order := slices.Clone(parts)
	slices.SortStableFunc(order, func(a, b leg) int { return cmp.Compare(b.took, a.took) })
	least := time.Duration(leastNamed * float64(c.Took))
	if len(order) > mostNamed {
		least = max(least, order[mostNamed-1].took)
	}
	for _, p := range parts {
		if p.took >= least && len(c.Names) < mostNamed {
			c.Names = append(c.Names, p.label)
		}
	}
	return c
}

// leg is a step on the longest path through a segment.
type leg struct {
	label string
	took  time.Duration
}

// longestOf returns the longest path through steps that depend on each other.
func longestOf(steps []engine.GraphStep, each func(string) time.Duration) (length, []leg) {
	own := make([]length, len(steps))
	until := make([]time.Duration, len(steps)) // the end of each step, from the start of the segment
	before := make([]int, len(steps))          // the step that each step waited for last; -1: none
	done := make([]bool, len(steps))
	var end func(i int) time.Duration
	end = func(i int) time.Duration {
		if done[i] {
			return until[i]
		}
		done[i], before[i] = true, -1
		own[i] = longestIn(&steps[i], each)
		start := time.Duration(0)
		for _, k := range steps[i].After {
			if e := end(k); before[i] < 0 || e > start {
				start, before[i] = e, k
			}
		}
		until[i] = start + own[i].took
		return until[i]
	}
	last := -1
	for i := range steps {
		if e := end(i); last < 0 || e > until[last] {
			last = i
		}
	}
	var out length
	var legs []leg
	for i := last; i >= 0; i = before[i] {
		out.took += own[i].took
		out.paths = append(slices.Clone(own[i].paths), out.paths...)
		legs = append(legs, leg{steps[i].Label, own[i].took})
	}
	slices.Reverse(legs)
	return out, legs
}

// longestIn returns a step with the longest of its inner blocks.
func longestIn(s *engine.GraphStep, each func(string) time.Duration) length {
	out := length{each(s.Path), []string{s.Path}}
	var inner length
	for k := range s.Inner {
		var block length
		for _, segment := range s.Inner[k].Segments {
			way, _ := longestOf(segment, each)
			block.took += way.took
			block.paths = append(block.paths, way.paths...)
		}
		if k == 0 || block.took > inner.took {
			inner = block
		}
	}
	out.took += inner.took
	out.paths = append(out.paths, inner.paths...)
	return out
}
