package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
)

// NewPacked puts objects into as many equal columns as [NewColumns], but each below what is shortest so far: objects of
// unlike heights leave no holes.
func NewPacked(ems float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&packed{ems: ems, n: 1}, objects...)
}

// packed lays objects out in n columns. n follows from the width.
type packed struct {
	ems float32
	n   int // at the last width
}

// Layout is part of [fyne.Layout].
func (p *packed) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	gap := 2 * theme.Padding()
	p.n = min(max(int((size.Width+gap)/(p.ems*theme.TextSize()+gap)), 1), max(len(objects), 1))
	width := (size.Width - float32(p.n-1)*gap) / float32(p.n)
	p.place(objects, func(o fyne.CanvasObject, column int, y float32) {
		o.Move(fyne.NewPos(float32(column)*(width+gap), y))
		o.Resize(fyne.NewSize(width, o.MinSize().Height))
	})
}

// place says where each object stands, and returns the height of the longest column.
func (p *packed) place(objects []fyne.CanvasObject, put func(o fyne.CanvasObject, column int, y float32)) (height float32) {
	gap := 2 * theme.Padding()
	ends := make([]float32, p.n)
	for _, o := range objects {
		shortest := 0
		for i, end := range ends {
			if end < ends[shortest] {
				shortest = i
			}
		}
		put(o, shortest, ends[shortest])
		ends[shortest] += o.MinSize().Height + gap
		height = max(height, ends[shortest]-gap)
	}
	return height
}

// MinSize is part of [fyne.Layout]; its height is for the width of the last layout.
func (p *packed) MinSize(objects []fyne.CanvasObject) (size fyne.Size) {
	for _, o := range objects {
		size.Width = max(size.Width, o.MinSize().Width)
	}
	size.Height = p.place(objects, func(fyne.CanvasObject, int, float32) {})
	return size
}
