package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
)

// page lays out the screen: the header, the limit and the tiles, then the tabs, which take the remaining height. Everything except the foot
// scrolls if the height is too small.
type page struct {
	content *fyne.Container
	scroll  *container.Scroll
	body    *fyne.Container
	frame   *fyne.Container // with the foot
	screen  *Screen
}

func newPage(s *Screen) *page {
	p := &page{screen: s}
	top := container.NewVBox(s.header.content, s.limit.content, s.tiles.content)
	p.body = container.New(&dashboard{page: p}, top, s.tabs.content)
	p.scroll = container.NewVScroll(p.body)
	s.charts.group.Within(p.scroll)
	p.frame = container.NewBorder(nil, s.history.content, nil, nil, p.scroll)
	p.content = container.NewStack(p.frame)
	return p
}

// again lays out the page after a change of height.
func (p *page) again() {
	p.frame.Refresh()
	p.scroll.Refresh()
	p.body.Refresh()
}

// dashboard lays out the top and the tabs.
type dashboard struct {
	page  *page
	width float32 // at the last layout
	short bool
}

// shortBelow is the height in text sizes below which the page leaves out what other parts say as well, so that the tabs are in view.
const shortBelow = 37

// fit leaves out parts in a short window.
func (d *dashboard) fit() {
	short := d.page.scroll.Size().Height < shortBelow*theme.TextSize()
	if short == d.short {
		return
	}
	d.short = short
	d.page.screen.tiles.shorten(short)
	see(d.page.screen.limit.foot, !short)
	d.page.scroll.Refresh()
}

// MinSize implements [fyne.Layout].
func (d *dashboard) MinSize(objects []fyne.CanvasObject) fyne.Size {
	top, rest := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(max(top.Width, rest.Width), top.Height+theme.Padding()+rest.Height)
}

// Layout implements [fyne.Layout]. It sets the width of the top first, because its height depends on the width.
func (d *dashboard) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	d.fit()
	top, rest := objects[0], objects[1]
	top.Resize(fyne.NewSize(size.Width, top.MinSize().Height))
	high := top.MinSize().Height
	top.Resize(fyne.NewSize(size.Width, high))
	y := high + theme.Padding()
	place(rest, 0, y, size.Width, size.Height-y)
	if d.width != size.Width { // wrapped texts may have another height now
		d.width = size.Width
		d.page.scroll.Refresh()
	}
}

// overview puts the lists below the charts, or at their right in wide windows.
type overview struct{}

const (
	listsAsideFrom = 1450 // width from which the lists are at the right
	listShare      = 0.36 // of the width or the height
)

// MinSize implements [fyne.Layout].
func (overview) MinSize(objects []fyne.CanvasObject) fyne.Size {
	charts, lists := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(max(charts.Width, lists.Width), charts.Height+theme.Padding()+lists.Height)
}

// Layout implements [fyne.Layout].
func (overview) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	charts, lists := objects[0], objects[1]
	gap := theme.Padding()
	if size.Width >= listsAsideFrom {
		width := size.Width * listShare
		place(charts, 0, 0, size.Width-width-gap, size.Height)
		place(lists, size.Width-width, 0, width, size.Height)
		return
	}
	least := lists.MinSize().Height
	height := max(least, min(size.Height*listShare, size.Height-gap-charts.MinSize().Height))
	place(charts, 0, 0, size.Width, size.Height-gap-height)
	place(lists, 0, size.Height-height, size.Width, height)
}

func place(o fyne.CanvasObject, x, y, width, height float32) {
	o.Move(fyne.NewPos(x, y))
	o.Resize(fyne.NewSize(width, height))
}

// inline lays out objects in a line, centered vertically. The first gets the width it needs, if the others leave enough.
type inline struct {
	first interface {
		fyne.CanvasObject
		Natural() float32
	}
}

// MinSize implements [fyne.Layout].
func (l inline) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return layout.NewHBoxLayout().MinSize(objects)
}

// Layout implements [fyne.Layout].
func (l inline) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	others := l.MinSize(objects).Width - l.first.MinSize().Width
	x := float32(0)
	for _, o := range objects {
		own := o.MinSize()
		if o == l.first {
			own.Width = max(min(l.first.Natural()+theme.InnerPadding(), size.Width-others), own.Width)
		}
		o.Move(fyne.NewPos(x, (size.Height-own.Height)/2))
		o.Resize(own)
		x += own.Width + theme.Padding()
	}
}

// weighted divides the width by weights; all objects have the height of the highest.
type weighted []float32

// MinSize implements [fyne.Layout].
func (w weighted) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return layout.NewCustomPaddedHBoxLayout(2 * theme.InnerPadding()).MinSize(objects)
}

// Layout implements [fyne.Layout].
func (w weighted) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	var sum float32
	for _, weight := range w {
		sum += weight
	}
	gap := 2 * theme.InnerPadding()
	room := size.Width - gap*float32(len(objects)-1)
	x := float32(0)
	for i, o := range objects {
		width := room * w[i] / sum
		o.Move(fyne.NewPos(x, 0))
		o.Resize(fyne.NewSize(width, size.Height))
		x += width + gap
	}
}
