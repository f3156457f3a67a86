package setup

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestNothingIsClipped draws the screen in all sizes of text.
func TestNothingIsClipped(t *testing.T) {
	s := shown(t, &fakeDesk{remote: "db.example.com/app"})
	s.until("cycle about 50s")
	s.Fit("setup", s.screen.Content(), scaled)
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
