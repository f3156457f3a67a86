package chart

import (
	"math"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// Alpha of the fill below a series, out of 255, at the top and at the bottom.
const (
	shadeTop    = 52
	shadeBottom = 10
)

// shade fills the area below the points, fading downwards.
func (p *plot) shade() {
	first := p.findEdge()
	end := min(int(p.bed+0.5), p.img.Rect.Dy())
	ink := p.inks.series[0]
	for y := first; y < end; y++ {
		depth := max((float32(y)-p.ceiling)/(p.bed-p.ceiling), 0)
		tint := pen.Faint(ink, uint32(shadeTop+(shadeBottom-shadeTop)*depth))
		row := p.img.Pix[y*p.img.Stride:]
		below := float32(y) + 1
		for x := 0; x < len(p.edge); x++ {
			if edge := p.edge[x]; edge > below-1 {
				if edge < below {
					pen.Over(row[4*x:], tint, uint32((below-edge)*255))
				}
				continue
			}
			from := x
			for x < len(p.edge) && p.edge[x] <= below-1 {
				x++
			}
			pen.OverAll(row[4*from:4*x], tint)
			x--
		}
	}
}

// findEdge finds the height of the line in the middle of each column, and returns the highest.
func (p *plot) findEdge() (first int) {
	for x := range p.edge {
		p.edge[x] = math.MaxFloat32
	}
	highest := float32(p.img.Rect.Dy())
	for i := 1; i < len(p.points); i++ {
		a, b := p.points[i-1], p.points[i]
		if a.Broken() || b.Broken() {
			continue
		}
		for x := max(int(a.X+0.5), 0); x < min(int(b.X+0.5), p.img.Rect.Dx()); x++ {
			y := a.Y + (b.Y-a.Y)*(float32(x)+0.5-a.X)/(b.X-a.X)
			p.edge[x] = min(p.edge[x], y)
			highest = min(highest, y)
		}
	}
	return max(int(highest), 0)
}
