package setup

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestNothingIsClipped checks that no text of the screen is clipped at any text size.
func TestNothingIsClipped(t *testing.T) {
	s := shown(t, &fakeDesk{remote: "db.example.com/app"})
	s.until("Cycle")
	s.Fit("setup", s.screen.Content(), scaled)
}

// TestGalleryGivesWay checks that in a narrow window the gallery becomes narrower, whether the text size was set before
// or after the start.
func TestGalleryGivesWay(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.until("Cycle")
	win := fyne.CurrentApp().Driver().CanvasForObject(s.screen.Content()).(interface{ Resize(fyne.Size) })
	var wide []float32
	for _, width := range []float32{1800, 700, 1800} {
		fyne.CurrentApp().Settings().SetTheme(scaled(1.5))
		win.Resize(fyne.NewSize(width, 700))
		s.Drain()
		wide = append(wide, s.screen.gallery.panel.Size().Width/(1.5*13))
	}
	if wide[0] != galleryEms || wide[1] >= 18 || wide[1] < leastGalleryEms || wide[2] != wide[0] {
		t.Errorf("the scenarios take %v letters' heights", wide)
	}
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
