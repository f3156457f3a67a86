package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
)

// NewWide sets the width of an object in text sizes. The height is the minimum.
func NewWide(ems float32, o fyne.CanvasObject) *fyne.Container { return container.New(wide(ems), o) }

type wide float32

// MinSize implements [fyne.Layout].
func (w wide) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(float32(w)*theme.TextSize(), objects[0].MinSize().Height)
}

// Layout implements [fyne.Layout].
func (w wide) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	high := objects[0].MinSize().Height
	objects[0].Resize(fyne.NewSize(size.Width, high))
	objects[0].Move(fyne.NewPos(0, (size.Height-high)/2))
}
