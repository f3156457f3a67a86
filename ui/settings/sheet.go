package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// sheet is the layout of a line in a table: the first object has a width of its own, the others share the rest by
// weight. Each is centred in the height.
type sheet struct {
	first   float32
	weights []float32 // of the others; nil is one of all the rest
	last    float32   // width of one more object at the end; 0 is none
	height  float32   // at least
}

// Layout is part of [fyne.Layout].
func (s *sheet) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	x := float32(0)
	widths := s.widths(size.Width)
	for i, o := range objects {
		o.Resize(fyne.NewSize(widths[i], o.MinSize().Height)) // it may wrap
	}
	height := s.MinSize(objects).Height
	for i, o := range objects {
		o.Resize(fyne.NewSize(widths[i], o.MinSize().Height))
		o.Move(fyne.NewPos(x, (height-o.Size().Height)/2))
		x += widths[i] + s.gap()
	}
}

// MinSize is part of [fyne.Layout].
func (s *sheet) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := fyne.NewSize(0, s.height)
	for _, o := range objects {
		size.Width += o.MinSize().Width + s.gap()
		size.Height = max(size.Height, o.MinSize().Height)
	}
	return size
}

func (s *sheet) gap() float32 { return 3 * theme.Padding() }

// widths returns the widths of all objects.
func (s *sheet) widths(all float32) []float32 {
	weights := s.weights
	if weights == nil {
		weights = []float32{1}
	}
	rest := all - s.first - float32(len(weights))*s.gap()
	if s.last > 0 {
		rest -= s.last + s.gap()
	}
	var sum float32
	for _, w := range weights {
		sum += w
	}
	widths := []float32{s.first}
	for _, w := range weights {
		widths = append(widths, max(rest*w/sum, 0))
	}
	if s.last > 0 {
		widths = append(widths, s.last)
	}
	return widths
}
