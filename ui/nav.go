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

// navItem is a line of the navigation.
type navItem struct {
	widget.BaseWidget
	title    string
	icon     fyne.Resource
	tapped   func()
	selected bool
	hovered  bool
}

var (
	_ fyne.Tappable     = (*navItem)(nil)
	_ desktop.Hoverable = (*navItem)(nil)
)

func newNavItem(title string, icon fyne.Resource, tapped func()) *navItem {
	n := &navItem{title: title, icon: icon, tapped: tapped}
	n.ExtendBaseWidget(n)
	return n
}

// Tapped is part of [fyne.Tappable].
func (n *navItem) Tapped(*fyne.PointEvent) { n.tapped() }

// MouseIn is part of [desktop.Hoverable], as are MouseMoved and MouseOut.
func (n *navItem) MouseIn(*desktop.MouseEvent) {
	n.hovered = true
	n.Refresh()
}

// MouseMoved changes nothing.
func (n *navItem) MouseMoved(*desktop.MouseEvent) {}

// MouseOut undoes MouseIn.
func (n *navItem) MouseOut() {
	n.hovered = false
	n.Refresh()
}

// Text is what the line says.
func (n *navItem) Text() string { return n.title }

func (n *navItem) choose(selected bool) {
	if n.selected != selected {
		n.selected = selected
		n.Refresh()
	}
}

// CreateRenderer is part of [fyne.Widget].
func (n *navItem) CreateRenderer() fyne.WidgetRenderer {
	r := &navRenderer{item: n, back: canvas.NewRectangle(color.Transparent), icon: widget.NewIcon(n.icon), text: widgets.NewText(n.title)}
	r.back.CornerRadius = theme.InputRadiusSize()
	line := container.NewBorder(nil, nil, r.icon, nil, container.NewPadded(r.text))
	r.WidgetRenderer = widget.NewSimpleRenderer(container.NewStack(r.back, container.NewPadded(line)))
	r.paint()
	return r
}

type navRenderer struct {
	fyne.WidgetRenderer
	item *navItem
	back *canvas.Rectangle
	icon *widget.Icon
	text *widgets.Text
}

func (r *navRenderer) paint() {
	icon, text := theme.ColorNameForeground, theme.ColorNameForeground
	switch {
	case r.item.selected:
		r.back.FillColor = theme.Color(theme.ColorNamePrimary)
		icon, text = theme.ColorNameForegroundOnPrimary, theme.ColorNameForegroundOnPrimary
	case r.item.hovered:
		r.back.FillColor = theme.Color(theme.ColorNameHover)
	default:
		r.back.FillColor = color.Transparent
	}
	r.icon.SetResource(theme.NewColoredResource(r.item.icon, icon))
	r.text.SetColor(text)
}

// Refresh follows the state and the theme.
func (r *navRenderer) Refresh() {
	r.paint()
	r.WidgetRenderer.Refresh()
}
