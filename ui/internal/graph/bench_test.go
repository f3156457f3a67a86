package graph

import (
	"fmt"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
)

var benchmarks = []struct {
	name  string
	graph engine.Graph
}{
	{"shopping", sample(shopping)},
	{"long=500", long(500)},
	{"crowd=500", crowd(500)},
	{"long=1000", long(1000)},
	{"crowd=1000", crowd(1000)},
	{"dense", dense()},
}

// BenchmarkDraw draws a graph in a window of the usual size.
func BenchmarkDraw(b *testing.B) {
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) {
			test.NewTempApp(b).Settings().SetTheme(theme.DefaultTheme())
			s := put(b, bench.graph, 1100, 400)
			b.ReportAllocs()
			for b.Loop() {
				s.sheet.draw(1320, 600)
			}
		})
	}
}

func BenchmarkArrange(b *testing.B) {
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				arrange(&bench.graph, testSizes, 900)
			}
		})
	}
}

// BenchmarkSet shows a chain with the states of its steps, as when a run is opened.
func BenchmarkSet(b *testing.B) {
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) {
			test.NewTempApp(b).Settings().SetTheme(theme.DefaultTheme())
			g := New(400)
			w := test.NewWindow(g)
			b.Cleanup(w.Close)
			w.Resize(fyne.NewSize(1100, 400))
			n := 0
			g.Mark(func(*engine.GraphStep) State { n++; return State{Line: fmt.Sprint(n, " ms"), Critical: n%2 == 0} })
			b.ReportAllocs()
			for b.Loop() {
				g.Set(bench.graph)
				g.Mark(func(*engine.GraphStep) State { n++; return State{Line: fmt.Sprint(n, " ms"), Critical: n%2 == 0} })
			}
		})
	}
}
