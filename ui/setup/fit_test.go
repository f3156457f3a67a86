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

// TestGalleryGivesWay: where there is little room the scenarios take less of it, and the same for a size of text whether it
// was chosen before the start or since.
func TestGalleryGivesWay(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.until("cycle about 50s")
	win := fyne.CurrentApp().Driver().CanvasForObject(s.screen.Content()).(interface{ Resize(fyne.Size) })
	var wide []float32
	for _, width := range []float32{1400, 700, 1400} {
		fyne.CurrentApp().Settings().SetTheme(scaled(1.5))
		win.Resize(fyne.NewSize(width, 700))
		s.Drain()
		wide = append(wide, s.screen.gallery.panel.Size().Width/(1.5*13))
	}
	if wide[0] != galleryEms || wide[1] >= 16 || wide[1] < leastGalleryEms || wide[2] != wide[0] {
		t.Errorf("the scenarios take %v letters' heights", wide)
	}
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
