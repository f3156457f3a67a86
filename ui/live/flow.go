package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// flow puts objects beside each other, each as large as it needs, in as many lines as the width makes of them.
type flow struct{ width float32 } // of the last layout

// lay returns the height of all; it places them if told so.
func (f *flow) lay(objects []fyne.CanvasObject, width float32, place bool) float32 {
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

// MinSize is part of [fyne.Layout]; it has the height for the width of the last layout.
func (f *flow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var widest float32
	for _, o := range objects {
		if o.Visible() {
			widest = max(widest, o.MinSize().Width)
		}
	}
	return fyne.NewSize(widest, f.lay(objects, max(f.width, widest), false))
}

// Layout is part of [fyne.Layout].
func (f *flow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	f.width = size.Width
	f.lay(objects, size.Width, true)
}
