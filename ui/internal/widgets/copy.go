package widgets

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// mostOffered is the maximum number of characters of a text in a menu.
const mostOffered = 40

// OfferCopy shows a menu at a position of the window that copies one of some texts. It skips empty and duplicate texts.
func OfferCopy(o fyne.CanvasObject, at fyne.Position, texts ...string) {
	c := fyne.CurrentApp().Driver().CanvasForObject(o)
	var items []*fyne.MenuItem
	offered := map[string]bool{"": true}
	for _, text := range texts {
		if text = strings.TrimSpace(text); offered[text] {
			continue
		}
		offered[text] = true
		items = append(items, fyne.NewMenuItem("Copy “"+brief(text)+"”", func() { copyText(text) }))
	}
	if c == nil || len(items) == 0 {
		return
	}
	widget.ShowPopUpMenuAtPosition(fyne.NewMenu("", items...), c, at)
}

// brief clips a text for a menu.
func brief(text string) string {
	line, _, cut := strings.Cut(strings.ReplaceAll(text, "\t", "  "), "\n")
	if runes := []rune(line); len(runes) > mostOffered {
		line, cut = string(runes[:mostOffered]), true
	}
	if cut {
		line += "…"
	}
	return line
}

func copyText(text string) { fyne.CurrentApp().Clipboard().SetContent(text) }

var (
	_ fyne.SecondaryTappable = (*tableRow)(nil)
	_ fyne.SecondaryTappable = (*Line)(nil)
	_ fyne.Shortcutable      = (*keyList)(nil)
	_ fyne.Shortcutable      = (*sheetRow)(nil)
)

// TappedSecondary offers to copy the cell below the pointer, or the row.
func (r *tableRow) TappedSecondary(e *fyne.PointEvent) {
	cell := ""
	for _, c := range r.cells {
		if x := e.Position.X - c.Position().X; x >= 0 && x < c.Size().Width {
			cell = c.cell.Text
		}
	}
	OfferCopy(r, e.AbsolutePosition, cell, r.line())
}

// line returns the row in the format for spreadsheets.
func (r *tableRow) line() string {
	texts := make([]string, len(r.cells))
	for i, c := range r.cells {
		texts[i] = c.cell.Text
	}
	return strings.Join(texts, "\t")
}

// TypedShortcut copies the focused row.
func (r *sheetRow) TypedShortcut(s fyne.Shortcut) {
	if !copies(s) {
		pass(r, s)
		return
	}
	copyText(r.line())
}

// TypedShortcut copies the selected row, or marks all rows of a table that lets the user mark several.
func (l *keyList) TypedShortcut(s fyne.Shortcut) {
	if _, all := s.(*fyne.ShortcutSelectAll); all && l.table.OnMarked != nil {
		l.table.MarkAll()
		return
	}
	if !copies(s) {
		pass(l, s)
		return
	}
	for row, i := range l.table.shown {
		if i < len(l.table.rows) && l.table.rows[i].Key == l.table.selected {
			copyText(row.line())
		}
	}
}

func copies(s fyne.Shortcut) bool {
	_, ok := s.(*fyne.ShortcutCopy)
	return ok
}

// pass passes a shortcut on to the window, because the toolkit sends it only to the focused widget.
func pass(o fyne.CanvasObject, s fyne.Shortcut) {
	if c, ok := fyne.CurrentApp().Driver().CanvasForObject(o).(fyne.Shortcutable); ok {
		c.TypedShortcut(s)
	}
}

// TappedSecondary offers to copy the whole text.
func (l *Line) TappedSecondary(e *fyne.PointEvent) { OfferCopy(l, e.AbsolutePosition, l.full) }
