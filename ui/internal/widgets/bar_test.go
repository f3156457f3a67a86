package widgets

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestBarKeepsWhatDoesNotFitInAMenu checks that buttons without room move to a menu, starting with the last one, and
// still work there.
func TestBarKeepsWhatDoesNotFitInAMenu(t *testing.T) {
	themedApp(t)
	did := ""
	button := func(name string) *widget.Button { return widget.NewButton(name, func() { did = name }) }
	send, remove := button("Send"), button("Delete the whole run")
	b := NewBar(button("Results"), button("Compare"), send, remove)
	win := test.NewTempWindow(t, b)
	win.SetPadded(false)
	at := func(width float32) []string {
		win.Resize(fyne.NewSize(width, b.MinSize().Height))
		return uitest.Texts(b)
	}
	if got := at(1000); !slices.Equal(got, []string{"Results", "Compare", "Send", "Delete the whole run"}) {
		t.Errorf("in much room are %q", got)
	}
	if right := b.places[3].Position().X + b.places[3].Size().Width; right < 999 {
		t.Errorf("the last button ends at %v, not at the end", right)
	}
	if got := at(b.MinSize().Width); !slices.Equal(got, []string{"More"}) || len(b.Menu().Items) != 4 {
		t.Errorf("in no room are %q, in the menu %d", got, len(b.Menu().Items))
	}
	b.Offer(send, false)
	remove.Disable()
	got := at(b.buttons[0].MinSize().Width + b.buttons[1].MinSize().Width + b.more.MinSize().Width + 20)
	if !slices.Equal(got, []string{"Results", "Compare", "More"}) {
		t.Errorf("in some room are %q", got)
	}
	for _, o := range []fyne.CanvasObject{b.places[0], b.places[1]} {
		if o.Position().X < 0 || o.Position().X+o.Size().Width > b.more.Position().X {
			t.Errorf("a button lies at %v, the menu's at %v", o.Position(), b.more.Position())
		}
	}
	menu := b.Menu()
	if len(menu.Items) != 1 || menu.Items[0].Label != "Delete the whole run" || !menu.Items[0].Disabled {
		t.Fatalf("in the menu are %+v", menu.Items)
	}
	test.Tap(b.more)
	if win.Canvas().Overlays().Top() == nil {
		t.Error("the menu does not open")
	}
	menu.Items[0].Action()
	if did != "Delete the whole run" {
		t.Errorf("done was %q", did)
	}
}
