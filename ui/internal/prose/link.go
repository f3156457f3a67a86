package prose

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// link is a piece of text that leads somewhere.
type link struct {
	widget.BaseWidget
	view  *View
	piece *piece
	text  *canvas.Text
	line  *canvas.Rectangle // below it, thicker with the focus
	hot   bool              // the pointer or the focus is on it
}

var (
	_ fyne.Tappable      = (*link)(nil)
	_ fyne.Focusable     = (*link)(nil)
	_ desktop.Hoverable  = (*link)(nil)
	_ desktop.Cursorable = (*link)(nil)
)

func newLink(v *View, p *piece, text *canvas.Text) *link {
	l := &link{view: v, piece: p, text: text, line: canvas.NewRectangle(theme.Color(theme.ColorNameHyperlink))}
	l.ExtendBaseWidget(l)
	return l
}

// Text is what the link says.
func (l *link) Text() string { return l.piece.text }

// Tapped implements [fyne.Tappable].
func (l *link) Tapped(*fyne.PointEvent) { l.view.ways.Follow(l.piece.style.link) }

// Cursor implements [desktop.Cursorable].
func (l *link) Cursor() desktop.Cursor { return desktop.PointerCursor }

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (l *link) MouseIn(*desktop.MouseEvent) { l.set(true) }

// MouseMoved changes nothing.
func (l *link) MouseMoved(*desktop.MouseEvent) {}

// MouseOut undoes MouseIn.
func (l *link) MouseOut() { l.set(false) }

// FocusGained implements [fyne.Focusable], as are FocusLost, TypedRune and TypedKey.
func (l *link) FocusGained() { l.set(true) }

// FocusLost undoes FocusGained.
func (l *link) FocusLost() { l.set(false) }

// TypedRune takes no letters.
func (l *link) TypedRune(rune) {}

// TypedKey follows the link, or scrolls.
func (l *link) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		l.Tapped(nil)
	default:
		if l.view.ways.Scroll != nil {
			l.view.ways.Scroll(e.Name)
		}
	}
}

func (l *link) set(hot bool) {
	l.hot = hot
	l.Refresh()
}

// CreateRenderer implements [fyne.Widget].
func (l *link) CreateRenderer() fyne.WidgetRenderer {
	return &linkRenderer{widget.NewSimpleRenderer(container.NewWithoutLayout(l.text, l.line)), l}
}

type linkRenderer struct {
	fyne.WidgetRenderer
	link *link
}

// Layout draws the line at the foot of the text.
func (r *linkRenderer) Layout(size fyne.Size) {
	thick := float32(1)
	if r.link.hot {
		thick = 2.5
	}
	r.link.text.Resize(size)
	r.link.line.Move(fyne.NewPos(0, size.Height-thick))
	r.link.line.Resize(fyne.NewSize(size.Width, thick))
}

// Refresh follows the pointer and the focus; the view draws it again in another theme.
func (r *linkRenderer) Refresh() {
	r.Layout(r.link.Size())
	canvas.Refresh(r.link)
}
