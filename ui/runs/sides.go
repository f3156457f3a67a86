package runs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// sides lays out two objects: side by side if the width allows it, otherwise the second above the first, which takes the larger height. It
// calls changed when the layout changes.
type sides struct {
	stacked bool
	changed func()
}

// MinSize implements [fyne.Layout].
func (l *sides) MinSize(objects []fyne.CanvasObject) fyne.Size {
	side, main := objects[0].MinSize(), objects[1].MinSize()
	if l.stacked {
		return fyne.NewSize(max(side.Width, main.Width), side.Height+theme.Padding()+main.Height)
	}
	return fyne.NewSize(max(side.Width, main.Width), max(side.Height, main.Height))
}

// Layout implements [fyne.Layout].
func (l *sides) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	side, main := objects[0], objects[1]
	gap := theme.Padding()
	wide, high := side.MinSize().Width, side.MinSize().Height
	stacked := wide+2*gap+main.MinSize().Width > size.Width
	if stacked {
		high = max(high, (size.Height-gap)/2)
		main.Move(fyne.NewPos(0, 0))
		main.Resize(fyne.NewSize(size.Width, size.Height-gap-high))
		side.Move(fyne.NewPos(0, size.Height-high))
		side.Resize(fyne.NewSize(size.Width, high))
	} else {
		side.Move(fyne.NewPos(0, 0))
		side.Resize(fyne.NewSize(wide, size.Height))
		main.Move(fyne.NewPos(wide+2*gap, 0))
		main.Resize(fyne.NewSize(size.Width-wide-2*gap, size.Height))
	}
	if l.stacked != stacked {
		l.stacked = stacked
		l.changed()
	}
}
