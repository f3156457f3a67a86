package code

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// indent is the text of the Tab key; YAML does not allow tabs for indentation.
const indent = "  "

// pageLines is how many lines the page keys move before the size is known.
const pageLines = 20

// area is the text at its full size; it draws the visible part. Fyne's entry reads its whole text for every line at each key, which takes
// 0.2 s for 1,000 lines.
type area struct {
	widget.BaseWidget
	editor *Editor
	buffer *buffer
	cursor place
	anchor place // start of the selection; equal to the cursor without a selection
	column int   // the column for moves up and down
	shift  bool
	// leaving: the last key was Escape, so Tab leaves the text
	focused, leaving bool
}

var (
	_ fyne.Focusable     = (*area)(nil)
	_ fyne.Tabbable      = (*area)(nil)
	_ fyne.Shortcutable  = (*area)(nil)
	_ desktop.Keyable    = (*area)(nil)
	_ desktop.Cursorable = (*area)(nil)
)

func newArea(e *Editor) *area {
	a := &area{editor: e, buffer: newBuffer("")}
	a.ExtendBaseWidget(a)
	return a
}

// AcceptsTab implements [fyne.Tabbable].
func (a *area) AcceptsTab() bool { return !a.leaving && !a.editor.ReadOnly }

// FocusGained implements [fyne.Focusable].
func (a *area) FocusGained() { a.focus(true) }

// FocusLost implements [fyne.Focusable].
func (a *area) FocusLost() { a.focus(false) }

func (a *area) focus(gained bool) {
	a.focused, a.leaving, a.shift = gained, false, false
	if !gained {
		a.editor.menu.close()
	}
	a.editor.Refresh()
	a.Refresh()
}

// KeyDown implements [desktop.Keyable].
func (a *area) KeyDown(key *fyne.KeyEvent) { a.shifted(key, true) }

// KeyUp implements [desktop.Keyable].
func (a *area) KeyUp(key *fyne.KeyEvent) { a.shifted(key, false) }

func (a *area) shifted(key *fyne.KeyEvent, down bool) {
	if key.Name == desktop.KeyShiftLeft || key.Name == desktop.KeyShiftRight {
		a.shift = down
	}
}

// selected returns the ends of the selection.
func (a *area) selected() (from, to place) {
	if a.cursor.before(a.anchor) {
		return a.cursor, a.anchor
	}
	return a.anchor, a.cursor
}

// put replaces the selection by a text.
func (a *area) put(text string) {
	from, to := a.selected()
	a.replace(from, to, text)
}

func (a *area) replace(from, to place, text string) {
	if from == to && text == "" || a.editor.ReadOnly {
		return
	}
	a.cursor = a.buffer.put(from, to, text)
	a.anchor, a.column = a.cursor, a.cursor.col
	a.editor.changed()
}

// move moves the cursor, and selects the text in between if selecting is set.
func (a *area) move(to place, selecting bool) {
	a.editor.menu.close()
	a.buffer.typing = false
	a.cursor = a.buffer.hold(to)
	if !selecting {
		a.anchor = a.cursor
	}
	a.column = a.cursor.col
	a.editor.moved()
}

// TypedRune implements [fyne.Focusable].
func (a *area) TypedRune(r rune) {
	a.leaving = false
	a.put(string(r))
	a.editor.menu.typed(isWord(r) || r == '.')
}

// TypedKey implements [fyne.Focusable].
func (a *area) TypedKey(key *fyne.KeyEvent) {
	leaving := a.leaving
	a.leaving = false
	if a.editor.menu.key(key.Name) {
		return
	}
	switch key.Name {
	case fyne.KeyEscape:
		a.leaving = true
		a.move(a.cursor, false)
		call(a.editor.OnEscape)
	case fyne.KeyTab:
		if !leaving {
			a.tab()
		}
	case fyne.KeyReturn, fyne.KeyEnter:
		a.editor.menu.close()
		a.put("\n" + a.indentation())
	case fyne.KeyBackspace:
		a.erase(-1)
		a.editor.menu.typed(false)
	case fyne.KeyDelete:
		a.erase(1)
		a.editor.menu.typed(false)
	case fyne.KeyF1, fyne.KeyF2, fyne.KeyF3, fyne.KeyF4, fyne.KeyF5, fyne.KeyF6, fyne.KeyF7, fyne.KeyF8, fyne.KeyF9, fyne.KeyF10, fyne.KeyF11, fyne.KeyF12:
		a.TypedShortcut(&desktop.CustomShortcut{KeyName: key.Name})
	default:
		a.travel(key.Name)
	}
}

func call(f func()) {
	if f != nil {
		f()
	}
}

// travel moves the cursor by a key.
func (a *area) travel(key fyne.KeyName) {
	to := a.cursor
	from, end := a.selected()
	collapses := from != end && !a.shift
	switch key {
	case fyne.KeyLeft:
		if to = a.buffer.step(to, -1); collapses {
			to = from
		}
	case fyne.KeyRight:
		if to = a.buffer.step(to, 1); collapses {
			to = end
		}
	case fyne.KeyUp, fyne.KeyDown, fyne.KeyPageUp, fyne.KeyPageDown:
		a.climb(key)
		return
	case fyne.KeyHome:
		to = a.buffer.home(to)
	case fyne.KeyEnd:
		to.col = len(a.buffer.lines[to.row])
	default:
		return
	}
	a.move(to, a.shift)
}

// climb moves the cursor up or down, and keeps its column if the line is long enough.
func (a *area) climb(key fyne.KeyName) {
	by := 1
	if key == fyne.KeyPageUp || key == fyne.KeyPageDown {
		by = pageLines
		if h := a.editor.scroll.Size().Height; h > 0 {
			by = max(int(h/a.editor.lineHeight())-1, 1)
		}
	}
	if key == fyne.KeyUp || key == fyne.KeyPageUp {
		by = -by
	}
	column := a.column
	a.move(place{a.cursor.row + by, column}, a.shift)
	a.column = column
}

// erase deletes the selection or the character before or after the cursor; of an indentation, as much as Tab inserts.
func (a *area) erase(by int) {
	from, to := a.selected()
	if from == to {
		other := a.buffer.step(a.cursor, by)
		before := string(a.buffer.lines[a.cursor.row][:a.cursor.col])
		if by < 0 && before != "" && strings.TrimLeft(before, " ") == "" && len(before)%len(indent) == 0 {
			other.col = a.cursor.col - len(indent)
		}
		if from, to = other, a.cursor; by > 0 {
			from, to = a.cursor, other
		}
	}
	a.replace(from, to, "")
}

// tab indents at the cursor, or all selected lines; with Shift it removes indentation.
func (a *area) tab() {
	from, to := a.selected()
	if from.row == to.row && !a.shift {
		a.put(indent)
		return
	}
	var lines []string
	for row := from.row; row <= to.row; row++ {
		line := string(a.buffer.lines[row])
		switch {
		case !a.shift && line != "":
			line = indent + line
		case a.shift:
			line = strings.TrimPrefix(strings.TrimPrefix(line, " "), " ")
		}
		lines = append(lines, line)
	}
	first, last := place{from.row, 0}, place{to.row, len(a.buffer.lines[to.row])}
	shift, several := a.shift, from.row != to.row
	if text := strings.Join(lines, "\n"); text != a.buffer.part(first, last) {
		a.replace(first, last, text)
	}
	if a.shift = shift; several {
		a.anchor = first
		a.editor.moved()
	}
}

// indentation returns the indentation of the cursor's line up to the cursor, and one level more after a colon.
func (a *area) indentation() string {
	from, _ := a.selected()
	before := string(a.buffer.lines[from.row][:from.col])
	text := before[:len(before)-len(strings.TrimLeft(before, " \t"))]
	if strings.HasSuffix(strings.TrimRight(before, " "), ":") {
		text += indent
	}
	return text
}

// TypedShortcut implements [fyne.Shortcutable]. The editor's owner handles shortcuts first.
func (a *area) TypedShortcut(s fyne.Shortcut) {
	if f := a.editor.OnShortcut; f != nil && f(s) {
		return
	}
	a.editor.menu.close()
	from, to := a.selected()
	switch s := s.(type) {
	case *fyne.ShortcutUndo:
		a.back(a.buffer.undo())
	case *fyne.ShortcutRedo:
		a.back(a.buffer.redo())
	case *fyne.ShortcutSelectAll:
		a.anchor, a.cursor = place{}, a.buffer.end()
		a.editor.repaint()
	case *fyne.ShortcutCopy:
		a.copy(s.Clipboard, from, to)
	case *fyne.ShortcutCut:
		a.copy(s.Clipboard, from, to)
		a.replace(from, to, "")
	case *fyne.ShortcutPaste:
		a.put(plain(s.Clipboard.Content()))
	case *desktop.CustomShortcut:
		if a.jump(s) {
			return
		}
		if c, ok := fyne.CurrentApp().Driver().CanvasForObject(a).(fyne.Shortcutable); ok { // the toolkit sends shortcuts only to the focused widget
			c.TypedShortcut(s)
		}
	}
}

// plain normalizes a text for editing.
func plain(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

func (a *area) copy(c fyne.Clipboard, from, to place) {
	if from != to {
		c.SetContent(a.buffer.part(from, to))
	}
}

// back moves the cursor to a change that was undone or redone.
func (a *area) back(at place, ok bool) {
	if !ok {
		return
	}
	a.cursor, a.anchor, a.column = at, at, at.col
	a.editor.changed()
}

// jump handles shortcuts that move by words, or to the ends of the text.
func (a *area) jump(s *desktop.CustomShortcut) bool {
	selecting := s.Modifier&fyne.KeyModifierShift != 0
	switch s.Modifier &^ fyne.KeyModifierShift {
	case fyne.KeyModifierShortcutDefault, fyne.KeyModifierAlt: // Alt on a Mac
	default:
		return false
	}
	switch s.KeyName {
	case fyne.KeyLeft:
		a.move(a.buffer.word(a.cursor, -1), selecting)
	case fyne.KeyRight:
		a.move(a.buffer.word(a.cursor, 1), selecting)
	case fyne.KeyHome, fyne.KeyUp:
		a.move(place{}, selecting)
	case fyne.KeyEnd, fyne.KeyDown:
		a.move(a.buffer.end(), selecting)
	case fyne.KeyBackspace:
		a.replace(a.buffer.word(a.cursor, -1), a.cursor, "")
	case fyne.KeyDelete:
		a.replace(a.cursor, a.buffer.word(a.cursor, 1), "")
	default:
		return false
	}
	return true
}
