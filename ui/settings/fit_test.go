package settings

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestNothingIsClipped checks that no text of the screen is clipped at any text size.
func TestNothingIsClipped(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.Fit("settings", s.screen.Content(), scaled)
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
