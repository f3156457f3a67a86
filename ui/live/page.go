package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// The widths from which there is more beside each other, in device-independent pixels.
const (
	threeCharts = 900  // in a row, instead of two
	splitFrom   = 1450 // two views, where a person wants that
	columnsFrom = 1900 // charts, another view and all the lists
)

// page lays the screen out: what is shown of the run in the middle gets the height that is left, and all but the foot
// scrolls where it is too little. In wide windows the lists stand at the right, all of them.
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
	p.frame = container.NewBorder(nil, s.back.content, nil, nil, p.scroll)
	p.content = container.New(p, p.frame)
	return p
}

// MinSize is part of [fyne.Layout].
func (p *page) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

// Layout is part of [fyne.Layout].
func (p *page) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	p.views.fit(size.Width)
	if columns := size.Width >= columnsFrom; p.columns != columns {
		p.columns = columns
		p.lists.spread(columns)
	}
	objects[0].Resize(size)
}

// makeRoom hides the lists for a view that has its own.
func (p *page) makeRoom() {
	if p.views.alone() {
		p.lists.content.Hide()
	} else {
		p.lists.content.Show()
	}
}

// again lays out what has become higher or lower.
func (p *page) again() {
	p.frame.Refresh()
	p.scroll.Refresh()
	p.body.Refresh()
}

// dashboard lays out the top, the views and the lists.
type dashboard struct {
	page  *page
	width float32 // of the last layout
}

// listsShare is how much of the height that the top leaves goes to the lists below, at most; and of the width, beside.
const (
	listsBelow  = 0.26
	listsBeside = 0.27
)

// MinSize is part of [fyne.Layout].
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

// Layout is part of [fyne.Layout]. The top is given its width first: what wraps in it is as high as it has to be there.
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
	if d.width != size.Width { // what wraps may take another height now
		d.width = size.Width
		d.page.scroll.Refresh()
	}
}

func place(o fyne.CanvasObject, x, y, width, height float32) {
	o.Move(fyne.NewPos(x, y))
	o.Resize(fyne.NewSize(width, height))
}

// inline puts objects beside each other, centred in the height. The first gets the room that it needs, as far as the
// others leave it.
type inline struct{ first *widgets.Line }

// MinSize is part of [fyne.Layout].
func (l inline) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return layout.NewHBoxLayout().MinSize(objects)
}

// Layout is part of [fyne.Layout].
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

// weighted shares the width by weights, and every object is as high as the highest.
type weighted []float32

// MinSize is part of [fyne.Layout].
func (w weighted) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return layout.NewCustomPaddedHBoxLayout(2 * theme.InnerPadding()).MinSize(objects)
}

// Layout is part of [fyne.Layout].
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
