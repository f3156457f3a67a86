package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// narrow is the width below which there are two charts in a row instead of three.
const narrow = 1000

// page lays the screen out: the charts, or the chain, get the height that is left, and all of it scrolls where it is too little.
type page struct {
	content *fyne.Container
	scroll  *container.Scroll
	body    *fyne.Container
	charts  *fyne.Container
	figures *fyne.Container
	narrow  bool
}

func newPage(s *Screen) *page {
	p := &page{charts: s.charts.grid, figures: s.figures.grid}
	top := container.NewVBox(s.header.content, s.limit.content, s.figures.content)
	p.body = container.NewBorder(top, s.lists.content, nil, nil, container.NewStack(p.charts, s.chain.panel))
	p.scroll = container.NewVScroll(p.body)
	p.content = container.New(p, p.scroll)
	p.arrange()
	return p
}

// arrange brings the grids in line with the width.
func (p *page) arrange() {
	charts, figures := 3, numFigures
	if p.narrow {
		charts, figures = 2, (numFigures+1)/2
	}
	p.charts.Layout = layout.NewGridLayoutWithColumns(charts)
	p.figures.Layout = layout.NewGridLayoutWithColumns(figures)
}

// MinSize is part of [fyne.Layout].
func (p *page) MinSize([]fyne.CanvasObject) fyne.Size { return p.scroll.MinSize() }

// Layout is part of [fyne.Layout].
func (p *page) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	if is := size.Width < narrow; p.narrow != is {
		p.narrow = is
		p.arrange()
	}
	p.scroll.Resize(size)
}

// again lays out what has become higher or lower.
func (p *page) again() {
	p.scroll.Refresh()
	p.body.Refresh()
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
