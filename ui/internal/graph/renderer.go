package graph

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// CreateRenderer implements [fyne.Widget].
func (g *Graph) CreateRenderer() fyne.WidgetRenderer {
	g.sheet.dress()
	return &renderer{g}
}

type renderer struct{ graph *Graph }

func (r *renderer) Destroy() {}

// Objects holds what scrolls only where the drawing does not fit: else the wheel is for the page.
func (r *renderer) Objects() []fyne.CanvasObject {
	g := r.graph
	if g.whole {
		return []fyne.CanvasObject{g.sheet, g.title, g.note}
	}
	return []fyne.CanvasObject{g.scroll, g.title, g.note}
}

// noteAside reports whether the note is next to the drawing in a width, and the width of the drawing.
func noteAside(width float32) (aside bool, left float32) {
	if width >= sideFrom {
		return true, width - sideWidth - 3*theme.Padding()
	}
	return false, width
}

// below is the height that a title and some lines take.
func below() float32 {
	high := func(size float32) float32 { return fyne.MeasureText("M", size, fyne.TextStyle{}).Height }
	return high(theme.TextSize()) + noteLines*high(theme.CaptionTextSize()) + theme.Padding()
}

// MinSize has the height for the width of the last layout.
func (r *renderer) MinSize() fyne.Size {
	g := r.graph
	height := max(min(g.sheet.layout.h+1, g.most), min(leastHigh, g.most))
	if aside, _ := noteAside(g.Size().Width); !aside {
		height += below()
	}
	return fyne.NewSize(g.sheet.layout.lead+g.sheet.layout.width+100, height)
}

// Layout puts the drawing where there is room.
func (r *renderer) Layout(size fyne.Size) {
	g := r.graph
	if size.Width <= 0 || size.Height <= 0 {
		return
	}
	aside, width := noteAside(size.Width)
	room := fyne.NewSize(width, size.Height)
	if !aside {
		room.Height = max(size.Height-below(), 0)
	}
	g.fit(width)
	g.place(room)
	x, y, w := float32(0), room.Height+theme.Padding(), width
	if aside {
		x, y, w = width+3*theme.Padding(), 0, sideWidth
	}
	title := g.title.MinSize().Height
	g.title.Move(fyne.NewPos(x, y))
	g.title.Resize(fyne.NewSize(w, title))
	line := fyne.MeasureText("M", theme.CaptionTextSize(), fyne.TextStyle{}).Height
	if lines := max(int((size.Height-y-title)/line), 1); g.note.Lines != lines {
		g.note.Lines = lines
		g.note.Refresh()
	}
	g.note.Move(fyne.NewPos(x, y+title))
	g.note.Resize(fyne.NewSize(w, size.Height-y-title))
}

// place shows the drawing as it is, or scrolls it.
func (g *Graph) place(room fyne.Size) {
	l := g.sheet.layout
	g.whole = l.w <= room.Width && l.h <= room.Height
	if g.whole {
		g.scroll.Content = nothing()
		g.sheet.Move(fyne.NewPos(0, 0))
		g.sheet.Resize(room)
	} else {
		g.scroll.Content = g.sheet
		g.scroll.Resize(room)
		g.scroll.Refresh()
	}
	g.look()
}

// Refresh follows the theme and what is shown.
func (r *renderer) Refresh() {
	g := r.graph
	g.width = 0
	g.sheet.dress()
	r.Layout(g.Size())
	g.title.Refresh()
	g.note.Refresh()
}
