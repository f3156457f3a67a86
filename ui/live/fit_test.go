package live

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestNothingIsClipped draws the screen in all sizes of text.
func TestNothingIsClipped(t *testing.T) {
	st := perform(t, running())
	st.Fit("live", st.Content(), scaled)
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
