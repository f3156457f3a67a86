package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Flow lays out objects from left to right at their minimum sizes, and starts a new line where the width is used up.
type Flow struct{ width float32 } // of the last layout

// lay returns the total height; if place is set, it also places the objects.
func (f *Flow) lay(objects []fyne.CanvasObject, width float32, place bool) float32 {
	gap := theme.Padding()
	var x, y, line float32
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		size := o.MinSize()
		if x > 0 && x+size.Width > width+0.5 {
			x, y, line = 0, y+line+gap, 0
		}
		if place {
			o.Move(fyne.NewPos(x, y))
			o.Resize(size)
		}
		x, line = x+size.Width+gap, max(line, size.Height)
	}
	return y + line
}

// MinSize implements [fyne.Layout]. The height is for the width of the last layout.
func (f *Flow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var widest float32
	for _, o := range objects {
		if o.Visible() {
			widest = max(widest, o.MinSize().Width)
		}
	}
	return fyne.NewSize(widest, f.lay(objects, max(f.width, widest), false))
}

// Layout implements [fyne.Layout].
func (f *Flow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	f.width = size.Width
	f.lay(objects, size.Width, true)
}
