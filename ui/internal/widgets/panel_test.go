package widgets

import (
	"image/color"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestGround checks that the three parts of a panel's background leave no gap, and that the plain one does not reach
// the rounded corners.
func TestGround(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
	g, round := newGround(), theme.InputRadiusSize()
	end := func(r *canvas.Rectangle) float32 { return r.Position().Y + r.Size().Height }
	for _, height := range []float32{1, round, 1.5 * round, 2 * round, 3 * round, 4 * round, 33.3, 400} {
		g.content.Resize(fyne.NewSize(200, height))
		if g.upper.Position().Y != 0 || end(g.lower) != height {
			t.Errorf("%v high: it goes from %v to %v", height, g.upper.Position().Y, end(g.lower))
		}
		if g.rest.Position().Y > end(g.upper) || end(g.rest) < g.lower.Position().Y {
			t.Errorf("%v high: there is a gap next to %v to %v", height, g.rest.Position().Y, end(g.rest))
		}
		if corner := min(round, height/2); g.rest.Position().Y < corner || end(g.rest) > height-corner+0.001 {
			t.Errorf("%v high: the corners are hidden by %v to %v", height, g.rest.Position().Y, end(g.rest))
		}
	}
}

// TestRenewedRenderersKeepTheLayout checks that a panel looks the same after the toolkit has dropped its renderer, as it does with widgets that
// were hidden for a minute.
func TestRenewedRenderersKeepTheLayout(t *testing.T) {
	uitest.Start(t)
	inner := &narrowest{least: 1000}
	p := NewPanel("Title", container.New(inner, canvas.NewRectangle(color.Black)))
	w := test.NewTempWindow(t, p)
	w.Resize(fyne.NewSize(300, 200))
	inner.least = 1000
	again := p.CreateRenderer()
	again.Refresh()
	again.Objects()[0].Refresh()
	if inner.least < 200 {
		t.Errorf("the content was laid out in a width of %v", inner.least)
	}
}

// narrowest is a layout that remembers the smallest width.
type narrowest struct{ least float32 }

func (n *narrowest) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(10, 10) }

func (n *narrowest) Layout(_ []fyne.CanvasObject, size fyne.Size) { n.least = min(n.least, size.Width) }
