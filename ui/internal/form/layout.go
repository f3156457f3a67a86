package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
)

// NewStack lays out objects from top to bottom at full width. Unlike a VBox it sets the widths first, because the height of wrapped texts
// depends on them.
func NewStack(objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&columns{gap: 1}, objects...)
}

// NewPanels is a stack with the gap of panels.
func NewPanels(objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&columns{gap: 2}, objects...)
}

// NewColumns lays out objects side by side in as many equal columns as fit, each at least ems text heights wide.
func NewColumns(ems float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&columns{ems: ems, gap: 2}, objects...)
}

// columns lays out objects in rows of n; a row has the height of its highest object. n depends on the width.
type columns struct {
	ems float32 // minimum width of a column; 0 is one column
	gap float32 // between objects, in paddings
	n   int     // at the last width
}

// Layout implements [fyne.Layout].
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
		height := float32(0)
		for _, o := range row {
			height = max(height, Fit(o, width))
		}
		for i, o := range row {
			o.Move(fyne.NewPos(float32(i)*(width+gap), y))
			o.Resize(fyne.NewSize(width, height))
		}
		y += height + gap
	}
}

// MinSize implements [fyne.Layout]. The height is for the width of the last layout. It measures each object once, because measuring twice
// would double the work for each level of nested columns.
func (c *columns) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	height := float32(0)
	for i, o := range visible(objects) {
		if i > 0 && i%max(c.n, 1) == 0 {
			size.Height += height + c.gap*theme.Padding()
			height = 0
		}
		least := o.MinSize()
		size.Width = max(size.Width, least.Width)
		height = max(height, least.Height)
	}
	size.Height += height
	return size
}

// Fit sets the width of an object, and then its height for that width, which it returns. It keeps the height until then, so that an object
// whose width stays is laid out once.
func Fit(o fyne.CanvasObject, width float32) (height float32) {
	o.Resize(fyne.NewSize(width, o.Size().Height))
	height = o.MinSize().Height
	o.Resize(fyne.NewSize(width, height))
	return height
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

// Reveal scrolls to show an object in the scroll's content.
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
