package compare

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestNothingIsClipped checks that no text of the screen is clipped at any text size.
func TestNothingIsClipped(t *testing.T) {
	d := four()
	q, s := start(t, d)
	wants(t, q, s, d, "b", "d")
	q.Fit("compare", s.Content(), scaled)
	s.result.over.Pick(overElapsed)
	q.Until("the metrics are read", func() bool { return s.result.measures.Selected == "Throughput" })
	q.Fit("compare-elapsed", s.Content(), scaled)
}

// TestLargeTextNeedsNoScrolling checks that with large text the run selectors take two lines and fit a window of the
// usual width.
func TestLargeTextNeedsNoScrolling(t *testing.T) {
	d := four()
	q, s := start(t, d)
	wants(t, q, s, d, "b", "d")
	win := fyne.CurrentApp().Driver().CanvasForObject(s.Content()).(interface{ Resize(fyne.Size) })
	fyne.CurrentApp().Settings().SetTheme(scaled(1.5))
	const width = 1280 - 130*1.5
	win.Resize(fyne.NewSize(width, 770))
	q.Drain()
	if least := s.Content().MinSize().Width; least > width {
		t.Errorf("the minimum width is %v, the window has %v", least, width)
	}
	place := func(i int) float32 {
		return fyne.CurrentApp().Driver().AbsolutePositionForObject(s.picks[i]).Y
	}
	if place(0) != place(1) || place(2) <= place(1) {
		t.Errorf("the run selectors are at %v, %v and %v from the top", place(0), place(1), place(2))
	}
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
