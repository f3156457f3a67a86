package graph

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

// testSizes are roughly the sizes of the theme.
var testSizes = metrics{width: 136, height: 42, title: 18, above: 4, gap: 18, between: 22, lead: 20, tail: 14, pad: 10, fan: 26, slot: 12}

// random draws a block of at most n steps, with nested blocks.
func random(t *rapid.T, prefix string, depth int) engine.Graph {
	g := engine.Graph{Name: "do"}
	name := 0
	for range rapid.IntRange(1, 5).Draw(t, "segments") {
		var segment []engine.GraphStep
		for i := range rapid.IntRange(1, 6).Draw(t, "parallel") {
			name++
			s := engine.GraphStep{Path: fmt.Sprintf("%ss%d", prefix, name), Kind: "http"}
			for k := range i {
				if rapid.IntRange(0, 3).Draw(t, "waits") == 0 {
					s.After = append(s.After, k)
				}
			}
			if depth > 0 && rapid.IntRange(0, 4).Draw(t, "nested") == 0 {
				for range rapid.IntRange(1, 2).Draw(t, "blocks") {
					s.Inner = append(s.Inner, random(t, fmt.Sprintf("%s.%d.", s.Path, len(s.Inner)), depth-1))
				}
			}
			segment = append(segment, s)
		}
		g.Segments = append(g.Segments, segment)
	}
	return g
}

// TestLinesThatComeTogetherEndSomewhere checks that the lines of several last steps meet at a common end to their
// right.
func TestLinesThatComeTogetherEndSomewhere(t *testing.T) {
	one, two := []engine.GraphStep{{Path: "a"}}, []engine.GraphStep{{Path: "b"}, {Path: "c"}}
	for _, tt := range []struct {
		segments [][]engine.GraphStep
		joined   bool
	}{{nil, false}, {[][]engine.GraphStep{one}, false}, {[][]engine.GraphStep{two}, true}, {[][]engine.GraphStep{two, one}, false}, {[][]engine.GraphStep{one, two}, true}} {
		l := arrange(&engine.Graph{Segments: tt.segments}, testSizes, 900)
		if l.joined != tt.joined {
			t.Errorf("%v: joined is %t", tt.segments, l.joined)
		}
		for _, b := range l.boxes {
			if l.joined && (l.end.X <= b.x+b.w || l.end.X > l.w) {
				t.Errorf("%v: the end at %v is not to the right of a step up to %v, in %v", tt.segments, l.end.X, b.x+b.w, l.w)
			}
		}
	}
}

// TestLayout checks that boxes do not overlap, lie inside their parents, and are to the right of their dependencies.
func TestLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := random(t, "", 2)
		l := arrange(&g, testSizes, float32(rapid.IntRange(50, 1500).Draw(t, "width")))
		places := map[string]*box{}
		for i := range l.boxes {
			places[l.boxes[i].step.Path] = &l.boxes[i]
		}
		g.Walk(func(s *engine.GraphStep) {
			if places[s.Path] == nil {
				t.Fatalf("%s has no place", s.Path)
			}
		})
		checkBoxes(t, l)
		find(&g, func(segment []engine.GraphStep) {
			for i := range segment {
				for _, k := range segment[i].After {
					if behind, before := places[segment[i].Path], places[segment[k].Path]; behind.x < before.x+before.w {
						t.Fatalf("%s is not behind %s, which it waits for", behind.step.Path, before.step.Path)
					}
				}
			}
		})
		for i := range l.wires {
			if w := &l.wires[i]; w.x0 < 0 || w.y0 < 0 || w.x1 > l.w+0.01 || w.y1 > l.h+0.01 {
				t.Fatalf("a line from %v, %v to %v, %v leaves %v × %v", w.x0, w.y0, w.x1, w.y1, l.w, l.h)
			}
		}
	})
}

// checkBoxes finds boxes that overlap or extend beyond their parent.
func checkBoxes(t *rapid.T, l *layout) {
	for i := range l.boxes {
		b := &l.boxes[i]
		left, top, right, bottom := float32(0), float32(0), l.w, l.h
		if b.up != none {
			out := &l.boxes[b.up]
			left, top, right, bottom = out.x, out.y+l.height, out.x+out.w, out.y+out.h
		}
		if b.x < left || b.y < top || b.x+b.w > right || b.y+b.h > bottom {
			t.Fatalf("%s is outside", b.step.Path)
		}
		for k := range i {
			if o := &l.boxes[k]; o.up == b.up && b.x < o.x+o.w && o.x < b.x+b.w && b.y < o.y+o.h && o.y < b.y+b.h {
				t.Fatalf("%s is on %s", b.step.Path, o.step.Path)
			}
		}
		if got := l.find(b.x+1, b.y+1); got != i {
			t.Fatalf("at %s there is %d", b.step.Path, got)
		}
	}
}

// TestRowsFitTheWidth checks that a row wraps where the width is used up.
func TestRowsFitTheWidth(t *testing.T) {
	g := long(40)
	for _, width := range []float32{400, 700, 1400} {
		l := arrange(&g, testSizes, width)
		if l.w > width {
			t.Errorf("in %v it is %v wide", width, l.w)
		}
	}
	wide, narrow := arrange(&g, testSizes, 1400), arrange(&g, testSizes, 700)
	if wide.h >= narrow.h {
		t.Errorf("%v high in a wide window, %v in a narrow one", wide.h, narrow.h)
	}
}

func TestWhatIsWaitedForAnyway(t *testing.T) {
	g := sample(`
a http
+ b http < a
+ c http < a b
+ d http
`)
	r := rank(g.Segments[0])
	if got := fmt.Sprint(r.waits, r.depth, r.waited, r.columns); got != "[[] [0] [1] []] [0 1 2 0] [true true false false] 3" {
		t.Errorf("got %s", got)
	}
}

// TestLinesReachTheirSteps checks that lines with an arrow end at the left side of a step, and that every step has one.
func TestLinesReachTheirSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := random(t, "", 1)
		l := arrange(&g, testSizes, 900)
		reached := map[int]bool{}
		for _, w := range l.wires {
			end := l.points[w.to-1]
			if i := l.find(end.X+1, end.Y); w.arrow {
				if i == none || math.Abs(float64(l.boxes[i].x-end.X)) > 0.01 {
					t.Fatalf("an arrow ends at %v", end)
				}
				reached[i] = true
			}
		}
		if len(reached) != len(l.boxes) {
			t.Fatalf("%d of %d steps are reached", len(reached), len(l.boxes))
		}
	})
}

// dense is a block with the maximum number of drawn steps. Each depends on a fifth of the steps before it.
func dense() engine.Graph {
	g := engine.Graph{Segments: [][]engine.GraphStep{make([]engine.GraphStep, engine.MostDrawn)}}
	for i := range g.Segments[0] {
		s := &g.Segments[0][i]
		s.Path = fmt.Sprint("s", i)
		for k := range i {
			if (i*31+k*17)%5 == 0 {
				s.After = append(s.After, k)
			}
		}
	}
	return g
}

// TestManyStepsAreLaidOut checks that no chain small enough to draw has more lines than can be laid out quickly.
// BenchmarkArrange measures the time.
func TestManyStepsAreLaidOut(t *testing.T) {
	layers := engine.Graph{Segments: [][]engine.GraphStep{make([]engine.GraphStep, 500)}} // each of one half waits for all of the other
	for i := range layers.Segments[0] {
		s := &layers.Segments[0][i]
		s.Path = fmt.Sprint("s", i)
		for k := range 250 {
			if i >= 250 {
				s.After = append(s.After, k)
			}
		}
	}
	for name, g := range map[string]engine.Graph{"dense": dense(), "layers": layers, "crowd": crowd(500), "long": long(500)} {
		l := arrange(&g, testSizes, 900)
		if len(l.wires) > mostEdges+mostSlots+3*engine.MostDrawn {
			t.Errorf("%s has %d lines", name, len(l.wires))
		}
	}
}
