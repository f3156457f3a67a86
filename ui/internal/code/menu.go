package code

import (
	"math"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/scenario/complete"
)

// Choice is an entry of the menu at the cursor. Help explains the selected entry.
type Choice struct {
	Label, Detail, Help string
	Do                  func()
}

// menu is a list at the cursor: what can be typed there, or fixes of a problem. It has no focus of its own; the text passes keys on to it
// while it is open.
type menu struct {
	widget.BaseWidget
	editor   *Editor
	choices  []Choice
	at       place // the start of the text that is completed
	selected int
	first    int         // the first visible choice
	rows     int         // so many are visible
	asked    bool        // the user opened it
	offer    func() bool // offers the choices again after typing; nil closes the menu
	canceled func()      // called when Escape closes it; may be nil
}

var (
	_ fyne.Tappable      = (*menu)(nil)
	_ fyne.Scrollable    = (*menu)(nil)
	_ desktop.Hoverable  = (*menu)(nil)
	_ desktop.Cursorable = (*menu)(nil)
)

func newMenu(e *Editor) *menu {
	m := &menu{editor: e}
	m.ExtendBaseWidget(m)
	m.Hide()
	return m
}

// Complete offers what can be typed at the cursor.
func (e *Editor) Complete() { e.menu.complete(true, nil) }

// CompleteWith is [Editor.Complete] with the items that a function selects. canceled is called if the user takes none.
func (e *Editor) CompleteWith(selects func(complete.Item) bool, canceled func()) {
	e.menu.complete(true, selects)
	if e.menu.canceled = canceled; !e.menu.Visible() && canceled != nil {
		canceled()
	}
}

// Offer opens the menu at the cursor with choices.
func (e *Editor) Offer(choices []Choice) {
	e.menu.open(choices, e.area.cursor)
	e.menu.asked, e.menu.offer, e.menu.canceled = true, nil, nil
}

// Offered returns the labels of the open menu.
func (e *Editor) Offered() (labels []string) {
	if e.menu.Visible() {
		for _, c := range e.menu.choices {
			labels = append(labels, c.Label)
		}
	}
	return labels
}

// Parts returns the menu, for tests of the real window.
func (e *Editor) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{e.menu} }

// Text returns the visible choices and the help, one a line.
func (m *menu) Text() string {
	var lines []string
	for _, c := range m.choices[min(m.first, len(m.choices)):min(m.first+m.rows, len(m.choices))] {
		lines = append(lines, c.Label)
	}
	if len(m.choices) > 0 {
		lines = append(lines, m.choices[m.selected].Help)
	}
	return strings.Join(lines, "\n")
}

// complete offers the completions of the cursor. It reports whether there are any.
func (m *menu) complete(asked bool, selects func(complete.Item) bool) bool {
	e := m.editor
	if e.Completions == nil || e.ReadOnly || e.area.cursor != e.area.anchor {
		m.close()
		return false
	}
	found := e.Completions(asked)
	row := e.area.cursor.row
	from, to := place{row, found.From - 1}, place{row, found.To - 1}
	var choices []Choice
	for _, item := range found.Items {
		if selects == nil || selects(item) {
			choices = append(choices, Choice{item.Label, item.Detail, item.Help, func() { m.insert(from, to, item) }})
		}
	}
	if len(choices) == 0 {
		m.close()
		return false
	}
	m.open(choices, from)
	m.asked, m.offer = asked, func() bool { return m.complete(asked, selects) }
	return true
}

// insert replaces a part of a line by an item.
func (m *menu) insert(from, to place, item complete.Item) {
	a := m.editor.area
	a.buffer.typing = false
	a.replace(a.buffer.hold(from), a.buffer.hold(to), item.Insert)
	runes := []rune(item.Insert)
	a.cursor = after(from, string(runes[:item.Caret]))
	a.anchor = after(from, string(runes[:item.Caret-item.Selected]))
	a.column = a.cursor.col
	m.editor.moved()
	if item.More {
		m.more()
	}
}

// more offers values after a key was inserted, if there is a list of them. An expression can be anything.
func (m *menu) more() {
	items := m.editor.Completions(true).Items
	if !slices.ContainsFunc(items, func(i complete.Item) bool { return i.Kind == complete.FunctionItem }) {
		m.complete(true, func(i complete.Item) bool { return i.Kind == complete.ValueItem || i.Kind == complete.NameItem })
	}
}

func (m *menu) open(choices []Choice, at place) {
	m.choices, m.at, m.selected, m.first = choices, at, 0, 0
	m.Show()
	m.place()
}

func (m *menu) close() {
	if m.Visible() {
		m.choices, m.offer, m.canceled = nil, nil, nil
		m.Hide()
	}
}

// typed follows the text after a character was typed or deleted.
func (m *menu) typed(opens bool) {
	switch {
	case m.Visible() && m.offer != nil:
		m.offer()
	case m.Visible():
		m.close()
	case opens:
		m.complete(false, nil)
	}
}

// key handles a key while the menu is open, and reports whether it did.
func (m *menu) key(name fyne.KeyName) bool {
	if !m.Visible() {
		return false
	}
	switch name {
	case fyne.KeyUp:
		m.choose(m.selected - 1)
	case fyne.KeyDown:
		m.choose(m.selected + 1)
	case fyne.KeyPageUp:
		m.choose(max(m.selected-m.rows, 0))
	case fyne.KeyPageDown:
		m.choose(min(m.selected+m.rows, len(m.choices)-1))
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeyTab:
		if m.isTyped() { // the key is for the text
			m.close()
			return false
		}
		m.take()
	case fyne.KeyEscape:
		canceled := m.canceled
		m.close()
		call(canceled)
	default:
		return false
	}
	return true
}

// isTyped reports whether the selected choice stands at the cursor already, and the menu opened unasked.
func (m *menu) isTyped() bool {
	b := m.editor.area.buffer
	return !m.asked && b.part(b.hold(m.at), m.editor.area.cursor) == m.choices[m.selected].Label
}

// choose selects a choice. After the last one follows the first.
func (m *menu) choose(i int) {
	m.selected = (i + len(m.choices)) % len(m.choices)
	m.first = min(max(m.first, m.selected-m.rows+1), m.selected)
	m.Refresh()
}

// take takes the selected choice.
func (m *menu) take() {
	do := m.choices[m.selected].Do
	m.close()
	do()
}

// at returns the choice at a position; -1 if there is none.
func (m *menu) choiceAt(p fyne.Position) int {
	i := int((p.Y - menuInset()) / m.rowHeight())
	if p.Y < menuInset() || i >= m.rows || m.first+i >= len(m.choices) {
		return -1
	}
	return m.first + i
}

// Tapped implements [fyne.Tappable].
func (m *menu) Tapped(p *fyne.PointEvent) {
	if i := m.choiceAt(p.Position); i >= 0 {
		m.selected = i
		m.take()
	}
}

// Scrolled implements [fyne.Scrollable].
func (m *menu) Scrolled(s *fyne.ScrollEvent) {
	by := 1
	if s.Scrolled.DY > 0 {
		by = -1
	}
	m.first = max(min(m.first+by, len(m.choices)-m.rows), 0)
	m.selected = min(max(m.selected, m.first), m.first+m.rows-1)
	m.Refresh()
}

// MouseIn implements [desktop.Hoverable].
func (m *menu) MouseIn(e *desktop.MouseEvent) { m.MouseMoved(e) }

// MouseMoved implements [desktop.Hoverable].
func (m *menu) MouseMoved(e *desktop.MouseEvent) {
	if i := m.choiceAt(e.Position); i >= 0 && i != m.selected {
		m.selected = i
		m.Refresh()
	}
}

// MouseOut implements [desktop.Hoverable].
func (*menu) MouseOut() {}

// Cursor implements [desktop.Cursorable].
func (*menu) Cursor() desktop.Cursor { return desktop.DefaultCursor }

const (
	menuRows    = 8
	menuColumns = 48 // width in characters
	helpLines   = 2
)

func menuInset() float32 { return theme.Padding() }

func (m *menu) rowHeight() float32 { return m.editor.lineHeight() + theme.Padding() }

// place moves the menu below the cursor's line, or above it if there is more room. It stays within the editor.
func (m *menu) place() {
	e := m.editor
	within := e.Size()
	helps := helpLines*captionHeight() + 2*menuInset()
	below := rowTop(e, m.at.row) + e.lineHeight()
	above := rowTop(e, m.at.row)
	if below < 0 || above > within.Height { // scrolled away
		m.close()
		return
	}
	room := max(within.Height-below, above) - helps - 2*menuInset()
	m.rows = max(min(len(m.choices), menuRows, int(room/m.rowHeight())), 1)
	size := fyne.NewSize(min(menuColumns*e.letter().Width, within.Width-2*menuInset()), float32(m.rows)*m.rowHeight()+helps+2*menuInset())
	size = fyne.NewSize(floor(size.Width), floor(size.Height)) // the border is on whole pixels
	y := -floor(-below)
	if below+size.Height > within.Height && above > within.Height-below {
		y = floor(above) - size.Height
	}
	x := e.gutter.Size().Width + e.left(m.at.row, m.at.col) - e.scroll.Offset.X - menuInset()
	if !e.gutter.Visible() {
		x -= e.gutter.Size().Width
	}
	m.Resize(size)
	m.Move(fyne.NewPos(floor(max(min(x, within.Width-size.Width-menuInset()), menuInset())), y))
	m.Refresh()
}

// rowTop returns the y coordinate of a row in the editor.
func rowTop(e *Editor, row int) float32 {
	return 2*theme.InputBorderSize() + e.top(row) - e.scroll.Offset.Y
}

func floor(x float32) float32 { return float32(math.Floor(float64(x))) }

func captionHeight() float32 {
	return fyne.MeasureText("M", theme.CaptionTextSize(), fyne.TextStyle{}).Height
}
