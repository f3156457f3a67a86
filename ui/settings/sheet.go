package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/form"
)

// sheet is the layout of a line in a table: the first object has a width of its own, in heights of letters as they are at
// the time, and the second the rest. Each is centred in the height.
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

// aside is the layout of a line whose first object has what the others leave, which have widths of their own, in heights
// of letters.
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
