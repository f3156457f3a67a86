package chart

import (
	"image/color"
	"math"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// Alpha of the areas of a stack, out of 255: of the first series, and of those that have the colors a second time.
const (
	stackStrong = 120
	stackFaint  = 50
)

// stack computes the upper edges of the areas of a stacked chart: the sums of the visible series up to each. A missing value has no edge,
// and the areas above lie on the one below.
func (p *plot) stack() {
	if !p.stacked {
		return
	}
	p.tops = p.tops[:0]
	p.sums = append(p.sums[:0], make([]float64, len(p.times))...)
	for i, values := range p.values {
		top := make([]float64, len(values))
		for k, v := range values {
			if top[k] = math.NaN(); !math.IsNaN(v) && !p.hidden[i] {
				p.sums[k] += v
				top[k] = p.sums[k]
			}
		}
		p.tops = append(p.tops, top)
	}
}

// shown returns where the values of a series are drawn: in a stack, on those below.
func (p *plot) shown(series int) []float64 {
	if p.stacked && series < len(p.tops) {
		return p.tops[series]
	}
	return p.values[series]
}

// areas draws a stack: the area of each visible series between its edge and the one below.
func (p *plot) areas() {
	under := make([]float32, len(p.edge))
	for x := range under {
		under[x] = p.bed
	}
	for i := range p.values {
		if p.hidden[i] {
			continue
		}
		p.project(p.shown(i))
		p.findEdge()
		strength := uint32(stackStrong)
		if i >= len(seriesColors) {
			strength = stackFaint
		}
		p.between(under, pen.Faint(p.inks.series[i], strength))
		for x, edge := range p.edge {
			if edge < math.MaxFloat32 {
				under[x] = edge
			}
		}
	}
}

// between fills the columns from the edge down to the one below. Partly covered pixels get a part of the ink.
func (p *plot) between(under []float32, ink color.RGBA) {
	for x, from := range p.edge {
		to := min(under[x], float32(p.img.Rect.Dy()))
		if from >= to { // also in a gap
			continue
		}
		from = max(from, 0)
		for y := int(from); float32(y) < to; y++ {
			covered := min(float32(y)+1, to) - max(float32(y), from)
			pen.Over(p.img.Pix[y*p.img.Stride+4*x:], ink, uint32(covered*255))
		}
	}
}
