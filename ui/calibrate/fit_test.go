package calibrate

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestNothingIsClipped draws the screen in all sizes of text.
func TestNothingIsClipped(t *testing.T) {
	g := newStage(t, func(d *fakeDesk) { d.earlier = []Found{found(19), found(21)} })
	g.Until("the result", func() bool { return g.shows("Bound by CPU") })
	g.Fit("calibrate", g.screen.Content(), scaled)
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
