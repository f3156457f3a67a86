package tour

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
)

// renderer draws the shade in four pieces around the target, a frame, and the card next to it.
type renderer struct {
	tour  *Tour
	shade [4]*canvas.Rectangle // above, left, right, below
	frame *canvas.Rectangle
}

// cardEms is the width of the card in text heights.
const cardEms = 26

// dark is the color of the shade in both themes.
var dark = color.NRGBA{0, 0, 0, 0x8c}

func (r *renderer) Destroy() {}

func (r *renderer) Objects() []fyne.CanvasObject {
	objects := make([]fyne.CanvasObject, 0, len(r.shade)+2)
	for _, s := range r.shade {
		objects = append(objects, s)
	}
	return append(objects, r.frame, r.tour.card)
}

// MinSize is small, because the tour adapts to any window.
func (r *renderer) MinSize() fyne.Size { return fyne.NewSize(1, 1) }

// Layout lays out the tour for the target's place.
func (r *renderer) Layout(size fyne.Size) {
	t := r.tour
	t.spot = t.target()
	gap := theme.Padding()
	left, top := max(t.spot.at.X-gap, 0), max(t.spot.at.Y-gap, 0)
	right, bottom := min(t.spot.at.X+t.spot.size.Width+gap, size.Width), min(t.spot.at.Y+t.spot.size.Height+gap, size.Height)
	if t.spot.size.IsZero() || right <= left || bottom <= top {
		left, top, right, bottom = 0, 0, 0, 0
	}
	for i, box := range [4][4]float32{
		{0, 0, size.Width, top}, {0, top, left, bottom}, {right, top, size.Width, bottom}, {0, bottom, size.Width, size.Height},
	} {
		r.shade[i].Move(fyne.NewPos(box[0], box[1]))
		r.shade[i].Resize(fyne.NewSize(max(box[2]-box[0], 0), max(box[3]-box[1], 0)))
	}
	r.frame.Move(fyne.NewPos(left, top))
	r.frame.Resize(fyne.NewSize(right-left, bottom-top))
	r.frame.Hidden = right == left

	wide := min(cardEms*theme.TextSize(), size.Width-4*gap)
	t.card.Resize(fyne.NewSize(wide, t.card.MinSize().Height))
	card := fyne.NewSize(wide, t.card.MinSize().Height) // the height depends on the width
	t.card.Resize(card)
	t.card.Move(cardSpot(left, top, right, bottom, card, size, 3*gap))
}

// cardSpot returns the place of the card: right, left, above or below the target, or in the middle of the window.
func cardSpot(left, top, right, bottom float32, card, size fyne.Size, gap float32) fyne.Position {
	within := func(at, length, whole float32) float32 { return max(min(at, whole-length-gap), gap) }
	middle := within(top+(bottom-top-card.Height)/2, card.Height, size.Height)
	center := within(left+(right-left-card.Width)/2, card.Width, size.Width)
	switch {
	case right == left:
	case size.Width-right >= card.Width+2*gap && bottom-top >= card.Height/2:
		return fyne.NewPos(right+gap, middle)
	case left >= card.Width+2*gap && bottom-top >= card.Height/2:
		return fyne.NewPos(left-gap-card.Width, middle)
	case top >= card.Height+2*gap:
		return fyne.NewPos(center, top-gap-card.Height)
	case size.Height-bottom >= card.Height+2*gap:
		return fyne.NewPos(center, bottom+gap)
	case size.Width-right >= card.Width+2*gap:
		return fyne.NewPos(right+gap, middle)
	}
	return fyne.NewPos((size.Width-card.Width)/2, (size.Height-card.Height)/2)
}

// Refresh updates the tour for its step, target and the theme.
func (r *renderer) Refresh() {
	for _, s := range r.shade {
		s.FillColor = dark
	}
	r.frame.FillColor = color.Transparent
	r.frame.StrokeColor, r.frame.StrokeWidth = theme.Color(theme.ColorNamePrimary), 2*theme.InputBorderSize()
	r.frame.CornerRadius = theme.InputRadiusSize()
	r.tour.card.Refresh()
	r.Layout(r.tour.Size())
	canvas.Refresh(r.tour)
}
