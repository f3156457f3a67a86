package editor

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/code"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// find searches the shown file.
type find struct {
	screen *Screen
	object *fyne.Container
	entry  *findEntry
	count  *widgets.Text
	all    []code.Match
	at     int
}

// findEntry is the search field: Return goes to the next match, Escape closes the search.
type findEntry struct {
	widget.Entry
	close func()
}

// TypedKey implements [fyne.Focusable].
func (e *findEntry) TypedKey(key *fyne.KeyEvent) {
	if key.Name == fyne.KeyEscape {
		e.close()
		return
	}
	e.Entry.TypedKey(key)
}

func newFind(s *Screen) *find {
	f := &find{screen: s, entry: &findEntry{}, count: widgets.NewCaption("")}
	f.entry.ExtendBaseWidget(f.entry)
	f.entry.close = func() {
		f.close()
		if s.shown != nil {
			s.shown.editor.Focus(s.win.Canvas())
		}
	}
	f.entry.PlaceHolder = "Find in this file"
	f.entry.OnChanged = func(string) { f.look() }
	f.entry.OnSubmitted = func(string) { f.step(1) }
	before := widget.NewButtonWithIcon("", theme.MoveUpIcon(), func() { f.step(-1) })
	after := widget.NewButtonWithIcon("", theme.MoveDownIcon(), func() { f.step(1) })
	shut := widget.NewButtonWithIcon("", theme.CancelIcon(), func() { f.entry.close() })
	f.object = container.NewBorder(nil, nil, nil, container.NewHBox(container.NewCenter(f.count), before, after, shut), f.entry)
	f.object.Hide()
	return f
}

// open opens the search. It searches for the selection if that is within one line.
func (f *find) open() {
	if f.screen.shown == nil {
		return
	}
	f.object.Show()
	f.screen.editing.Refresh()
	f.screen.win.Canvas().Focus(f.entry)
	if text := f.screen.shown.editor.Selected(); text != "" && len(text) < 100 {
		f.entry.SetText(text)
	}
	f.look()
}

// close closes the search.
func (f *find) close() {
	f.all = nil
	if f.screen.shown != nil {
		f.screen.shown.editor.SetMatches(nil, -1)
	}
	if f.object.Visible() {
		f.object.Hide()
		f.screen.editing.Refresh()
	}
}

// look finds all matches; the current one is the first after the cursor.
func (f *find) look() {
	e := f.screen.shown.editor
	f.all, f.at = e.Find(f.entry.Text), -1
	line, col := e.Cursor()
	for i, m := range f.all {
		if m.Line > line || m.Line == line && m.Col >= col {
			f.at = i
			break
		}
	}
	if f.at < 0 && len(f.all) > 0 {
		f.at = 0
	}
	f.reach()
}

// step goes to another match.
func (f *find) step(by int) {
	if f.all == nil || f.screen.shown == nil {
		f.look()
		return
	}
	f.at = (f.at + by + len(f.all)) % max(len(f.all), 1)
	f.reach()
}

func (f *find) reach() {
	e := f.screen.shown.editor
	switch {
	case f.entry.Text == "":
		f.count.SetText("")
	case len(f.all) == 0:
		f.count.SetText("not found")
	default:
		f.count.SetText(fmt.Sprintf("%d of %d", f.at+1, len(f.all)))
		e.Go(f.all[f.at].Line, f.all[f.at].Col)
	}
	e.SetMatches(f.all, f.at)
	f.object.Refresh()
}
