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

// TestChosenScenarioIsInSight checks that the list of scenarios scrolls to one that was opened.
func TestChosenScenarioIsInSight(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.until("Cycle")
	win := fyne.CurrentApp().Driver().CanvasForObject(s.screen.Content()).(interface{ Resize(fyne.Size) })
	win.Resize(fyne.NewSize(667, 427))
	s.Drain()
	g := s.screen.gallery
	for _, name := range []string{"/scenarios/a.yaml", "/scenarios/b.yaml", "/scenarios/new.yaml"} {
		s.screen.Open(name)
		s.until("About " + name)
		for _, o := range g.items.Objects {
			k, ok := o.(*card)
			if !ok || k.choice.Name != name {
				continue
			}
			if top := k.Position().Y - g.scroll.Offset.Y; top < 0 || top+min(k.Size().Height, g.scroll.Size().Height) > g.scroll.Size().Height+1 {
				t.Errorf("%s is at %.0f of %.0f", name, top, g.scroll.Size().Height)
			}
		}
	}
	if g.scroll.Offset.Y == 0 {
		t.Error("the list did not scroll")
	}
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }

// TestFilesAreToldApart checks the line below the title of a file.
func TestFilesAreToldApart(t *testing.T) {
	for _, c := range []struct {
		choice Choice
		want   string
	}{
		{Choice{Name: "/long/folder/shop-2.yaml", Title: "Shop"}, "shop-2.yaml in /long/folder"},
		{Choice{Name: "/long/folder/shop.yaml", Title: "shop.yaml"}, "/long/folder"},
		{Choice{Name: "/long/folder/shop.yaml", Title: "Shop", About: "A shop."}, "A shop."},
		{Choice{Name: "marketplace", Title: "Shoppers", BuiltIn: true}, ""},
		{Choice{Name: "marketplace", Title: "Shoppers", BuiltIn: true, Draft: true}, "Unsaved edits"},
		{Choice{Name: "/long/folder/shop.yaml", Title: "Shop", About: "A shop.", Draft: true}, "Unsaved edits · A shop."},
		{Choice{Name: "templates/world.yaml", Title: "World", About: "A world.", BuiltIn: true, Draft: true, New: true}, "New scenario, not saved"},
	} {
		if got := (&card{choice: c.choice}).about(); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.choice, got, c.want)
		}
	}
}
