package ui

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestPalette checks that the palette finds actions by parts of their names, offers only possible ones, and performs the chosen one.
func TestPalette(t *testing.T) {
	q, a, _ := start(t, &desk{})
	q.Drain()
	a.showPalette()
	entry, ok := a.win.Canvas().Focused().(*paletteEntry)
	if !ok {
		t.Fatalf("%T is focused", a.win.Canvas().Focused())
	}
	test.Type(entry, "text lar")
	if shown := uitest.Texts(a.win.Canvas().Overlays().Top()); !uitest.Shows(a.win.Canvas().Overlays().Top(), "Larger text") || uitest.Shows(a.win.Canvas().Overlays().Top(), "Smaller text") {
		t.Errorf("shown: %q", shown)
	}
	before := a.choices.scale
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if a.choices.scale <= before || a.win.Canvas().Overlays().Top() != nil {
		t.Errorf("the scale is %v, the palette is open: %v", a.choices.scale, a.win.Canvas().Overlays().Top() != nil)
	}

	a.showPalette()
	entry = a.win.Canvas().Focused().(*paletteEntry)
	test.Type(entry, "settings")
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if a.current.title != "Settings" {
		t.Errorf("the screen is %s", a.current.title)
	}

	a.showPalette()
	entry = a.win.Canvas().Focused().(*paletteEntry)
	test.Type(entry, "no such action")
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if a.win.Canvas().Overlays().Top() == nil {
		t.Error("the palette closes without an action")
	}
}

func TestNameRank(t *testing.T) {
	for _, c := range []struct {
		name string
		want int
	}{{"Pause run", 1}, {"Run…", 0}, {"Overrun", 2}} {
		if got := nameRank(c.name, "run"); got != c.want {
			t.Errorf("%s is %d, want %d", c.name, got, c.want)
		}
	}
}
