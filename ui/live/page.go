package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Minimum widths of the larger layouts, in device-independent pixels.
const (
	threeCharts = 900  // three charts in a row, instead of two
	splitFrom   = 1450 // two views, if the user chooses that
	columnsFrom = 1900 // charts, another view and all the lists
)

// page lays out the screen. The views take the remaining height; everything except the foot scrolls if the height is too small. In wide
// windows all lists are at the right.
type page struct {
	content *fyne.Container
	scroll  *container.Scroll
	body    *fyne.Container
	frame   *fyne.Container // with the foot
	views   *views
	lists   *lists
	columns bool
}

func newPage(s *Screen) *page {
	p := &page{views: s.views, lists: s.lists}
	top := container.NewVBox(s.header.content, s.limit.content, s.figures.content)
	p.body = container.New(&dashboard{page: p}, top, s.views.content, s.lists.content)
	p.scroll = container.NewVScroll(p.body)
	p.frame = container.NewBorder(nil, s.history.content, nil, nil, p.scroll)
	p.content = container.New(p, p.frame)
	return p
}

// MinSize implements [fyne.Layout].
func (p *page) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

// Layout implements [fyne.Layout].
func (p *page) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	p.views.fit(size.Width)
	if columns := size.Width >= columnsFrom; p.columns != columns {
		p.columns = columns
		p.lists.spread(columns)
	}
	objects[0].Resize(size)
}

// makeRoom hides the lists for a view that needs the height.
func (p *page) makeRoom() {
	if p.views.alone() {
		p.lists.content.Hide()
	} else {
		p.lists.content.Show()
	}
}

// again lays out the page after a change of height.
func (p *page) again() {
	p.frame.Refresh()
	p.scroll.Refresh()
	p.body.Refresh()
}

// dashboard lays out the top, the views and the lists.
type dashboard struct {
	page  *page
	width float32 // at the last layout
}

// listsBelow and listsBeside are the maximum share of the lists, of the height below the top or of the width.
const (
	listsBelow  = 0.26
	listsBeside = 0.27
)

// MinSize implements [fyne.Layout].
func (d *dashboard) MinSize(objects []fyne.CanvasObject) fyne.Size {
	top, views, lists := objects[0].MinSize(), objects[1].MinSize(), objects[2].MinSize()
	gap := theme.Padding()
	if d.page.columns {
		return fyne.NewSize(max(top.Width, views.Width+gap+lists.Width), top.Height+gap+max(views.Height, lists.Height))
	}
	if !objects[2].Visible() {
		return fyne.NewSize(max(top.Width, views.Width), top.Height+gap+views.Height)
	}
	return fyne.NewSize(max(top.Width, views.Width, lists.Width), top.Height+2*gap+views.Height+lists.Height)
}

// Layout implements [fyne.Layout]. It sets the width of the top first, because its height depends on the width.
func (d *dashboard) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	top, views, lists := objects[0], objects[1], objects[2]
	gap := theme.Padding()
	top.Resize(fyne.NewSize(size.Width, top.MinSize().Height))
	high := top.MinSize().Height
	top.Resize(fyne.NewSize(size.Width, high))
	y := high + gap
	rest := size.Height - y
	switch {
	case d.page.columns:
		width := max(size.Width*listsBeside, lists.MinSize().Width)
		place(views, 0, y, size.Width-width-gap, rest)
		place(lists, size.Width-width, y, width, rest)
	case !lists.Visible():
		place(views, 0, y, size.Width, rest)
	default:
		least := lists.MinSize().Height
		height := max(least, min(rest*listsBelow, rest-gap-views.MinSize().Height))
		place(views, 0, y, size.Width, rest-gap-height)
		place(lists, 0, size.Height-height, size.Width, height)
	}
	if d.width != size.Width { // wrapped texts may have another height now
		d.width = size.Width
		d.page.scroll.Refresh()
	}
}

func place(o fyne.CanvasObject, x, y, width, height float32) {
	o.Move(fyne.NewPos(x, y))
	o.Resize(fyne.NewSize(width, height))
}

// inline lays out objects in a line, centered vertically. The first gets the width it needs, if the others leave enough.
type inline struct{ first *widgets.Line }

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
