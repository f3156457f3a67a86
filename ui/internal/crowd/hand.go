package crowd

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

var (
	_ fyne.Tappable     = (*Grid)(nil)
	_ fyne.Focusable    = (*Grid)(nil)
	_ fyne.Scrollable   = (*Grid)(nil)
	_ fyne.Draggable    = (*Grid)(nil)
	_ desktop.Hoverable = (*Grid)(nil)
)

// wheelStep is how far the wheel turns for a level.
const wheelStep = 10

// Tapped opens the agent under the pointer, or zooms in where a cell stands for many.
func (g *Grid) Tapped(e *fyne.PointEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(g); c != nil {
		c.Focus(g)
	}
	if g.onStrip(e.Position.X) {
		g.seek(e.Position.Y)
		return
	}
	if cell := g.field.find(e.Position.X, e.Position.Y); cell != none {
		g.cursor = cell
		g.open(e.Position.X, e.Position.Y)
	}
}

// open opens the agent at the cursor, or zooms in to it.
func (g *Grid) open(x, y float32) {
	if g.field.level().each > 1 {
		g.field.anchor.holds = false
		g.zoomAt(2, x, y)
		return
	}
	g.selected = g.field.agent(g.cursor)
	g.rings.put(g)
	if g.OnTapped != nil {
		g.OnTapped(g.selected)
	}
}

// onStrip reports whether something is at the strip that tells where one is.
func (g *Grid) onStrip(x float32) bool {
	return g.field.scrolls() && x >= g.field.w-stripWidth-stripGap/2
}

// seek brings the part of the crowd into view that the strip shows at a height.
func (g *Grid) seek(y float32) {
	g.pan(y/g.field.h*g.field.height() - g.field.h/2 - g.field.offset)
}

// pan scrolls by a distance.
func (g *Grid) pan(by float32) {
	before := g.field.offset
	g.field.anchor.holds = false
	g.field.scroll(before + by)
	if g.field.offset == before {
		return
	}
	if g.field.level().each > 1 {
		g.first = none
	}
	g.hovered = none
	g.raster.Refresh()
	g.rings.put(g)
	g.explain()
}

// Dragged scrolls, with the strip to where it is pulled.
func (g *Grid) Dragged(e *fyne.DragEvent) {
	if g.dragging || g.onStrip(e.Position.X-e.Dragged.DX) {
		g.dragging = true
		g.seek(e.Position.Y)
		return
	}
	g.pan(-e.Dragged.DY)
}

// DragEnd implements [fyne.Draggable].
func (g *Grid) DragEnd() { g.dragging = false }

// Scrolled zooms round the pointer; where there is nothing to zoom it is for the page.
func (g *Grid) Scrolled(e *fyne.ScrollEvent) {
	in, out := g.Zooms()
	if !in && !out {
		if g.Page != nil {
			g.Page.Scrolled(e)
		}
		return
	}
	if g.wheel*e.Scrolled.DY < 0 {
		g.wheel = 0
	}
	g.wheel += e.Scrolled.DY
	if steps := int(g.wheel / wheelStep); steps != 0 {
		g.wheel = 0
		g.zoomAt(max(min(steps, 1), -1), e.Position.X, e.Position.Y)
	}
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (g *Grid) MouseIn(e *desktop.MouseEvent) { g.MouseMoved(e) }

// MouseMoved tells of the agent under the pointer.
func (g *Grid) MouseMoved(e *desktop.MouseEvent) {
	cell := none
	if !g.onStrip(e.Position.X) {
		cell = g.field.find(e.Position.X, e.Position.Y)
	}
	g.hover(cell)
}

// MouseOut undoes it.
func (g *Grid) MouseOut() { g.hover(none) }

func (g *Grid) hover(cell int) {
	if g.hovered != cell {
		g.hovered = cell
		g.rings.put(g)
		g.explain()
	}
}

// FocusGained implements [fyne.Focusable], as are FocusLost, TypedRune and TypedKey. It puts the cursor where it can be seen.
func (g *Grid) FocusGained() {
	g.focused = true
	if g.cursor == none && g.field.shown() > 0 {
		g.cursor, _ = g.field.visible()
	}
	g.rings.put(g)
	g.explain()
}

// FocusLost undoes it.
func (g *Grid) FocusLost() {
	g.focused = false
	g.rings.put(g)
	g.explain()
}

// TypedRune zooms with plus and minus; a nought shows all.
func (g *Grid) TypedRune(r rune) {
	switch r {
	case '/':
		if g.OnFind != nil {
			g.OnFind()
		}
	case '+', '=':
		g.Zoom(1)
	case '-', '_':
		g.Zoom(-1)
	case '0':
		g.Zoom(-len(g.field.levels))
	}
}

// TypedKey moves the cursor. Where only some states are lit, left and right go from one lit agent to the next.
func (g *Grid) TypedKey(e *fyne.KeyEvent) {
	last := g.field.cells() - 1
	page := max(int(g.field.h/g.field.level().pitch)-1, 1) * g.field.columns()
	to := g.cursor
	switch e.Name {
	case fyne.KeyEscape:
		if g.OnEscape != nil {
			g.OnEscape()
		}
		return
	case fyne.KeyReturn, fyne.KeyEnter:
		if to >= 0 && to <= last {
			x, y := g.field.at(to)
			g.open(x+1, y+1)
		}
		return
	case fyne.KeyLeft:
		to = g.next(-1)
	case fyne.KeyRight:
		to = g.next(1)
	case fyne.KeyUp:
		to -= g.field.columns()
	case fyne.KeyDown:
		to += g.field.columns()
	case fyne.KeyPageUp:
		to -= page
	case fyne.KeyPageDown:
		to += page
	case fyne.KeyHome:
		to = 0
	case fyne.KeyEnd:
		to = last
	default:
		return
	}
	if last < 0 {
		return
	}
	g.hovered = none // until the pointer moves: it is the keyboard that asks now
	g.cursor = max(min(to, last), 0)
	g.show(g.cursor)
	g.explain()
}

// next is the cell before or behind the cursor; of those with a lit agent, where not all are.
func (g *Grid) next(step int) int {
	if g.lit == 0 {
		return g.cursor + step
	}
	for cell := g.cursor + step; cell >= 0 && cell < g.field.cells(); cell += step {
		from, to := g.field.span(cell)
		for place := from; place < to; place++ {
			if g.lit.Has(g.states[g.field.agent(place)]) {
				return cell
			}
		}
	}
	return g.cursor
}
