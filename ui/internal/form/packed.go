package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
)

// NewPacked lays out objects in as many equal columns as [NewColumns], each in the shortest column so far, which avoids holes between
// objects of different heights.
func NewPacked(ems float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&packed{ems: ems, n: 1}, objects...)
}

// packed lays out objects in n columns. n depends on the width.
type packed struct {
	ems float32
	n   int // at the last width
}

// Layout implements [fyne.Layout].
func (p *packed) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	gap := 2 * theme.Padding()
	p.n = min(max(int((size.Width+gap)/(p.ems*theme.TextSize()+gap)), 1), max(len(objects), 1))
	width := (size.Width - float32(p.n-1)*gap) / float32(p.n)
	p.place(objects, func(o fyne.CanvasObject, column int, y float32) (height float32) {
		o.Move(fyne.NewPos(float32(column)*(width+gap), y))
		return Fit(o, width)
	})
}

// place calls put for the position of each object, which returns its height, and returns the height of the longest column.
func (p *packed) place(objects []fyne.CanvasObject, put func(o fyne.CanvasObject, column int, y float32) float32) (height float32) {
	gap := 2 * theme.Padding()
	ends := make([]float32, p.n)
	for _, o := range objects {
		shortest := 0
		for i, end := range ends {
			if end < ends[shortest] {
				shortest = i
			}
		}
		ends[shortest] += put(o, shortest, ends[shortest]) + gap
		height = max(height, ends[shortest]-gap)
	}
	return height
}

// MinSize implements [fyne.Layout]. The height is for the width of the last layout.
func (p *packed) MinSize(objects []fyne.CanvasObject) (size fyne.Size) {
	size.Height = p.place(objects, func(o fyne.CanvasObject, _ int, _ float32) float32 {
		least := o.MinSize()
		size.Width = max(size.Width, least.Width)
		return least.Height
	})
	return size
}
