package form

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Fold is a panel whose title opens and closes its content. Next to the title a line says what the closed content holds.
type Fold struct {
	widget.BaseWidget
	// OnToggled, if set, is called after the content was opened or closed. The layout around the panel must be refreshed then.
	OnToggled func()

	panel   *widgets.Panel
	head    *foldHead
	content fyne.CanvasObject
}

// NewFold returns a closed panel.
func NewFold(title string, content fyne.CanvasObject) *Fold {
	f := &Fold{content: content}
	f.head = &foldHead{title: widgets.NewHeading(title), summary: widgets.NewLine(theme.SizeNameText, widgets.Quiet), tapped: func() { f.SetOpen(!f.Opened()) }}
	f.head.ExtendBaseWidget(f.head)
	f.head.summary.OnTapped = f.head.tapped
	content.Hide()
	f.panel = widgets.NewPanel("", NewStack(f.head, content))
	f.ExtendBaseWidget(f)
	return f
}

// Parts returns the panel.
func (f *Fold) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{f.panel} }

// CreateRenderer implements [fyne.Widget].
func (f *Fold) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(f.panel) }

// Opened reports whether the content is visible.
func (f *Fold) Opened() bool { return f.content.Visible() }

// SetOpen opens or closes the content.
func (f *Fold) SetOpen(open bool) {
	if f.Opened() == open {
		return
	}
	show(f.content, open)
	f.head.open = open
	f.head.Refresh()
	f.Refresh()
	if f.OnToggled != nil {
		f.OnToggled()
	}
}

// SetSummary sets the line next to the title.
func (f *Fold) SetSummary(text string) { f.head.summary.Set(text, widgets.Quiet) }

// Holds reports whether an object is in the content's containers.
func (f *Fold) Holds(o fyne.CanvasObject) bool { return holds(f.content, o) }

func holds(in, o fyne.CanvasObject) bool {
	if in == o {
		return true
	}
	c, ok := in.(*fyne.Container)
	if !ok {
		return false
	}
	for _, below := range c.Objects {
		if holds(below, o) {
			return true
		}
	}
	return false
}

// foldHead is the title of a fold.
type foldHead struct {
	widget.BaseWidget
	title            *widgets.Text
	summary          *widgets.Line
	open             bool
	hovered, focused bool
	tapped           func()
}

var (
	_ fyne.Tappable     = (*foldHead)(nil)
	_ fyne.Focusable    = (*foldHead)(nil)
	_ desktop.Hoverable = (*foldHead)(nil)
)

// Text returns the title.
func (h *foldHead) Text() string { return h.title.Text() }

// Tapped implements [fyne.Tappable].
func (h *foldHead) Tapped(*fyne.PointEvent) { h.tapped() }

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (h *foldHead) MouseIn(*desktop.MouseEvent) { h.set(&h.hovered, true) }

// MouseMoved does nothing.
func (h *foldHead) MouseMoved(*desktop.MouseEvent) {}

// MouseOut undoes MouseIn.
func (h *foldHead) MouseOut() { h.set(&h.hovered, false) }

// FocusGained implements [fyne.Focusable], as do FocusLost, TypedRune and TypedKey.
func (h *foldHead) FocusGained() { h.set(&h.focused, true) }

// FocusLost undoes FocusGained.
func (h *foldHead) FocusLost() { h.set(&h.focused, false) }

// TypedRune ignores characters.
func (h *foldHead) TypedRune(rune) {}

// TypedKey opens or closes the content.
func (h *foldHead) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace || e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		h.tapped()
	}
}

func (h *foldHead) set(state *bool, on bool) {
	*state = on
	h.Refresh()
}

// CreateRenderer implements [fyne.Widget].
func (h *foldHead) CreateRenderer() fyne.WidgetRenderer {
	r := &foldHeadRenderer{head: h, back: canvas.NewRectangle(color.Transparent), icon: widget.NewIcon(nil)}
	line := container.NewBorder(nil, nil, container.NewHBox(r.icon, h.title), nil, container.NewPadded(h.summary))
	r.WidgetRenderer = widgets.NewRenderer(h, container.NewStack(r.back, line))
	r.paint()
	return r
}

type foldHeadRenderer struct {
	fyne.WidgetRenderer
	head *foldHead
	back *canvas.Rectangle
	icon *widget.Icon
}

func (r *foldHeadRenderer) paint() {
	icon := theme.MenuExpandIcon()
	if r.head.open {
		icon = theme.MenuDropDownIcon()
	}
	r.icon.SetResource(icon)
	r.back.CornerRadius = theme.InputRadiusSize()
	r.back.FillColor, r.back.StrokeColor, r.back.StrokeWidth = color.Transparent, color.Transparent, 0
	if r.head.hovered {
		r.back.FillColor = theme.Color(theme.ColorNameHover)
	}
	if r.head.focused {
		r.back.StrokeColor, r.back.StrokeWidth = widgets.Color(widgets.ColorRing), widgets.RingWidth
	}
	r.back.Refresh()
}

// Refresh updates the title for its state and the theme.
func (r *foldHeadRenderer) Refresh() {
	r.paint()
	r.WidgetRenderer.Refresh()
}
