package ui

import (
	"slices"
	"strings"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// palette finds a command by its name and performs it.
type palette struct {
	frame  *frame
	dialog dialog.Dialog
	entry  *paletteEntry
	list   *widget.List
	none   *widgets.Text
	found  []*command // the possible commands that match, best first
	at     int        // the chosen one
}

// Size of the palette in text heights.
const (
	paletteEms  = 40
	paletteHigh = 26
)

// showPalette opens the palette.
func (f *frame) showPalette() {
	p := &palette{frame: f, entry: newPaletteEntry()}
	p.list = widget.NewList(func() int { return len(p.found) }, newPaletteRow, p.draw)
	p.list.OnSelected = func(i widget.ListItemID) {
		if i != p.at { // a tap
			p.at = i
			p.do()
		}
	}
	p.entry.SetPlaceHolder("Type the name of an action")
	p.entry.OnChanged = func(string) { p.find() }
	p.entry.OnSubmitted = func(string) { p.do() }
	p.entry.move = p.move
	p.none = widgets.NewCaption("No action has this name here.")
	p.list.HideSeparators = true
	p.find()
	p.dialog = dialog.NewCustomWithoutButtons("Actions", container.NewBorder(p.entry, nil, nil, nil, container.NewStack(container.NewPadded(container.NewVBox(p.none)), p.list)), f.win)
	widgets.Ask(f.win, p.dialog, nil)
	em, room := theme.TextSize(), f.win.Canvas().Size()
	p.dialog.Resize(fyne.NewSize(min(paletteEms*em, 0.9*room.Width), min(paletteHigh*em, 0.9*room.Height)))
	f.win.Canvas().Focus(p.entry)
}

// find lists the possible commands whose names contain all words, those that begin with the text first.
func (p *palette) find() {
	text := strings.ToLower(strings.TrimSpace(p.entry.Text))
	p.found = nil
	for _, d := range p.frame.commands {
		if _, ok := p.frame.where(d); ok && d.Name != paletteTitle && containsWords(strings.ToLower(d.Name+" "+d.Menu), text) {
			p.found = append(p.found, d)
		}
	}
	slices.SortStableFunc(p.found, func(a, b *command) int { return nameRank(a.Name, text) - nameRank(b.Name, text) })
	p.choose(0)
	p.none.Hidden = len(p.found) > 0
	p.none.Refresh()
	p.list.Refresh()
}

// nameRank is 0 for a name that begins with a text, 1 for one with a word that does, and otherwise 2.
func nameRank(name, text string) int {
	name = strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, text):
		return 0
	case slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }), func(w string) bool { return strings.HasPrefix(w, text) }):
		return 1
	}
	return 2
}

func containsWords(name, text string) bool {
	for word := range strings.FieldsSeq(text) {
		if !strings.Contains(name, word) {
			return false
		}
	}
	return true
}

func (p *palette) choose(i int) {
	p.at = min(max(i, 0), max(len(p.found)-1, 0))
	if len(p.found) > 0 {
		p.list.Select(p.at)
	} else {
		p.list.UnselectAll()
	}
}

func (p *palette) move(by int) { p.choose(p.at + by) }

// do closes the palette and performs the chosen command.
func (p *palette) do() {
	if p.at >= len(p.found) {
		return
	}
	d := p.found[p.at]
	p.dialog.Hide()
	p.frame.do(d)
}

func (p *palette) draw(i widget.ListItemID, o fyne.CanvasObject) {
	if i >= len(p.found) {
		return
	}
	row := o.(*fyne.Container).Objects[0].(*fyne.Container)
	name, keys := row.Objects[0].(*widgets.Text), row.Objects[1].(*widgets.Text)
	d := p.found[i]
	name.SetText(d.Name)
	text := d.Menu
	if d.Key != "" {
		text += "   " + d.Keys()
	}
	keys.SetText(text)
}

// newPaletteRow returns a row with room for the scroll bar at its right.
func newPaletteRow() fyne.CanvasObject {
	inner := theme.InnerPadding()
	return container.New(layout.NewCustomPaddedLayout(inner/2, inner/2, inner, 3*inner), container.NewBorder(nil, nil, nil, widgets.NewCaption(""), widgets.NewText("")))
}

// paletteEntry is an entry that passes the keys for moving in the list on.
type paletteEntry struct {
	widget.Entry
	move func(by int)
}

func newPaletteEntry() *paletteEntry {
	e := &paletteEntry{move: func(int) {}}
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey implements [fyne.Focusable].
func (e *paletteEntry) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyUp:
		e.move(-1)
	case fyne.KeyDown:
		e.move(+1)
	default:
		e.Entry.TypedKey(k)
	}
}
