package code

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/scenario/complete"
)

// Mark marks a line with an error or a warning. Lines and columns count from 1, columns in characters.
type Mark struct {
	Line, Col int
	Text      string
	Warning   bool
}

// Match is a search result.
type Match struct{ Line, Col, Length int }

// Editor edits a text of many lines and shows their numbers and marks. Call its methods on the UI goroutine.
type Editor struct {
	widget.BaseWidget
	OnChanged func()
	OnMoved   func(line, col int) // with the position of the cursor
	OnEscape  func()
	// OnShortcut handles shortcuts and function keys first, and reports whether it did.
	OnShortcut func(fyne.Shortcut) bool
	Colors     func(line string) []Span
	// Completions returns what can be typed at the cursor; asked is set if the user opened the menu. nil offers nothing.
	Completions func(asked bool) complete.Result
	// ReadOnly text has no line numbers; it can be selected and copied.
	ReadOnly bool

	area    *area
	scroll  *container.Scroll
	layer   *layer
	gutter  *gutter
	menu    *menu
	marks   []Mark
	matches []Match
	current int // index of the current match; -1: none
	changes int // so far
}

// New returns an empty editor for YAML.
func New() *Editor { return newEditor(yaml) }

// NewView returns an empty read-only text. Lines without indentation are titles.
func NewView() *Editor {
	e := newEditor(titled)
	e.ReadOnly = true
	e.gutter.Hide()
	return e
}

// Columns returns the number of characters that fit in a line.
func (e *Editor) Columns() int {
	return max(int((e.scroll.Size().Width-2*theme.InnerPadding())/e.letter().Width)-4, 20)
}

// NewStarlark returns an empty editor for Starlark.
func NewStarlark() *Editor { return newEditor(starlark) }

func newEditor(colors func(string) []Span) *Editor {
	e := &Editor{current: -1, Colors: colors}
	e.area = newArea(e)
	e.layer = newLayer(e)
	e.gutter = newGutter(e)
	e.menu = newMenu(e)
	e.scroll = container.NewScroll(container.NewStack(e.layer, e.area))
	e.scroll.OnScrolled = func(fyne.Position) {
		if e.menu.Visible() {
			e.menu.place()
		}
		e.repaint()
	}
	e.ExtendBaseWidget(e)
	return e
}

// Text returns the text; its lines end with "\n".
func (e *Editor) Text() string { return e.area.buffer.text() }

// Changes returns the number of changes. The text is the same as long as this is.
func (e *Editor) Changes() int { return e.changes }

// SetText sets the text, moves the cursor to its start, and clears the marks and the undo history.
func (e *Editor) SetText(text string) {
	e.menu.close()
	e.area.buffer = newBuffer(text)
	e.changes++
	e.area.cursor, e.area.anchor, e.area.column = place{}, place{}, 0
	e.marks, e.matches, e.current = nil, nil, -1
	e.scroll.ScrollToOffset(fyne.Position{})
	e.scroll.Refresh()
	e.repaint()
}

// Replace replaces the whole text and keeps the cursor's position; it can be undone.
func (e *Editor) Replace(text string) {
	was := e.area.cursor
	e.area.replace(place{}, e.area.buffer.end(), text)
	e.area.move(was, false)
}

// Edit replaces the text between two positions, as one change, and moves the cursor to the end of the new text.
func (e *Editor) Edit(line, col, endLine, endCol int, text string) {
	b := e.area.buffer
	b.typing = false
	e.menu.close()
	e.area.replace(b.hold(place{line - 1, col - 1}), b.hold(place{endLine - 1, endCol - 1}), text)
}

// InsertLine inserts an empty line after another one, with an indentation, and moves the cursor there.
func (e *Editor) InsertLine(after, indent int) {
	at := e.area.buffer.hold(place{after - 1, 0})
	end := len(e.area.buffer.lines[at.row])
	e.Edit(after, end+1, after, end+1, "\n"+strings.Repeat(" ", indent))
}

// SetMarks sets the marks.
func (e *Editor) SetMarks(marks []Mark) {
	e.marks = marks
	e.scroll.Refresh() // the texts of marks may need more width
	e.repaint()
}

// SetMatches highlights search results, one of them as the current one.
func (e *Editor) SetMatches(all []Match, current int) {
	e.matches, e.current = all, current
	e.repaint()
}

// Find returns the matches of a text, ignoring case.
func (e *Editor) Find(text string) (all []Match) {
	wanted := []rune(strings.ToLower(text))
	if len(wanted) == 0 {
		return nil
	}
	for i, line := range e.area.buffer.lines {
		for at := 0; at+len(wanted) <= len(line); at++ {
			if strings.EqualFold(string(line[at:at+len(wanted)]), string(wanted)) {
				all = append(all, Match{i + 1, at + 1, len(wanted)})
				at += len(wanted) - 1
			}
		}
	}
	return all
}

// Cursor returns the position of the cursor.
func (e *Editor) Cursor() (line, col int) { return e.area.cursor.row + 1, e.area.cursor.col + 1 }

// Go moves the cursor to a position, clamped to the text, and scrolls to it.
func (e *Editor) Go(line, col int) {
	to := e.area.buffer.hold(place{line - 1, col - 1})
	y, h, view := e.top(to.row), e.lineHeight(), e.scroll.Size().Height
	if at := e.scroll.Offset; view > 0 && (y < at.Y+h || y+2*h > at.Y+view) {
		at.Y = max(min(y-view/3, e.scroll.Content.MinSize().Height-view), 0)
		e.scroll.ScrollToOffset(at)
	}
	e.area.move(to, false)
}

// Selected returns the selected text.
func (e *Editor) Selected() string { return e.area.buffer.part(e.area.selected()) }

// Focus focuses the text.
func (e *Editor) Focus(c fyne.Canvas) {
	if c != nil {
		c.Focus(e.area)
	}
}

// Target returns the object that is focused when the text is.
func (e *Editor) Target() fyne.Focusable { return e.area }

// changed handles a change of the text.
func (e *Editor) changed() {
	e.matches, e.current = nil, -1
	e.changes++
	e.scroll.Refresh() // the size may have changed
	e.moved()
	call(e.OnChanged)
}

// moved handles a move of the cursor.
func (e *Editor) moved() {
	e.reveal()
	e.repaint()
	if e.OnMoved != nil {
		e.OnMoved(e.Cursor())
	}
}

func (e *Editor) repaint() {
	e.area.Refresh()
	e.layer.Refresh()
	e.gutter.Refresh()
}

// reveal scrolls to the cursor if it is out of view.
func (e *Editor) reveal() {
	view := e.scroll.Size()
	if view.Height <= 0 {
		return
	}
	h, w := e.lineHeight(), e.letter().Width
	at := e.scroll.Offset
	y, x := e.top(e.area.cursor.row), e.left(e.area.cursor.row, e.area.cursor.col)
	if y < at.Y+h {
		at.Y = max(y-2*h, 0)
	} else if y+2*h > at.Y+view.Height {
		at.Y = y + 3*h - view.Height
	}
	if x-4*w < at.X {
		at.X = max(x-8*w, 0)
	} else if x+4*w > at.X+view.Width {
		at.X = x + 8*w - view.Width
	}
	if at != e.scroll.Offset {
		e.scroll.ScrollToOffset(at)
	}
}

// letter returns the size of a character in the monospace font.
func (e *Editor) letter() fyne.Size {
	return fyne.MeasureText("M", theme.TextSize(), fyne.TextStyle{Monospace: true})
}

func (e *Editor) lineHeight() float32 { return e.letter().Height }

// top returns the y coordinate of a row in the text.
func (e *Editor) top(row int) float32 { return theme.InnerPadding() + float32(row)*e.lineHeight() }

// left returns the x coordinate of a column.
func (e *Editor) left(row, col int) float32 {
	if row < 0 || row >= len(e.area.buffer.lines) {
		return theme.InnerPadding()
	}
	line := e.area.buffer.lines[row]
	line = line[:min(max(col, 0), len(line))]
	for _, r := range line {
		if r < ' ' || r > '~' { // the width may differ from other characters
			return theme.InnerPadding() + fyne.MeasureText(string(line), theme.TextSize(), fyne.TextStyle{Monospace: true}).Width
		}
	}
	return theme.InnerPadding() + float32(len(line))*e.letter().Width
}

// CreateRenderer implements [fyne.Widget].
func (e *Editor) CreateRenderer() fyne.WidgetRenderer {
	r := &editorRenderer{
		editor: e, back: canvas.NewRectangle(nil), border: canvas.NewRectangle(nil), body: container.NewBorder(nil, nil, e.gutter, nil, e.scroll),
	}
	r.paint()
	return r
}

type editorRenderer struct {
	editor       *Editor
	back, border *canvas.Rectangle
	body         *fyne.Container
}

// Layout implements [fyne.WidgetRenderer].
func (r *editorRenderer) Layout(size fyne.Size) {
	r.back.Resize(size)
	r.border.Resize(size)
	edge := 2 * theme.InputBorderSize()
	r.body.Move(fyne.NewPos(edge, edge))
	r.body.Resize(size.SubtractWidthHeight(2*edge, 2*edge))
	if r.editor.area.focused { // the cursor may be out of view now
		r.editor.reveal()
	}
	if r.editor.menu.Visible() {
		r.editor.menu.place()
	}
	r.editor.repaint()
}

// MinSize implements [fyne.WidgetRenderer].
func (r *editorRenderer) MinSize() fyne.Size {
	m := r.editor.letter()
	return fyne.NewSize(30*m.Width, 6*m.Height)
}

// Objects implements [fyne.WidgetRenderer].
func (r *editorRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.back, r.body, r.border, r.editor.menu}
}

func (r *editorRenderer) paint() {
	r.back.FillColor = theme.Color(theme.ColorNameInputBackground)
	r.back.CornerRadius = theme.InputRadiusSize()
	r.border.CornerRadius = theme.InputRadiusSize()
	r.border.StrokeWidth = theme.InputBorderSize()
	r.border.StrokeColor = theme.Color(theme.ColorNameInputBorder)
	if r.editor.area.focused {
		r.border.StrokeColor, r.border.StrokeWidth = theme.Color(theme.ColorNamePrimary), 2*theme.InputBorderSize()
	}
}

// Refresh implements [fyne.WidgetRenderer].
func (r *editorRenderer) Refresh() {
	r.paint()
	r.back.Refresh()
	r.border.Refresh()
	r.editor.menu.Refresh()
	r.editor.repaint()
}

// Destroy implements [fyne.WidgetRenderer].
func (*editorRenderer) Destroy() {}
