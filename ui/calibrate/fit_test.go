package calibrate

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestNothingIsClipped checks that no text of the screen is clipped at any text size.
func TestNothingIsClipped(t *testing.T) {
	g := newStage(t, func(d *fakeDesk) { d.earlier = []Found{found(19), found(21)} })
	g.Until("the result", func() bool { return g.shows("Bound by CPU") })
	g.FitSideways("calibrate", g.screen.Content(), scaled)
}

// TestSidesStandBelowEachOther checks that with large text the result is below the form, and that the Apply button is
// visible without scrolling sideways.
func TestSidesStandBelowEachOther(t *testing.T) {
	g := newStage(t, func(d *fakeDesk) { d.earlier = []Found{found(19)} })
	g.Until("the result", func() bool { return g.shows("Bound by CPU") })
	win := fyne.CurrentApp().Driver().CanvasForObject(g.screen.Content()).(interface{ Resize(fyne.Size) })
	place := func(o fyne.CanvasObject) fyne.Position {
		return fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
	}
	for _, c := range []struct {
		scale float32
		below bool
	}{{1, false}, {1.5, true}, {1, false}} {
		fyne.CurrentApp().Settings().SetTheme(scaled(c.scale))
		width := 1280 - 130*c.scale
		win.Resize(fyne.NewSize(width, 770))
		g.Drain()
		if least := g.screen.Content().MinSize().Width; least > width {
			t.Errorf("at %v the minimum width is %v, the window has %v", c.scale, least, width)
		}
		plan, apply := g.screen.plan.panel, g.screen.result.apply
		if below := place(apply).Y > place(plan).Y+plan.Size().Height; below != c.below {
			t.Errorf("at %v: the result is below is %v, want %v", c.scale, below, c.below)
		}
		if right := place(apply).X + apply.Size().Width; right > width {
			t.Errorf("at %v Apply reaches to %v of %v", c.scale, right, width)
		}
	}
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
