package setup

import (
	_ "embed"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

//go:embed star.svg
var starFull []byte

//go:embed staroutline.svg
var starEmpty []byte

// favourite is what makes a scenario a favourite: it is full for one that is. On the card the key * does that, too.
type favourite struct {
	widget.BaseWidget
	card    *card
	icon    *widget.Icon
	ring    *canvas.Rectangle
	focused bool
}

var (
	_ fyne.Tappable      = (*favourite)(nil)
	_ fyne.Focusable     = (*favourite)(nil)
	_ desktop.Cursorable = (*favourite)(nil)
)

func newFavourite(k *card) *favourite {
	s := &favourite{card: k, icon: widget.NewIcon(nil), ring: canvas.NewRectangle(color.Transparent)}
	s.ExtendBaseWidget(s)
	return s
}

// paint shows the star in a colour of the theme, with a ring while it has the keyboard.
func (s *favourite) paint(name fyne.ThemeColorName) {
	shape := fyne.NewStaticResource("staroutline.svg", starEmpty)
	if s.card.choice.Favourite {
		shape = fyne.NewStaticResource("star.svg", starFull)
	}
	s.icon.SetResource(theme.NewColoredResource(shape, name))
	s.ring.StrokeColor, s.ring.StrokeWidth = widgets.Color(name), 0
	if s.focused {
		s.ring.StrokeWidth = theme.InputBorderSize() * 2
	}
	s.ring.CornerRadius = theme.InputRadiusSize()
	s.ring.Refresh()
}

// Tapped is part of [fyne.Tappable].
func (s *favourite) Tapped(*fyne.PointEvent) { s.card.star(s.card.choice.Name) }

// TypedKey is part of [fyne.Focusable].
func (s *favourite) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace || e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		s.card.star(s.card.choice.Name)
	}
}

// TypedRune is part of [fyne.Focusable].
func (s *favourite) TypedRune(rune) {}

// FocusGained is part of [fyne.Focusable].
func (s *favourite) FocusGained() { s.set(true) }

// FocusLost is part of [fyne.Focusable].
func (s *favourite) FocusLost() { s.set(false) }

func (s *favourite) set(focused bool) {
	s.focused = focused
	s.card.Refresh()
}

// Cursor is part of [desktop.Cursorable].
func (s *favourite) Cursor() desktop.Cursor { return desktop.PointerCursor }

// CreateRenderer is part of [fyne.Widget].
func (s *favourite) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewStack(s.ring, s.icon))
}

// besideStar lays a card out: its texts, and the star in the corner at the right.
type besideStar struct{}

// Layout is part of [fyne.Layout].
func (besideStar) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	pad, side := theme.Padding(), theme.IconInlineSize()
	wide := size.Width - 3*pad - side
	objects[0].Move(fyne.NewPos(pad, pad))
	form.Fit(objects[0], wide)
	objects[1].Move(fyne.NewPos(size.Width-pad-side, pad))
	objects[1].Resize(fyne.NewSquareSize(side))
}

// MinSize is part of [fyne.Layout]; its height is for the width of the last layout.
func (besideStar) MinSize(objects []fyne.CanvasObject) fyne.Size {
	pad := theme.Padding()
	return objects[0].MinSize().Add(fyne.NewSize(3*pad+theme.IconInlineSize(), 2*pad))
}
