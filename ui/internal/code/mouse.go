package code

import (
	"sort"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

var (
	_ desktop.Mouseable      = (*area)(nil)
	_ fyne.Draggable         = (*area)(nil)
	_ fyne.DoubleTappable    = (*area)(nil)
	_ fyne.SecondaryTappable = (*area)(nil)
)

// Cursor implements [desktop.Cursorable].
func (*area) Cursor() desktop.Cursor { return desktop.TextCursor }

// at is the place that a point is nearest to.
func (a *area) at(p fyne.Position) place {
	e := a.editor
	row := min(max(int((p.Y-theme.InnerPadding())/e.lineHeight()), 0), len(a.buffer.lines)-1)
	col := sort.Search(len(a.buffer.lines[row]), func(col int) bool { return (e.left(row, col)+e.left(row, col+1))/2 >= p.X })
	return place{row, col}
}

// MouseDown implements [desktop.Mouseable].
func (a *area) MouseDown(m *desktop.MouseEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(a); c != nil && c.Focused() != fyne.Focusable(a) {
		c.Focus(a)
	}
	if m.Button == desktop.MouseButtonPrimary {
		a.leaving = false
		a.move(a.at(m.Position), m.Modifier&fyne.KeyModifierShift != 0)
	}
}

// MouseUp implements [desktop.Mouseable].
func (*area) MouseUp(*desktop.MouseEvent) {}

// Dragged implements [fyne.Draggable].
func (a *area) Dragged(d *fyne.DragEvent) { a.move(a.at(d.Position), true) }

// DragEnd implements [fyne.Draggable].
func (*area) DragEnd() {}

// DoubleTapped implements [fyne.DoubleTappable].
func (a *area) DoubleTapped(p *fyne.PointEvent) {
	a.anchor, a.cursor = a.buffer.wordAt(a.at(p.Position))
	a.editor.moved()
}

// TappedSecondary implements [fyne.SecondaryTappable].
func (a *area) TappedSecondary(p *fyne.PointEvent) {
	c := fyne.CurrentApp().Driver().CanvasForObject(a)
	if c == nil {
		return
	}
	clipboard := fyne.CurrentApp().Clipboard()
	item := func(text string, s fyne.Shortcut) *fyne.MenuItem {
		return fyne.NewMenuItem(text, func() { a.TypedShortcut(s) })
	}
	menu := fyne.NewMenu("", item("Cut", &fyne.ShortcutCut{Clipboard: clipboard}), item("Copy", &fyne.ShortcutCopy{Clipboard: clipboard}),
		item("Paste", &fyne.ShortcutPaste{Clipboard: clipboard}), fyne.NewMenuItemSeparator(),
		item("Select all", &fyne.ShortcutSelectAll{}), fyne.NewMenuItemSeparator(), item("Undo", &fyne.ShortcutUndo{}), item("Redo", &fyne.ShortcutRedo{}))
	widget.ShowPopUpMenuAtPosition(menu, c, p.AbsolutePosition)
}
