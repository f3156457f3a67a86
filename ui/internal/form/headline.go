package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
)

// newHeadline places a title at the left and a short object at the right. If the width is too small for both in one line, the title wraps;
// if the title would have less than half of the width, the other object is below it.
func newHeadline(title *Note, aside fyne.CanvasObject) *fyne.Container {
	return container.New(&headline{title: title}, title, aside)
}

// headline is its layout. The minimum height is for the width of the last layout, so use it in a [NewStack].
type headline struct {
	title *Note
	below bool
}

// titleEms is the minimum width of the title, in text heights.
const titleEms = 16

// full returns the width of the title in one line.
func (h *headline) full() float32 {
	return fyne.MeasureText(h.title.Text(), h.title.textSize(), fyne.TextStyle{}).Width
}

// Layout implements [fyne.Layout].
func (h *headline) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	title, aside, least := objects[0], objects[1], objects[1].MinSize()
	title.Move(fyne.Position{})
	h.below = false
	if !aside.Visible() {
		Fit(title, size.Width)
		return
	}
	rest := size.Width - least.Width - theme.Padding()
	if h.below = rest < h.full() && rest < size.Width/2; h.below {
		aside.Move(fyne.NewPos(0, Fit(title, size.Width)))
		aside.Resize(fyne.NewSize(size.Width, least.Height))
		return
	}
	Fit(title, rest)
	aside.Move(fyne.NewPos(size.Width-least.Width, 0))
	aside.Resize(least)
}

// MinSize implements [fyne.Layout].
func (h *headline) MinSize(objects []fyne.CanvasObject) fyne.Size {
	title, aside := objects[0].MinSize(), objects[1].MinSize()
	size := fyne.NewSize(min(h.full(), titleEms*theme.TextSize()), title.Height)
	switch {
	case !objects[1].Visible():
	case h.below:
		size.Width, size.Height = max(size.Width, aside.Width), title.Height+aside.Height
	default:
		size.Width, size.Height = size.Width+theme.Padding()+aside.Width, max(title.Height, aside.Height)
	}
	return size
}
