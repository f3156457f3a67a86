package live

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestNothingIsClipped checks that no text of the screen is clipped at any text size.
func TestNothingIsClipped(t *testing.T) {
	st := perform(t, running())
	st.Fit("live", st.Content(), scaled)
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }

// TestShortWindows checks that a short window leaves out what is said elsewhere, so that the tabs are in view, and shows it again.
func TestShortWindows(t *testing.T) {
	st := perform(t, running())
	for _, c := range []struct {
		height float32
		noted  bool
	}{{800, true}, {427, false}, {800, true}} {
		st.win.Resize(fyne.NewSize(800, c.height))
		texts := uitest.Texts(st.Content())
		if slices.Contains(texts, "limit 50") != c.noted || slices.Contains(texts, "Why this limit?") != c.noted {
			t.Errorf("%v high: %q", c.height, texts)
		}
		tabs := fyne.CurrentApp().Driver().AbsolutePositionForObject(st.tabs.content).Y
		if visible := st.page.scroll.Size().Height; tabs > visible {
			t.Errorf("%v high: the tabs are at %v of %v", c.height, tabs, visible)
		}
	}
}
