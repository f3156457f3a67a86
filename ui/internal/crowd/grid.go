// Package crowd draws all agents: one cell per agent, colored and marked by its state, or cells of many agents, filled by the shares of
// their states. The user can zoom in.
package crowd

import (
	"image"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
)

// States is a set of states; the zero value is empty.
type States uint16

// Of returns a set of states.
func Of(states ...engine.AgentState) (s States) {
	for _, state := range states {
		s |= 1 << state
	}
	return s
}

// Has reports whether a state is in the set.
func (s States) Has(state engine.AgentState) bool { return s&(1<<state) != 0 }

// Grid is a widget that shows the agents: one raster with rings on top. It belongs to the UI goroutine.
type Grid struct {
	widget.BaseWidget
	// Name, if set, returns the name of an agent. It must not wait.
	Name func(agent int) string
	// OnTapped, if set, is called with the agent that the user chooses with a click or Return.
	OnTapped func(agent int)
	// OnEscape, if set, is called for the Escape key.
	OnEscape func()
	// OnFind, if set, is called for the slash key, which starts a search.
	OnFind func()
	// OnZoom, if set, is called after the scale may have changed.
	OnZoom func()
	// Page, if set, is scrolled by the mouse wheel if zooming is not possible.
	Page fyne.Scrollable

	states   []engine.AgentState
	lit      States // highlighted states; empty: all
	field    field
	hovered  int // a cell
	cursor   int // the cell of the keyboard cursor
	selected int // an agent
	focused  bool
	dragging bool // in the overview
	wheel    float32

	raster  *canvas.Raster
	rings   rings
	tip     tip
	inks    inks
	sprites sprites
	img     *image.RGBA
	scale   float32 // device pixels per device-independent pixel
	bulk    []share // shares of the visible cells of many agents, starting at first
	first   int
	strip   []share // by row of the picture
	stale   bool    // the shares are outdated
}

// New returns an empty grid.
func New() *Grid {
	g := &Grid{hovered: none, cursor: none, selected: none, stale: true, rings: newRings(), tip: newTip()}
	g.raster = canvas.NewRaster(g.draw)
	g.raster.ScaleMode = canvas.ImageScalePixels
	g.ExtendBaseWidget(g)
	return g
}

// Set sets the states of all agents, by index, and reports whether any has changed; otherwise nothing is drawn. The grid keeps the slice
// until the next call that returns true, so a caller that reads repeatedly needs two slices.
func (g *Grid) Set(states []engine.AgentState) bool {
	if slices.Equal(g.states, states) {
		return false
	}
	grown := len(g.states) != len(states)
	g.states, g.stale = states, true
	if grown {
		g.field.agents = len(states)
		if g.field.only != nil {
			g.field.only = nil // the number of agents has changed
		}
		g.arrange()
	}
	g.raster.Refresh()
	g.explain()
	return true
}

// Only shows these agents, ascending; nil shows all.
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

// Light dims all other states; an empty set dims none.
func (g *Grid) Light(states States) {
	if g.lit != states {
		g.lit, g.stale = states, true
		g.raster.Refresh()
	}
}

// lights reports whether a state is highlighted.
func (g *Grid) lights(s engine.AgentState) bool { return g.lit == 0 || g.lit.Has(s) }

// Select marks an agent and scrolls to it; an unknown agent removes the mark.
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

// Selected returns the marked agent; -1 if none.
func (g *Grid) Selected() int { return g.selected }

// show scrolls to a cell.
func (g *Grid) show(cell int) {
	before := g.field.offset
	g.field.reveal(cell)
	if g.field.offset != before {
		g.stale = true
		g.raster.Refresh()
	}
	g.rings.put(g)
}

// Each returns the number of agents per cell.
func (g *Grid) Each() int { return g.field.level().each }

// Shown returns the number of shown agents.
func (g *Grid) Shown() int { return g.field.shown() }

// Zoom zooms in by a number of levels, or out if steps is negative, around the keyboard cursor or the middle.
func (g *Grid) Zoom(steps int) {
	x, y := g.field.room()/2, g.field.h/2
	if g.cursor != none {
		if cx, cy := g.field.at(g.cursor); cy >= 0 && cy < g.field.h {
			x, y = cx+1, cy+1
		}
	}
	g.zoomAt(steps, x, y)
}

// Zooms reports whether zooming in and out is possible.
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

// arrange lays out the cells for the size and the agents.
func (g *Grid) arrange() {
	if size := g.Size(); size.Width > 0 && size.Height > 0 {
		g.field.w, g.field.h = size.Width, size.Height
		g.field.arrange()
		g.cursor, g.hovered = min(g.cursor, g.field.cells()-1), none
	}
	g.again()
}

// again draws the grid after scrolling or zooming.
func (g *Grid) again() {
	g.stale = true
	g.raster.Refresh()
	g.rings.put(g)
	g.explain()
	if g.OnZoom != nil {
		g.OnZoom()
	}
}

// MinSize returns the size of some cells.
func (g *Grid) MinSize() fyne.Size { return fyne.NewSize(10*leastPitch, 6*leastPitch) }

// CreateRenderer implements [fyne.Widget].
func (g *Grid) CreateRenderer() fyne.WidgetRenderer {
	g.dress()
	return &renderer{g, append(append([]fyne.CanvasObject{g.raster}, g.rings.objects()...), g.tip.objects()...)}
}

// dress takes colors and sizes from the theme.
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

// Layout lays out the grid for its size.
func (r *renderer) Layout(size fyne.Size) {
	r.grid.raster.Resize(size)
	r.grid.arrange()
}

// Refresh updates the grid for the theme.
func (r *renderer) Refresh() {
	r.grid.dress()
	r.grid.arrange()
}

func (r *renderer) MinSize() fyne.Size           { return r.grid.MinSize() }
func (r *renderer) Objects() []fyne.CanvasObject { return r.all }
func (r *renderer) Destroy()                     {}
