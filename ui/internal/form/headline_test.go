package form

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestLongTitles checks that a title without room next to the text at its right wraps, and overlaps nothing.
func TestLongTitles(t *testing.T) {
	start(t)
	long := strings.Repeat("a title that continues ", 5)
	for _, c := range []struct {
		title, aside string
		lines        int // of the title
		below        bool
	}{
		{"Shoppers", "1 to 1,000,000", 1, false},
		{long, "", 2, false},
		{long, "1 to 9", 3, false},
		{long, "10,000,000 to 99,999,999,999,999", 2, true},
		{"Shoppers", "10,000,000 to 99,999,999,999,999", 1, false},
	} {
		r := NewRow(c.title, NewEntry())
		r.SetAside(c.aside)
		page := NewStack(r, NewRow("Next", NewEntry()))
		win := test.NewTempWindow(t, page)
		win.SetPadded(false)
		win.Resize(fyne.NewSize(280, 300))
		for _, misfit := range uitest.Misfits(win.Canvas().Content()) {
			t.Errorf("%q next to %q: %s", c.title, c.aside, misfit)
		}
		place := func(o fyne.CanvasObject) fyne.Position {
			return fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
		}
		high := r.title.MinSize().Height
		if got := len(r.title.wrapped); got != c.lines || r.title.Size().Width > 280 {
			t.Errorf("%q next to %q takes %d lines in %v, want %d", c.title, c.aside, got, r.title.Size().Width, c.lines)
		}
		switch {
		case c.aside == "":
		case c.below != (place(r.aside).Y >= place(r.title).Y+high):
			t.Errorf("%q next to %q: at %v and %v, want it below: %v", c.title, c.aside, place(r.title), place(r.aside), c.below)
		case !c.below && place(r.aside).X < place(r.title).X+r.title.Size().Width:
			t.Errorf("%q lies over %q", c.aside, c.title)
		}
		if bottom := place(r.title).Y + high; place(r.field).Y < bottom || c.below && place(r.field).Y < place(r.aside).Y+r.aside.Size().Height {
			t.Errorf("%q next to %q: the field is at %v", c.title, c.aside, place(r.field))
		}
	}
}
