package crowd

import (
	"testing"

	"pgregory.net/rapid"
)

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		agents int
		w, h   float32
		each   int
		pitch  float32
	}{
		{1, 800, 300, 1, 36},
		{372, 800, 300, 1, 24},
		{372, 400, 100, 1, 10},
		{10_000, 820, 320, 1, 4},
		{100_000, 820, 320, 50, 11},
		{1_000_000, 820, 320, 500, 11},
		{1_000_000, 2400, 900, 50, 10},
	} {
		f := field{agents: c.agents, w: c.w, h: c.h}
		f.arrange()
		if got := f.level(); got != (level{c.each, c.pitch}) {
			t.Errorf("%d agents in %v × %v: %+v", c.agents, c.w, c.h, got)
		}
		last := f.levels[len(f.levels)-1]
		if last.each != 1 || last.pitch < zoomPitch {
			t.Errorf("%d agents are zoomed to %+v at most", c.agents, last)
		}
		for i, l := range f.levels[1:] {
			if before := f.levels[i]; l.each > before.each || l.each == before.each && l.pitch <= before.pitch {
				t.Errorf("%d agents: level %+v comes behind %+v", c.agents, l, before)
			}
		}
	}
}

// TestAllIsInViewAtFirst checks that the first zoom level shows all agents and wastes little room.
func TestAllIsInViewAtFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := field{agents: rapid.IntRange(1, 2_000_000).Draw(t, "agents")}
		f.w, f.h = float32(rapid.IntRange(60, 2600).Draw(t, "w")), float32(rapid.IntRange(40, 1400).Draw(t, "h"))
		f.arrange()
		if f.scrolls() {
			t.Fatalf("%d agents at %+v take %v of %v", f.agents, f.level(), f.height(), f.h)
		}
	})
}

// TestAPointIsFoundAgain checks that the cell found at a point is drawn there, at every zoom level and scroll position.
func TestAPointIsFoundAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := field{agents: rapid.IntRange(1, 1_000_000).Draw(t, "agents"), w: 820, h: 320}
		f.arrange()
		f.zoomBy(rapid.IntRange(0, len(f.levels)).Draw(t, "zoom"), 100, 100)
		f.scroll(float32(rapid.Float64Range(0, float64(f.height())).Draw(t, "offset")))
		x, y := float32(rapid.Float64Range(0, 819).Draw(t, "x")), float32(rapid.Float64Range(0, 319).Draw(t, "y"))
		cell := f.find(x, y)
		if cell == none {
			return
		}
		left, top := f.at(cell)
		pitch := f.level().pitch
		if x < left-0.1 || x > left+pitch+0.1 || y < top-0.1 || y > top+pitch+0.1 {
			t.Fatalf("%v, %v hits cell %d, which is at %v, %v", x, y, cell, left, top)
		}
		if from, to := f.visible(); cell < from || cell >= to {
			t.Fatalf("cell %d is hit but not drawn: %d to %d are", cell, from, to)
		}
		from, to := f.span(cell)
		if from >= to || to > f.agents {
			t.Fatalf("cell %d has the agents %d to %d of %d", cell, from, to, f.agents)
		}
	})
}

// TestZoomKeepsThePlace checks that the agent under the pointer stays near it.
func TestZoomKeepsThePlace(t *testing.T) {
	f := field{agents: 1_000_000, w: 820, h: 320}
	f.arrange()
	at := f.find(300, 160)
	place, _ := f.span(at)
	for f.zoomBy(1, 300, 160) {
		from, to := f.visible()
		each := f.level().each
		if place/each < from || place/each >= to {
			t.Fatalf("at %+v agent %d is out of view: %d to %d are in it", f.level(), place, from*each, to*each)
		}
	}
	if f.level() != (level{1, zoomPitch}) {
		t.Errorf("zooming in ends at %+v", f.level())
	}
	for f.zoomBy(-1, 300, 160) {
	}
	if f.zoom != 0 || f.offset != 0 {
		t.Errorf("zooming out ends at level %d, scrolled by %v", f.zoom, f.offset)
	}
}

func TestOnlySome(t *testing.T) {
	f := field{agents: 1000, only: []int{3, 500, 999}, w: 800, h: 300}
	f.arrange()
	if f.shown() != 3 || f.agent(1) != 500 || f.place(999) != 2 || f.place(4) != none || f.place(1000) != none || f.place(-1) != none {
		t.Errorf("%d shown, place 1 has %d", f.shown(), f.agent(1))
	}
	f.only = []int{}
	f.arrange()
	if f.find(1, 1) != none || f.cells() != 0 {
		t.Error("no agent is shown, but one is found")
	}
}

func TestRoundNumbersOfAgents(t *testing.T) {
	n, want := 1, []int{2, 5, 10, 20, 50, 100, 200}
	for _, w := range want {
		before := n
		if n = above(n); n != w {
			t.Fatalf("above %d is %d, want %d", before, n, w)
		}
		if below(n) != before {
			t.Errorf("below %d is %d, want %d", n, below(n), before)
		}
	}
}
