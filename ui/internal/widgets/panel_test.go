package widgets

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
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
