package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
)

// NewStack puts objects one below the other over the whole width. Unlike a VBox it gives each its width first, so
// that those that wrap take the height they need there.
func NewStack(objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&columns{gap: 1}, objects...)
}

// NewPanels is a stack with the distance of panels.
func NewPanels(objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&columns{gap: 2}, objects...)
}

// NewColumns puts objects side by side, in as many equal columns of at least so many letters' heights as there is
// room for, and as there are objects.
func NewColumns(ems float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&columns{ems: ems, gap: 2}, objects...)
}

// columns lays objects out in rows of n; a row is as high as its highest. n follows from the width.
type columns struct {
	ems float32 // of a column, at least; 0 is one column
	gap float32 // between objects, in paddings
	n   int     // at the last width
}

// Layout is part of [fyne.Layout].
func (c *columns) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects = visible(objects)
	gap := c.gap * theme.Padding()
	c.n = 1
	if c.ems > 0 {
		c.n = min(max(int((size.Width+gap)/(c.ems*theme.TextSize()+gap)), 1), max(len(objects), 1))
	}
	width := (size.Width - float32(c.n-1)*gap) / float32(c.n)
	y := float32(0)
	for len(objects) > 0 {
		row := objects[:min(c.n, len(objects))]
		objects = objects[len(row):]
		for _, o := range row {
			o.Resize(fyne.NewSize(width, o.MinSize().Height))
		}
		height := highest(row)
		for i, o := range row {
			o.Move(fyne.NewPos(float32(i)*(width+gap), y))
			o.Resize(fyne.NewSize(width, height))
		}
		y += height + gap
	}
}

// MinSize is part of [fyne.Layout]; its height is for the width of the last layout. It asks each object once: in stacks
// of stacks, asking twice would double with each level.
func (c *columns) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	var row float32
	for i, o := range visible(objects) {
		least := o.MinSize()
		size.Width = max(size.Width, least.Width)
		if i > 0 && i%max(c.n, 1) == 0 {
			size.Height += row + c.gap*theme.Padding()
			row = 0
		}
		row = max(row, least.Height)
	}
	size.Height += row
	return size
}

func visible(objects []fyne.CanvasObject) []fyne.CanvasObject {
	shown := make([]fyne.CanvasObject, 0, len(objects))
	for _, o := range objects {
		if o.Visible() {
			shown = append(shown, o)
		}
	}
	return shown
}

func highest(row []fyne.CanvasObject) (height float32) {
	for _, o := range row {
		height = max(height, o.MinSize().Height)
	}
	return height
}

// Reveal scrolls so that an object below the scroll's content is seen.
func Reveal(scroll *container.Scroll, o fyne.CanvasObject) {
	driver := fyne.CurrentApp().Driver()
	y := driver.AbsolutePositionForObject(o).Y - driver.AbsolutePositionForObject(scroll.Content).Y
	top, bottom := y-theme.Padding(), y+o.Size().Height+theme.Padding()
	view := scroll.Size().Height
	switch {
	case top < scroll.Offset.Y:
		scroll.ScrollToOffset(fyne.NewPos(0, max(top, 0)))
	case bottom > scroll.Offset.Y+view:
		scroll.ScrollToOffset(fyne.NewPos(0, min(bottom-view, max(scroll.Content.Size().Height-view, 0))))
	}
}
