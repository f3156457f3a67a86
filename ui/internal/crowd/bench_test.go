package crowd

import (
	"fmt"
	"testing"

	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
)

// BenchmarkDraw draws a grid in a window of the usual size, with and without changed states.
func BenchmarkDraw(b *testing.B) {
	for _, n := range []int{372, 10_000, 1_000_000} {
		for _, zoom := range []int{0, 6} {
			for _, changed := range []bool{true, false} {
				b.Run(fmt.Sprintf("agents=%d/zoom=%d/changed=%t", n, zoom, changed), func(b *testing.B) {
					test.NewTempApp(b).Settings().SetTheme(theme.DefaultTheme())
					g := put(b, sample(n))
					g.Zoom(zoom)
					g.draw(820, 320)
					b.ReportAllocs()
					for b.Loop() {
						g.stale = changed
						g.draw(820, 320)
					}
				})
			}
		}
	}
}

// BenchmarkSet sets and counts the states of a million agents. Only the last one differs.
func BenchmarkSet(b *testing.B) {
	test.NewTempApp(b).Settings().SetTheme(theme.DefaultTheme())
	g := put(b, sample(1_000_000))
	one, other := sample(1_000_000), sample(1_000_000)
	other[999_999] = engine.AgentRetired
	b.ReportAllocs()
	for b.Loop() {
		g.Set(other)
		g.Set(one)
	}
}
