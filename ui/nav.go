package ui

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

// navItem is an item of the navigation.
type navItem struct {
	widget.BaseWidget
	title    string
	icon     fyne.Resource
	tapped   func()
	selected bool
	hovered  bool
	focused  bool
}

var (
	_ fyne.Tappable     = (*navItem)(nil)
	_ fyne.Focusable    = (*navItem)(nil)
	_ desktop.Hoverable = (*navItem)(nil)
)

func newNavItem(title string, icon fyne.Resource, tapped func()) *navItem {
	n := &navItem{title: title, icon: icon, tapped: tapped}
	n.ExtendBaseWidget(n)
	return n
}

// Tapped implements [fyne.Tappable].
func (n *navItem) Tapped(*fyne.PointEvent) { n.tapped() }

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (n *navItem) MouseIn(*desktop.MouseEvent) {
	n.hovered = true
	n.Refresh()
}

// MouseMoved does nothing.
func (n *navItem) MouseMoved(*desktop.MouseEvent) {}

// MouseOut undoes MouseIn.
func (n *navItem) MouseOut() {
	n.hovered = false
	n.Refresh()
}

// FocusGained implements [fyne.Focusable], as do FocusLost, TypedRune and TypedKey.
func (n *navItem) FocusGained() {
	n.focused = true
	n.Refresh()
}

// FocusLost undoes FocusGained.
func (n *navItem) FocusLost() {
	n.focused = false
	n.Refresh()
}

// TypedRune ignores characters.
func (n *navItem) TypedRune(rune) {}

// TypedKey opens the screen.
func (n *navItem) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace || e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		n.tapped()
	}
}

// Text returns the title.
func (n *navItem) Text() string { return n.title }

func (n *navItem) choose(selected bool) {
	if n.selected != selected {
		n.selected = selected
		n.Refresh()
	}
}

// CreateRenderer implements [fyne.Widget].
func (n *navItem) CreateRenderer() fyne.WidgetRenderer {
	r := &navRenderer{item: n, back: canvas.NewRectangle(color.Transparent), bar: canvas.NewRectangle(color.Transparent), icon: widget.NewIcon(n.icon), text: widgets.NewText(n.title)}
	r.back.CornerRadius = theme.InputRadiusSize()
	r.bar.CornerRadius = barWidth / 2
	r.bar.SetMinSize(fyne.NewSize(barWidth, 0))
	line := container.NewBorder(nil, nil, r.icon, nil, container.NewPadded(r.text))
	r.WidgetRenderer = widgets.NewRenderer(n, container.NewStack(r.back, container.NewBorder(nil, nil, r.bar, nil, container.NewPadded(line))))
	r.paint()
	return r
}

// barWidth is the width of the bar at the chosen item.
const barWidth = 3

type navRenderer struct {
	fyne.WidgetRenderer
	item *navItem
	back *canvas.Rectangle
	bar  *canvas.Rectangle // at the left of the chosen item
	icon *widget.Icon
	text *widgets.Text
}

func (r *navRenderer) paint() {
	icon := theme.ColorNameForeground
	r.bar.FillColor = color.Transparent
	switch {
	case r.item.selected:
		r.back.FillColor = theme.Color(theme.ColorNameSelection)
		r.bar.FillColor = theme.Color(theme.ColorNamePrimary)
		icon = theme.ColorNamePrimary
	case r.item.hovered:
		r.back.FillColor = theme.Color(theme.ColorNameHover)
	default:
		r.back.FillColor = color.Transparent
	}
	r.back.StrokeColor, r.back.StrokeWidth = color.Transparent, 0
	if r.item.focused {
		r.back.StrokeColor, r.back.StrokeWidth = widgets.Color(widgets.ColorRing), widgets.RingWidth
	}
	r.icon.SetResource(theme.NewColoredResource(r.item.icon, icon))
}

// Refresh updates the item for its state and the theme.
func (r *navRenderer) Refresh() {
	r.paint()
	r.WidgetRenderer.Refresh()
}
