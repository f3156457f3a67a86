package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// rows lays out objects in rows of equal columns, at least ems text sizes wide each, with similar numbers of objects in every row. If all
// objects fit in one row, weights divide its width. The minimum height is for the width of the last layout.
type rows struct {
	ems     float32
	weights weighted // nil: equal widths
	n       int      // columns; 0 before the first layout
}

// fit returns the number of columns for a width.
func (r *rows) fit(count int, width float32) int {
	gap := 2 * theme.InnerPadding()
	n := min(max(int((width+gap)/(r.ems*theme.TextSize()+gap)), 1), count)
	lines := (count + n - 1) / n
	return (count + lines - 1) / lines
}

// MinSize implements [fyne.Layout].
func (r *rows) MinSize(objects []fyne.CanvasObject) fyne.Size {
	n := r.n
	if n == 0 {
		n = len(objects)
	}
	lines := float32((len(objects) + n - 1) / n)
	high := highest(objects)
	return fyne.NewSize(r.ems*theme.TextSize(), lines*high+(lines-1)*theme.Padding())
}

// Layout implements [fyne.Layout].
func (r *rows) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	r.n = r.fit(len(objects), size.Width)
	high := highest(objects)
	if r.n == len(objects) && r.weights != nil {
		r.weights.Layout(objects, fyne.NewSize(size.Width, high))
		return
	}
	gap := 2 * theme.InnerPadding()
	width := (size.Width - gap*float32(r.n-1)) / float32(r.n)
	for i, o := range objects {
		place(o, float32(i%r.n)*(width+gap), float32(i/r.n)*(high+theme.Padding()), width, high)
	}
}

func highest(objects []fyne.CanvasObject) (high float32) {
	for _, o := range objects {
		high = max(high, o.MinSize().Height)
	}
	return high
}

// leftRight puts one object at the left and one at the right, or the second below the first if the width is too small.
type leftRight struct {
	least   float32 // width of the first, in text sizes
	stacked bool
}

// MinSize implements [fyne.Layout].
func (b *leftRight) MinSize(objects []fyne.CanvasObject) fyne.Size {
	if len(objects) == 1 {
		return objects[0].MinSize()
	}
	first, second := objects[0].MinSize(), objects[1].MinSize()
	if b.stacked {
		return fyne.NewSize(max(first.Width, second.Width), first.Height+theme.Padding()+second.Height)
	}
	return fyne.NewSize(max(first.Width, second.Width), max(first.Height, second.Height))
}

// Layout implements [fyne.Layout].
func (b *leftRight) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if len(objects) == 1 {
		objects[0].Resize(size)
		return
	}
	first, second := objects[0].MinSize(), objects[1].MinSize()
	if b.stacked = second.Width+theme.Padding()+b.least*theme.TextSize() > size.Width; b.stacked {
		place(objects[0], 0, 0, size.Width, first.Height)
		place(objects[1], 0, first.Height+theme.Padding(), second.Width, second.Height)
		return
	}
	place(objects[0], 0, 0, size.Width-second.Width-theme.Padding(), size.Height)
	place(objects[1], size.Width-second.Width, (size.Height-second.Height)/2, second.Width, second.Height)
}

// between puts the third object between the others, or below them at full width if the width is too small.
type between struct{ stacked bool }

// MinSize implements [fyne.Layout].
func (a *between) MinSize(objects []fyne.CanvasObject) fyne.Size {
	left, right, middle := objects[0].MinSize(), objects[1].MinSize(), objects[2].MinSize()
	high := max(left.Height, right.Height)
	if a.stacked {
		high += theme.Padding() + middle.Height
	}
	return fyne.NewSize(left.Width+theme.Padding()+right.Width, max(high, middle.Height))
}

// Layout implements [fyne.Layout].
func (a *between) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	left, right, middle := objects[0].MinSize(), objects[1].MinSize(), objects[2].MinSize()
	gap, high := theme.Padding(), size.Height
	a.stacked = left.Width+right.Width+2*gap+max(middle.Width, 18*theme.TextSize()) > size.Width
	if a.stacked {
		high = max(left.Height, right.Height)
		place(objects[2], 0, high+gap, size.Width, middle.Height)
	} else {
		place(objects[2], left.Width+gap, 0, size.Width-left.Width-right.Width-2*gap, high)
	}
	place(objects[0], 0, 0, left.Width, high)
	place(objects[1], size.Width-right.Width, 0, right.Width, high)
}

// evenly divides a height among objects.
type evenly struct{}

// MinSize implements [fyne.Layout].
func (evenly) MinSize(objects []fyne.CanvasObject) (size fyne.Size) {
	for _, o := range objects {
		least := o.MinSize()
		size = fyne.NewSize(max(size.Width, least.Width), size.Height+least.Height+theme.Padding())
	}
	return size
}

// Layout implements [fyne.Layout].
func (evenly) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	gap := theme.Padding()
	height := (size.Height - gap*float32(len(objects)-1)) / float32(len(objects))
	for i, o := range objects {
		place(o, 0, float32(i)*(height+gap), size.Width, height)
	}
}

// roomFor reserves the height of a table with this many rows and a header.
type roomFor int

// MinSize implements [fyne.Layout].
func (r roomFor) MinSize(objects []fyne.CanvasObject) fyne.Size {
	line := fyne.MeasureText("M", theme.TextSize(), fyne.TextStyle{}).Height + 3*theme.Padding()
	return fyne.NewSize(highestWidth(objects), line*float32(r+1))
}

// Layout implements [fyne.Layout].
func (r roomFor) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		place(o, 0, 0, size.Width, size.Height)
	}
}

func highestWidth(objects []fyne.CanvasObject) (width float32) {
	for _, o := range objects {
		width = max(width, o.MinSize().Width)
	}
	return width
}
