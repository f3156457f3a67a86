// Package crowd draws a crowd, each agent seen: a cell for every one as long as there is room, coloured and marked by its
// state, or cells that stand for many and are filled by the shares of their states, into which one zooms.
package crowd

import (
	"image"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
)

// States is a set of states; the zero value has none.
type States uint16

// Of makes a set.
func Of(states ...engine.AgentState) (s States) {
	for _, state := range states {
		s |= 1 << state
	}
	return s
}

// Has reports whether a state is in the set.
func (s States) Has(state engine.AgentState) bool { return s&(1<<state) != 0 }

// Grid is a widget that shows a crowd: one raster, with rings over it. It belongs to the UI goroutine.
type Grid struct {
	widget.BaseWidget
	// Name, if set, is what an agent is called. It does not wait.
	Name func(agent int) string
	// OnTapped, if set, hears which agent a person chose, with a click or with Return.
	OnTapped func(agent int)
	// OnEscape, if set, hears the Escape key.
	OnEscape func()
	// OnFind, if set, hears the slash, with which one looks for something.
	OnFind func()
	// OnZoom, if set, hears that the scale may be another.
	OnZoom func()
	// Page, if set, is what the wheel scrolls where there is nothing to zoom.
	Page fyne.Scrollable

	states   []engine.AgentState
	lit      States // those that are lit; none is all
	field    field
	hovered  int // a cell
	cursor   int // a cell: where the keyboard is
	selected int // an agent
	focused  bool
	dragging bool // the strip
	wheel    float32

	raster  *canvas.Raster
	rings   rings
	tip     tip
	inks    inks
	sprites sprites
	img     *image.RGBA
	scale   float32 // device pixels per device-independent pixel
	bulk    []share // of the cells in view that stand for many, from first on
	first   int
	strip   []share // by row of the picture
	stale   bool    // the shares are of other states
}

// New makes an empty grid.
func New() *Grid {
	g := &Grid{hovered: none, cursor: none, selected: none, stale: true, rings: newRings(), tip: newTip()}
	g.raster = canvas.NewRaster(g.draw)
	g.raster.ScaleMode = canvas.ImageScalePixels
	g.ExtendBaseWidget(g)
	return g
}

// Set shows the states of all agents, by index, and reports whether any is another: nothing is drawn otherwise. The grid
// keeps the slice until the next call that reports true, so a caller that reads again and again has two by turns.
func (g *Grid) Set(states []engine.AgentState) bool {
	if slices.Equal(g.states, states) {
		return false
	}
	grown := len(g.states) != len(states)
	g.states, g.stale = states, true
	if grown {
		g.field.agents = len(states)
		if g.field.only != nil {
			g.field.only = nil // it is another crowd
		}
		g.arrange()
	}
	g.raster.Refresh()
	g.explain()
	return true
}

// Only shows these agents, ascending, in cells beside each other; nil shows all.
func (g *Grid) Only(agents []int) {
	g.field.only = nil
	if agents != nil {
		g.field.only = append(make([]int, 0, len(agents)), agents...)
		for len(g.field.only) > 0 && g.field.only[len(g.field.only)-1] >= g.field.agents {
			g.field.only = g.field.only[:len(g.field.only)-1]
		}
	}
	g.field.zoom, g.field.offset, g.cursor, g.hovered = 0, 0, none, none
	g.arrange()
	g.raster.Refresh()
}

// Light draws all other states faintly; none lights all.
func (g *Grid) Light(states States) {
	if g.lit != states {
		g.lit, g.stale = states, true
		g.raster.Refresh()
	}
}

// lights reports whether a state is lit.
func (g *Grid) lights(s engine.AgentState) bool { return g.lit == 0 || g.lit.Has(s) }

// Select marks an agent and brings it into view; none is marked where there is no such.
func (g *Grid) Select(agent int) {
	g.selected = agent
	place := g.field.place(agent)
	if place == none {
		g.rings.put(g)
		return
	}
	g.cursor = place / g.field.level().each
	g.show(g.cursor)
}

// Selected is the marked agent; -1 is none.
func (g *Grid) Selected() int { return g.selected }

// show brings a cell into view.
func (g *Grid) show(cell int) {
	before := g.field.offset
	g.field.reveal(cell)
	if g.field.offset != before {
		g.stale = true
		g.raster.Refresh()
	}
	g.rings.put(g)
}

// Each is how many agents a cell stands for.
func (g *Grid) Each() int { return g.field.level().each }

// Shown is how many agents are shown.
func (g *Grid) Shown() int { return g.field.shown() }

// Zoom goes some levels further in, or out where steps are negative, round the middle or the keyboard's place.
func (g *Grid) Zoom(steps int) {
	x, y := g.field.room()/2, g.field.h/2
	if g.cursor != none {
		if cx, cy := g.field.at(g.cursor); cy >= 0 && cy < g.field.h {
			x, y = cx+1, cy+1
		}
	}
	g.zoomAt(steps, x, y)
}

// Zooms reports whether there is anything to zoom in to, and out to.
func (g *Grid) Zooms() (in, out bool) {
	return g.field.level().each > 1 || g.field.zoom > 0 && g.field.zoom < len(g.field.levels)-1, g.field.zoom > 0
}

func (g *Grid) zoomAt(steps int, x, y float32) {
	at := none
	if g.cursor != none && g.cursor < g.field.cells() {
		at, _ = g.field.span(g.cursor)
	}
	if !g.field.zoomBy(steps, x, y) {
		return
	}
	g.hovered = none
	if at != none {
		g.cursor = at / g.field.level().each
	}
	g.again()
}

// arrange lays the cells out for the room and the agents there are.
func (g *Grid) arrange() {
	if size := g.Size(); size.Width > 0 && size.Height > 0 {
		g.field.w, g.field.h = size.Width, size.Height
		g.field.arrange()
		g.cursor, g.hovered = min(g.cursor, g.field.cells()-1), none
	}
	g.again()
}

// again draws another part of the crowd, or at another scale.
func (g *Grid) again() {
	g.stale = true
	g.raster.Refresh()
	g.rings.put(g)
	g.explain()
	if g.OnZoom != nil {
		g.OnZoom()
	}
}

// MinSize has room for a few cells.
func (g *Grid) MinSize() fyne.Size { return fyne.NewSize(10*leastPitch, 6*leastPitch) }

// CreateRenderer implements [fyne.Widget].
func (g *Grid) CreateRenderer() fyne.WidgetRenderer {
	g.dress()
	return &renderer{g, append(append([]fyne.CanvasObject{g.raster}, g.rings.objects()...), g.tip.objects()...)}
}

// dress takes colours and sizes from the theme.
func (g *Grid) dress() {
	g.inks = takeInks()
	g.sprites.size = 0
	g.rings.dress()
	g.tip.dress()
}

type renderer struct {
	grid *Grid
	all  []fyne.CanvasObject
}

// Layout follows the room.
func (r *renderer) Layout(size fyne.Size) {
	r.grid.raster.Resize(size)
	r.grid.arrange()
}

// Refresh follows the theme.
func (r *renderer) Refresh() {
	r.grid.dress()
	r.grid.arrange()
}

func (r *renderer) MinSize() fyne.Size           { return r.grid.MinSize() }
func (r *renderer) Objects() []fyne.CanvasObject { return r.all }
func (r *renderer) Destroy()                     {}
