package setup

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// sides lays out the screen: the scenarios at the left, the form in the middle, and at the right the forecast and the checks above the
// button to launch. A narrow window has the forecast below the scenarios, and the button below everything.
type sides struct{ gallery *gallery }

// Widths in text sizes.
const (
	galleryEms      = 19.5
	leastGalleryEms = 13
	narrowEms       = 15 // of both, below each other
	asideEms        = 20
	formEms         = 34
	leastFormEms    = 28
)

// Layout implements [fyne.Layout].
func (l sides) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	gallery, page, aside, bar := objects[0], objects[1], objects[2], objects[3]
	em, gap := theme.TextSize(), theme.Padding()
	put := func(o fyne.CanvasObject, x, y, w, h float32) {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(max(w, 0), max(h, 0)))
	}
	fit := func(o fyne.CanvasObject, w float32) float32 {
		o.Resize(fyne.NewSize(w, o.MinSize().Height))
		return o.MinSize().Height
	}
	narrow := size.Width < (leastGalleryEms+leastFormEms+asideEms)*em+2*gap
	l.gallery.shorten(narrow)
	if narrow {
		low := fit(bar, size.Width)
		high := size.Height - low - gap
		left := max(narrowEms*em, min(asideEms*em, size.Width-gap-page.MinSize().Width))
		upper := min(gallery.MinSize().Height+13*em, high/2)
		put(gallery, 0, 0, left, upper)
		put(aside, 0, upper+gap, left, high-upper-gap)
		put(page, left+gap, 0, size.Width-left-gap, high)
		put(bar, 0, high+gap, size.Width, low)
		return
	}
	right := max(asideEms*em, bar.MinSize().Width)
	left := max(leastGalleryEms*em, min(galleryEms*em, size.Width-right-2*gap-formEms*em))
	low := fit(bar, right)
	put(gallery, 0, 0, left, size.Height)
	put(page, left+gap, 0, size.Width-left-right-2*gap, size.Height)
	put(aside, size.Width-right, 0, right, size.Height-low-gap)
	put(bar, size.Width-right, size.Height-low, right, low)
}

// MinSize implements [fyne.Layout]. Everything but the button scrolls.
func (sides) MinSize(objects []fyne.CanvasObject) fyne.Size {
	em, gap := theme.TextSize(), theme.Padding()
	page, bar := objects[1].MinSize(), objects[3].MinSize()
	return fyne.NewSize(max(leastGalleryEms*em+gap+page.Width, bar.Width), 12*em+gap+bar.Height)
}
