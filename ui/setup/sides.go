package setup

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// sides lays out the screen: the scenarios at the left, the form at the right, the bar below. It sets the width of the bar first, because
// its height depends on the width.
type sides struct{}

// Width of the list of scenarios in text sizes, and its minimum.
const (
	galleryEms      = 19.5
	leastGalleryEms = 12
)

// Layout implements [fyne.Layout].
func (sides) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	gallery, page, bar, gap := objects[0], objects[1], objects[2], theme.Padding()
	bar.Resize(fyne.NewSize(size.Width, bar.MinSize().Height))
	low := bar.MinSize().Height
	bar.Resize(fyne.NewSize(size.Width, low))
	bar.Move(fyne.NewPos(0, size.Height-low))
	least := max(gallery.MinSize().Width, leastGalleryEms*theme.TextSize())
	wide := max(least, min(galleryEms*theme.TextSize(), size.Width-gap-page.MinSize().Width))
	high := max(size.Height-low-gap, 0)
	gallery.Move(fyne.NewPos(0, 0))
	gallery.Resize(fyne.NewSize(wide, high))
	page.Move(fyne.NewPos(wide+gap, 0))
	page.Resize(fyne.NewSize(max(size.Width-wide-gap, 0), high))
}

// MinSize implements [fyne.Layout].
func (sides) MinSize(objects []fyne.CanvasObject) fyne.Size {
	gallery, page, bar, gap := objects[0].MinSize(), objects[1].MinSize(), objects[2].MinSize(), theme.Padding()
	wide := max(gallery.Width, leastGalleryEms*theme.TextSize())
	return fyne.NewSize(max(wide+gap+page.Width, bar.Width), max(gallery.Height, page.Height)+gap+bar.Height)
}

// footing lays out the bar: text, warnings and the launch button in one line or, if that is too narrow, with the warnings in lines below.
type footing struct{ below float32 } // height of the lines below at the last width

// leastText is the minimum width of the text in one line with the rest, in text sizes.
const leastText = 20

// Layout implements [fyne.Layout].
func (f *footing) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	text, launch, gap := objects[0], objects[1], theme.Padding()
	least := launch.MinSize()
	right := size.Width - least.Width
	launch.Resize(least)
	var notices []fyne.CanvasObject
	wide := float32(0)
	for _, o := range objects[2:] {
		if o.Visible() {
			notices = append(notices, o)
			wide += o.MinSize().Width + gap
		}
	}
	f.below = 0
	if right-wide >= leastText*theme.TextSize() {
		for _, o := range slices.Backward(notices) {
			right -= o.MinSize().Width + gap
			o.Resize(o.MinSize())
			o.Move(fyne.NewPos(right, (size.Height-o.MinSize().Height)/2))
		}
	} else {
		f.below = flow(notices, size.Width, gap, 0)
	}
	first := size.Height - f.below
	launch.Move(fyne.NewPos(size.Width-least.Width, (first-least.Height)/2))
	text.Resize(fyne.NewSize(right-2*gap, text.MinSize().Height))
	high := text.MinSize().Height
	text.Resize(fyne.NewSize(right-2*gap, high))
	text.Move(fyne.NewPos(0, max(first-high, 0)/2))
	if f.below > 0 {
		flow(notices, size.Width, gap, first+gap)
	}
}

// flow lays out objects in lines below top, and returns the height of the lines with the gap above.
func flow(objects []fyne.CanvasObject, width, gap, top float32) float32 {
	x, y, high := float32(0), top, float32(0)
	for _, o := range objects {
		least := o.MinSize()
		if x > 0 && x+least.Width > width {
			x, y, high = 0, y+high, 0
		}
		o.Resize(least)
		o.Move(fyne.NewPos(x, y))
		x, high = x+least.Width+gap, max(high, least.Height)
	}
	return y + high - top + gap
}

// MinSize implements [fyne.Layout]. The height is for the width of the last layout.
func (f *footing) MinSize(objects []fyne.CanvasObject) fyne.Size {
	text, launch := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(launch.Width+6*theme.TextSize(), max(text.Height, launch.Height)+f.below)
}
