package fleet

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
)

// wrapping lays out objects in as few rows as the width allows. The rows share the height, and the objects of a row its width.
type wrapping struct {
	page *container.Scroll // around the objects; nil if there is none
	rows int               // at the last width
}

// MinSize implements [fyne.Layout]. The height is for the width of the last layout.
func (w *wrapping) MinSize(objects []fyne.CanvasObject) fyne.Size {
	one := largest(objects)
	rows := float32(max(w.rows, 1))
	return fyne.NewSize(one.Width, rows*one.Height+(rows-1)*theme.Padding())
}

// largest returns the size that each of some objects can have.
func largest(objects []fyne.CanvasObject) (size fyne.Size) {
	for _, o := range objects {
		size = size.Max(o.MinSize())
	}
	return size
}

// Layout implements [fyne.Layout].
func (w *wrapping) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if len(objects) == 0 {
		return
	}
	gap := theme.Padding()
	most := max(int((size.Width+gap)/(largest(objects).Width+gap)), 1)
	rows := (len(objects) + most - 1) / most
	high := (size.Height - float32(rows-1)*gap) / float32(rows)
	for row, rest := 0, objects; row < rows; row++ {
		these := rest[:min(most, len(rest))]
		rest = rest[len(these):]
		wide := (size.Width - float32(len(these)-1)*gap) / float32(len(these))
		for i, o := range these {
			o.Move(fyne.NewPos(float32(i)*(wide+gap), float32(row)*(high+gap)))
			o.Resize(fyne.NewSize(wide, high))
		}
	}
	if w.rows != rows {
		w.rows = rows
		if w.page != nil { // it has another height
			w.page.Refresh()
		}
	}
}
