package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// pieces holds the objects of a screen one by one while the toolkit applies a look. It refreshes each object once for every object around
// it, which takes a second for a large screen.
type pieces struct {
	widget.BaseWidget
	all []fyne.CanvasObject
}

func newPieces() *pieces {
	p := &pieces{}
	p.ExtendBaseWidget(p)
	return p
}

// add adds an object, or what it only arranges.
func (p *pieces) add(objects ...fyne.CanvasObject) {
	for _, o := range objects {
		switch o := o.(type) {
		case *fyne.Container:
			p.add(o.Objects...)
		case *container.Scroll:
			p.add(o.Content)
		case *container.Split:
			p.add(o.Leading, o.Trailing)
		case *widgets.Panel:
			p.add(o.Parts()...)
		default:
			p.all = append(p.all, o)
		}
	}
}

// CreateRenderer implements [fyne.Widget].
func (p *pieces) CreateRenderer() fyne.WidgetRenderer { return piecesRenderer{p} }

type piecesRenderer struct{ of *pieces }

func (r piecesRenderer) Objects() []fyne.CanvasObject { return r.of.all }
func (r piecesRenderer) MinSize() fyne.Size           { return fyne.Size{} }
func (r piecesRenderer) Layout(fyne.Size)             {}
func (r piecesRenderer) Refresh()                     {}
func (r piecesRenderer) Destroy()                     {}

// restyle applies a look to all windows.
func (a *App) restyle(look fyne.Theme) {
	frames := append([]*frame{a.frame}, a.others...)
	screens := make([][]fyne.CanvasObject, len(frames))
	for i, f := range frames {
		f.pieces.add(f.content)
		screens[i], f.content.Objects = f.content.Objects, nil
	}
	a.app.Settings().SetTheme(look)
	for i, f := range frames {
		f.content.Objects, f.pieces.all = screens[i], nil
		f.content.Refresh() // what arranges them
		f.current.look = a.look()
	}
}
