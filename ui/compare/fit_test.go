package compare

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestNothingIsClipped draws the screen in all sizes of text.
func TestNothingIsClipped(t *testing.T) {
	d := four()
	q, s := start(t, d)
	wants(t, q, s, d, "b", "d")
	q.Fit("compare", s.Content(), scaled)
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
