package settings

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestNothingIsClipped checks that no text of the screen is clipped at any text size.
func TestNothingIsClipped(t *testing.T) {
	s := shown(t, General, &fakeDesk{settings: someSettings})
	s.Until("the groups", func() bool { return s.shows("Length and pace") })
	for _, one := range s.screen.sections.all()[:len(s.screen.sections.panels)+1] { // groups look alike
		s.screen.Open(one.title)
		s.Drain()
		s.Fit("settings-"+one.title, s.screen.Content(), scaled)
	}
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
