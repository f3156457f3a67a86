package editor

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
)

// newPage lays out objects from top to bottom. The object at index filler gets the remaining height. Widths are set first, because the
// height of wrapped texts depends on them.
func newPage(filler int, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&pageLayout{filler}, objects...)
}

type pageLayout struct{ filler int }

// Layout implements [fyne.Layout].
func (p *pageLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	left := size.Height
	for i, o := range objects {
		if !o.Visible() {
			continue
		}
		if i != p.filler {
			o.Resize(fyne.NewSize(size.Width, o.MinSize().Height))
			left -= o.MinSize().Height
		}
		left -= theme.Padding()
	}
	y := float32(0)
	for i, o := range objects {
		if !o.Visible() {
			continue
		}
		height := o.MinSize().Height
		if i == p.filler {
			height = max(left+theme.Padding(), 0)
		}
		o.Move(fyne.NewPos(0, y))
		o.Resize(fyne.NewSize(size.Width, height))
		y += height + theme.Padding()
	}
}

// MinSize implements [fyne.Layout].
func (p *pageLayout) MinSize(objects []fyne.CanvasObject) (size fyne.Size) {
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		size.Width = max(size.Width, m.Width)
		size.Height += m.Height + theme.Padding()
	}
	return size
}
