package crowd

import (
	"image"
	"image/color"
	"math"

	"github.com/throng-sim/throng/engine"
)

// share is the number of agents in each state in a cell.
type share [engine.NumAgentStates]uint32

// count counts the states of the agents of a range.
func (g *Grid) count(from, to int, into *share) {
	*into = share{}
	if g.field.only == nil {
		for _, s := range g.states[from:to] {
			into[s]++
		}
		return
	}
	for _, agent := range g.field.only[from:to] {
		into[g.states[agent]]++
	}
}

// draw returns the visible part in w × h device pixels.
func (g *Grid) draw(w, h int) image.Image {
	if g.img == nil || g.img.Rect.Dx() != w || g.img.Rect.Dy() != h {
		g.img, g.stale = image.NewRGBA(image.Rect(0, 0, w, h)), true
	} else {
		clear(g.img.Pix)
	}
	width := g.Size().Width
	if width <= 0 || g.field.agents != len(g.states) || g.field.shown() == 0 {
		return g.img
	}
	g.scale = float32(math.Round(float64(w)/float64(width)*100) / 100) // the width may be rounded
	l := g.field.level()
	pitch := l.pitch * g.scale
	size := max(int(pitch)-max(int(pitch)/gapShare, 1), 1)
	if l.each > 1 {
		g.drawBulk(size)
	} else {
		if g.sprites.size != size {
			g.sprites.cut(size, &g.inks)
		}
		g.drawCells()
	}
	if g.field.scrolls() {
		g.drawStrip(h)
	}
	g.stale = false
	return g.img
}

// corner returns the corner of a cell in device pixels.
func (g *Grid) corner(cell int) (x, y int) {
	left, top := g.field.at(cell)
	return int(math.Round(float64(left * g.scale))), int(math.Round(float64(top * g.scale)))
}

// drawCells draws the visible agents, one per cell.
func (g *Grid) drawCells() {
	from, to := g.field.visible()
	for cell := from; cell < to; cell++ {
		s := g.states[g.field.agent(cell)]
		sprite := g.sprites.lit[s]
		if !g.lights(s) {
			sprite = g.sprites.dull[s]
		}
		x, y := g.corner(cell)
		g.paste(sprite, x, y)
	}
}

// paste copies a cell to a position, clipped to the picture.
func (g *Grid) paste(sprite *image.RGBA, x, y int) {
	wide := min(sprite.Rect.Dx(), g.img.Rect.Dx()-x)
	if wide <= 0 {
		return
	}
	for row := max(-y, 0); row < min(sprite.Rect.Dy(), g.img.Rect.Dy()-y); row++ {
		from := row * sprite.Stride
		copy(g.img.Pix[(y+row)*g.img.Stride+4*x:], sprite.Pix[from:from+4*wide])
	}
}

// drawBulk draws cells of many agents. The shares are cached until states or the visible part change.
func (g *Grid) drawBulk(size int) {
	from, to := g.field.visible()
	if g.stale || g.first != from || len(g.bulk) != to-from {
		g.first = from
		if cap(g.bulk) < to-from {
			g.bulk = make([]share, to-from)
		}
		g.bulk = g.bulk[:to-from]
		for i := range g.bulk {
			first, last := g.field.span(from + i)
			g.count(first, last, &g.bulk[i])
		}
	}
	for i := range g.bulk {
		x, y := g.corner(from + i)
		g.fill(&g.bulk[i], x, y, size)
	}
}

// fill fills a cell by the shares of its states, pixel by pixel from the bottom, errors first. Errors get at least half a row, and
// highlighted states at least a pixel.
func (g *Grid) fill(s *share, x, y, size int) {
	total, area := uint32(0), size*size
	for _, n := range s {
		total += n
	}
	end, counted := 0, uint32(0)
	for _, state := range weight {
		n := s[state]
		if n == 0 {
			continue
		}
		ink, least := g.inks.bulk[state], 1
		switch {
		case !g.lights(state):
			ink = g.inks.faint
		case looks[state].grave:
			least = (size + 1) / 2
		}
		counted += n
		from := end
		end = min(max(int(uint64(counted)*uint64(area)/uint64(total)), from+least), area)
		if counted == total {
			end = area
		}
		g.pour(x, y, size, from, end, ink)
	}
}

// pour colors a range of the pixels of a cell, counted from the bottom.
func (g *Grid) pour(x, y, size, from, to int, ink color.RGBA) {
	for from < to {
		row, column := from/size, from%size
		n := min(size-column, to-from)
		g.dash(x+column, y+size-1-row, n, ink)
		from += n
	}
}

// dash colors n pixels of a row, clipped to the picture.
func (g *Grid) dash(x, y, n int, ink color.RGBA) {
	if y < 0 || y >= g.img.Rect.Dy() {
		return
	}
	end := min(x+n, g.img.Rect.Dx())
	for i := max(x, 0); i < end; i++ {
		p := g.img.Pix[y*g.img.Stride+4*i:][:4:4]
		p[0], p[1], p[2], p[3] = ink.R, ink.G, ink.B, 255
	}
}

// drawStrip draws the overview at the side, one row of pixels for a number of agents, and marks the visible part.
func (g *Grid) drawStrip(h int) {
	if g.stale || len(g.strip) != h {
		if cap(g.strip) < h {
			g.strip = make([]share, h)
		}
		g.strip = g.strip[:h]
		shown := g.field.shown()
		for row := range g.strip {
			g.count(row*shown/h, (row+1)*shown/h, &g.strip[row])
		}
	}
	wide := int(stripWidth * g.scale)
	left := g.img.Rect.Dx() - wide
	inner, edge := wide-2*int(2*g.scale), int(2*g.scale)
	for row := range g.strip {
		g.fillRow(&g.strip[row], left+edge, row, inner)
	}
	height := g.field.height()
	top, bottom := int(g.field.offset/height*float32(h)), int((g.field.offset+g.field.h)/height*float32(h))
	bottom = min(max(bottom, top+int(6*g.scale)), h)
	thick := max(int(1.5*g.scale), 1)
	for y := top; y < bottom; y++ {
		if y < top+thick || y >= bottom-thick {
			g.dash(left, y, wide, g.inks.mark)
			continue
		}
		g.dash(left, y, thick, g.inks.mark)
		g.dash(left+wide-thick, y, thick, g.inks.mark)
	}
}

// fillRow draws the shares of states from left to right, errors first.
func (g *Grid) fillRow(s *share, x, y, wide int) {
	total := uint32(0)
	for _, n := range s {
		total += n
	}
	if total == 0 {
		return
	}
	end, counted := 0, uint32(0)
	for _, state := range weight {
		n := s[state]
		if n == 0 {
			continue
		}
		ink, least := g.inks.bulk[state], 0
		switch {
		case !g.lights(state):
			ink = g.inks.faint
		case looks[state].grave:
			least = max(int(g.scale), 1)
		}
		counted += n
		from := end
		end = min(max(int(uint64(counted)*uint64(wide)/uint64(total)), from+least), wide)
		g.dash(x+from, y, end-from, ink)
	}
}
