package form

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// turned counts wheel events.
type turned float32

func (t *turned) Scrolled(e *fyne.ScrollEvent) { *t += turned(e.Scrolled.DY) }

// TestTheWheelIsThePages checks that the mouse wheel over an entry scrolls the page.
func TestTheWheelIsThePages(t *testing.T) {
	start(t)
	for name, e := range map[string]*Entry{"line": NewEntry(), "number": &NewNumber().Entry, "text": NewText()} {
		var page turned
		e.Page = &page
		win := test.NewTempWindow(t, e.self)
		win.Resize(fyne.NewSize(200, 80))
		objects := test.TempWidgetRenderer(t, e.self.(fyne.Widget)).Objects()
		top, ok := objects[len(objects)-1].(fyne.Scrollable)
		if !ok {
			t.Errorf("%s: on top is a %T", name, objects[len(objects)-1])
			continue
		}
		if got := top.(*wheel).Size(); got != e.Size() {
			t.Errorf("%s: the wheel is for %v of %v", name, got, e.Size())
		}
		top.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -12)})
		if page != -12 {
			t.Errorf("%s: the page was turned by %v", name, page)
		}
		if e.Page = nil; e.AcceptsTab() {
			t.Errorf("%s: the tab key stays", name)
		}
		top.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -12)}) // has no effect
	}
}

// TestATextScrollsItself checks that a multiline entry outside of a page scrolls itself.
func TestATextScrollsItself(t *testing.T) {
	start(t)
	for _, o := range test.TempWidgetRenderer(t, NewText()).Objects() {
		if _, ok := o.(*wheel); ok {
			t.Error("the wheel is given away")
		}
	}
}
