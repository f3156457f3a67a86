package runs

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestNothingIsClipped checks that no text of the screen is clipped at any text size.
func TestNothingIsClipped(t *testing.T) {
	q, s, _ := start(t, two())
	q.Fit("checkpoints", s.Content(), scaled)
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
