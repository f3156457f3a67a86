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

// TestGround checks that the parts of a panel's background leave no gap, and that the plain ones do not reach the round corners.
func TestGround(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
	g, round := newGround(), theme.InputRadiusSize()
	inside := func(r *canvas.Rectangle, x, y float32) bool {
		at, size := r.Position(), r.Size()
		return x >= at.X && x < at.X+size.Width && y >= at.Y && y < at.Y+size.Height
	}
	for _, size := range []fyne.Size{{Width: 200, Height: 1}, {Width: 200, Height: round}, {Width: 200, Height: 3 * round}, {Width: 33.3, Height: 99.7}, {Width: 1.5 * round, Height: 50}} {
		g.content.Resize(size)
		corner := min(round, size.Width/2, size.Height/2)
		for x := float32(0.25); x < size.Width; x += 0.5 {
			for y := float32(0.25); y < size.Height; y += 0.5 {
				plain := inside(g.top, x, y) || inside(g.rest, x, y) || inside(g.bottom, x, y)
				covered := plain
				for _, c := range g.corners {
					covered = covered || inside(c, x, y)
				}
				edge := min(x, size.Width-x) < corner-0.5 && min(y, size.Height-y) < corner-0.5
				if !covered || plain && edge {
					t.Fatalf("%v: at %v, %v: covered %v, by a plain part %v", size, x, y, covered, plain)
				}
			}
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
