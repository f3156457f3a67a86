package live

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestNothingIsClipped checks that no text of the screen is clipped at any text size.
func TestNothingIsClipped(t *testing.T) {
	st := perform(t, running())
	st.Fit("live", st.Content(), scaled)
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
