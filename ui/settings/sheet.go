package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/form"
)

// sheet lays out a row of a table: the first object has a fixed width in text sizes, and the second gets the rest. Both are centered
// vertically.
type sheet struct{ first float32 }

// Layout implements [fyne.Layout].
func (s *sheet) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	first := s.first * theme.TextSize()
	widths := []float32{first, max(size.Width-first-gap(), 0)}
	for i, o := range objects {
		form.Fit(o, widths[i])
	}
	height, x := s.MinSize(objects).Height, float32(0)
	for i, o := range objects {
		o.Move(fyne.NewPos(x, (height-o.Size().Height)/2))
		x += widths[i] + gap()
	}
}

// MinSize implements [fyne.Layout].
func (s *sheet) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := fyne.NewSize(0, theme.TextSize()+2*theme.Padding())
	for _, o := range objects {
		size.Width += o.MinSize().Width + gap()
		size.Height = max(size.Height, o.MinSize().Height)
	}
	return size
}

// aside lays out a row: the last objects have fixed widths in text sizes, and the first gets the rest.
type aside struct{ ends []float32 }

// Layout implements [fyne.Layout].
func (a *aside) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	x := size.Width
	for i := len(objects) - 1; i > 0; i-- {
		width := a.ends[i-1] * theme.TextSize()
		form.Fit(objects[i], width)
		objects[i].Move(fyne.NewPos(x-width, 0))
		x -= width + gap()
	}
	form.Fit(objects[0], max(x, 0))
	objects[0].Move(fyne.NewPos(0, 0))
}

// MinSize implements [fyne.Layout]. The height is for the width of the last layout.
func (a *aside) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := fyne.NewSize(8*theme.TextSize(), 0)
	for i, o := range objects {
		size.Height = max(size.Height, o.MinSize().Height)
		if i > 0 {
			size.Width += a.ends[i-1]*theme.TextSize() + gap()
		}
	}
	return size
}

func gap() float32 { return 3 * theme.Padding() }
