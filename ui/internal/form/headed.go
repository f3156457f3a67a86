package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// NewHeaded places a head above another object, which takes the remaining height. The head's width is set first, because its height depends
// on it. A hidden head takes no room.
func NewHeaded(head, rest fyne.CanvasObject) *fyne.Container {
	return &fyne.Container{Layout: headed{}, Objects: []fyne.CanvasObject{head, rest}}
}

type headed struct{}

// Layout implements [fyne.Layout].
func (headed) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	head, rest := objects[0], objects[1]
	if !head.Visible() {
		rest.Move(fyne.NewPos(0, 0))
		rest.Resize(size)
		return
	}
	head.Resize(fyne.NewSize(size.Width, head.MinSize().Height))
	high := head.MinSize().Height
	head.Resize(fyne.NewSize(size.Width, high))
	high += theme.Padding()
	rest.Move(fyne.NewPos(0, high))
	rest.Resize(fyne.NewSize(size.Width, max(size.Height-high, 0)))
}

// MinSize implements [fyne.Layout].
func (headed) MinSize(objects []fyne.CanvasObject) fyne.Size {
	if !objects[0].Visible() {
		return objects[1].MinSize()
	}
	head, rest := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(max(head.Width, rest.Width), head.Height+theme.Padding()+rest.Height)
}

// NewSized returns an entry with the width of a sample text.
func NewSized(sample string, entry fyne.CanvasObject) *fyne.Container {
	return &fyne.Container{Layout: sized(sample), Objects: []fyne.CanvasObject{entry}}
}

type sized string

// Layout implements [fyne.Layout].
func (sized) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

// MinSize implements [fyne.Layout].
func (s sized) MinSize(objects []fyne.CanvasObject) fyne.Size {
	wide := fyne.MeasureText(string(s), theme.TextSize(), fyne.TextStyle{}).Width
	return fyne.NewSize(wide+4*theme.InnerPadding(), objects[0].MinSize().Height)
}
