package setup

import (
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

// favoriteStar is the button for favorites: a full star marks a favorite. The key * on the card does the same.
type favoriteStar struct {
	widget.BaseWidget
	card    *card
	icon    *widget.Icon
	ring    *canvas.Rectangle
	focused bool
}

var (
	_ fyne.Tappable      = (*favoriteStar)(nil)
	_ fyne.Focusable     = (*favoriteStar)(nil)
	_ desktop.Cursorable = (*favoriteStar)(nil)
)

func newStar(k *card) *favoriteStar {
	s := &favoriteStar{card: k, icon: widget.NewIcon(nil), ring: canvas.NewRectangle(color.Transparent)}
	s.ExtendBaseWidget(s)
	return s
}

// paint draws the star in a color of the theme, with a ring if it is focused.
func (s *favoriteStar) paint(name fyne.ThemeColorName) {
	s.icon.SetResource(theme.NewColoredResource(widgets.StarIcon(s.card.choice.Favorite), name))
	s.ring.StrokeColor, s.ring.StrokeWidth = widgets.Color(name), 0
	if s.focused {
		s.ring.StrokeWidth = theme.InputBorderSize() * 2
	}
	s.ring.CornerRadius = theme.InputRadiusSize()
	s.ring.Refresh()
}

// Tapped implements [fyne.Tappable].
func (s *favoriteStar) Tapped(*fyne.PointEvent) { s.card.star(s.card.choice.Name) }

// TypedKey implements [fyne.Focusable].
func (s *favoriteStar) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace || e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		s.card.star(s.card.choice.Name)
	}
}

// TypedRune implements [fyne.Focusable].
func (s *favoriteStar) TypedRune(rune) {}

// FocusGained implements [fyne.Focusable].
func (s *favoriteStar) FocusGained() { s.set(true) }

// FocusLost implements [fyne.Focusable].
func (s *favoriteStar) FocusLost() { s.set(false) }

func (s *favoriteStar) set(focused bool) {
	s.focused = focused
	s.card.Refresh()
}

// Cursor implements [desktop.Cursorable].
func (s *favoriteStar) Cursor() desktop.Cursor { return desktop.PointerCursor }

// CreateRenderer implements [fyne.Widget].
func (s *favoriteStar) CreateRenderer() fyne.WidgetRenderer {
	return widgets.NewRenderer(s, container.NewStack(s.ring, s.icon))
}

// cardLayout lays out a card: its texts, and the star in the upper right corner.
type cardLayout struct{}

// Layout implements [fyne.Layout].
func (cardLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	pad, side := theme.Padding(), theme.IconInlineSize()
	wide := size.Width - 3*pad - side
	objects[0].Move(fyne.NewPos(pad, pad))
	form.Fit(objects[0], wide)
	objects[1].Move(fyne.NewPos(size.Width-pad-side, pad))
	objects[1].Resize(fyne.NewSquareSize(side))
}

// MinSize implements [fyne.Layout]. The height is for the width of the last layout.
func (cardLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	pad := theme.Padding()
	return objects[0].MinSize().Add(fyne.NewSize(3*pad+theme.IconInlineSize(), 2*pad))
}
