package chart

import (
	"image"
	"image/color"
	"math"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// Sizes inside the drawing, in device-independent pixels.
const (
	lineWidth   = 1.6
	limitWidth  = 1.25
	dashOn      = 6
	dashOff     = 4
	glyphSize   = 9 // of a marker
	insetRight  = 4 // so that the newest point's round end is not cut
	insetBottom = 2
	crownLeast  = 10 // above the top tick: room for glyphs
	// markerStrength is that of a marker's line, of 255.
	markerStrength = 110
)

// inks are the colors of a drawing, premultiplied.
type inks struct {
	series                             []color.RGBA
	limit, grid, base, marker, trouble color.RGBA
}

// plot is one drawing: what a chart shows, in the units of its values, and the image that it is drawn into. The image
// is used again for the next drawing of the same size.
type plot struct {
	field
	from, to float64 // Unix seconds: the left and the right end
	crown    float32 // height above the top, in device-independent pixels
	gap      float64 // seconds; 0: a long time between rows does not break a line
	fill     bool    // below the only series
	stacked  bool    // each series lies on those before it

	times   []float64
	values  [][]float64
	tops    [][]float64 // of a stack: the upper edges by series
	sums    []float64   // of a stack: by row
	hidden  []bool      // by series
	ticks   []float64   // Unix seconds
	limit   float64     // NaN: none
	strips  []strip
	markers []moment
	inks    inks
	glyphs  glyphs

	img    *image.RGBA
	mask   pen.Mask
	points []pen.Point
	edge   []float32 // by column: where the only series passes

	scale       float32 // device pixels per device-independent pixel
	left, right float32 // device pixels of from and to
}

// field is the vertical range of a drawing.
type field struct {
	ceiling, bed float32 // pixels of top and bottom
	extent
	grid []float64 // values
}

// draw returns the drawing in w × h device pixels, of width device-independent ones.
func (p *plot) draw(w, h int, width float32) *image.RGBA {
	p.prepare(w, h, width)
	for _, s := range p.strips {
		p.band(s)
	}
	for _, t := range p.ticks {
		p.vertical(p.x(t), p.ceiling, p.bed, p.inks.grid)
	}
	for i, v := range p.grid {
		ink := p.inks.grid
		if i == 0 {
			ink = p.inks.base
		}
		p.horizontal(p.y(v), 1, ink, 0, 0)
	}
	for _, m := range p.markers {
		if m.at >= p.from && m.at <= p.to {
			p.marker(m)
		}
	}
	if p.stacked {
		p.areas()
	}
	for i := range p.values {
		if i >= len(p.hidden) || !p.hidden[i] {
			p.line(i)
		}
	}
	if !math.IsNaN(p.limit) {
		p.horizontal(p.y(p.limit), limitWidth, p.inks.limit, dashOn, dashOff)
	}
	return p.img
}

// line draws a series.
func (p *plot) line(i int) {
	p.project(p.shown(i))
	if p.fill {
		p.shade()
	}
	p.mask.Line(p.points, max(lineWidth*p.scale, 1.25))
	dashes := p.patternOf(i)
	if dashes.on == 0 {
		p.mask.Blend(p.img, p.inks.series[i])
		return
	}
	p.mask.BlendDashed(p.img, p.inks.series[i], pen.Dashes{
		On: int(float32(dashes.on)*p.scale + 0.5), Off: int(float32(dashes.off)*p.scale + 0.5), Between: betweenDashes,
	})
}

// prepare makes the image empty and the transformation fit it.
func (p *plot) prepare(w, h int, width float32) {
	if p.img == nil || p.img.Rect.Dx() != w || p.img.Rect.Dy() != h {
		p.img = image.NewRGBA(image.Rect(0, 0, w, h))
		p.mask.Resize(w, h)
		p.edge = make([]float32, w)
	} else {
		clear(p.img.Pix)
	}
	p.scale = 1
	if width > 0 {
		p.scale = float32(w) / width
	}
	p.glyphs.fit(int(glyphSize*p.scale + 0.5))
	p.left, p.right = 0, float32(w)-insetRight*p.scale
	p.ceiling = p.crown * p.scale
	p.bed = float32(h) - insetBottom*p.scale
}

// x returns where a time is drawn, in device pixels.
func (p *plot) x(t float64) float32 {
	return p.left + float32((t-p.from)/(p.to-p.from))*(p.right-p.left)
}

// y returns where a value is drawn, in device pixels; never far outside the drawing.
func (p *plot) y(v float64) float32 {
	y := p.bed - p.share(v)*(p.bed-p.ceiling)
	return min(max(y, -2*p.scale), p.bed+2*p.scale)
}

// longestLevel is the time axis in seconds up to which a single row is drawn as a level line.
const longestLevel = 1

// project turns a series into points: all of them, or the lowest and the highest of each pixel column when there are
// more than two. Columns are slices of time itself, so that a line does not shimmer as it moves.
func (p *plot) project(values []float64) {
	p.points = p.points[:0]
	if len(p.times) == 1 && len(values) == 1 && p.to-p.from < longestLevel && !math.IsNaN(values[0]) {
		y := p.y(values[0]) // the only row of a very short run: its values hold for all of the run
		p.points = append(p.points, pen.Point{X: p.x(p.from), Y: y}, pen.Point{X: p.x(p.to), Y: y})
		return
	}
	columns := max(float64(p.right-p.left), 1)
	if float64(len(values)) <= 2*columns {
		p.add(values, 0, len(values))
		return
	}
	span := (p.to - p.from) / columns
	for i := 0; i < len(values); {
		end, column := i+1, math.Floor(p.times[i]/span)
		for end < len(values) && math.Floor(p.times[end]/span) == column {
			end++
		}
		p.addExtremes(values, i, end)
		i = end
	}
}

// add appends the points i to end, and a break where there is no value or none for too long.
func (p *plot) add(values []float64, i, end int) {
	for ; i < end; i++ {
		v := values[i]
		if math.IsNaN(v) || p.gap > 0 && i > 0 && p.times[i]-p.times[i-1] > p.gap {
			p.points = append(p.points, pen.Point{X: float32(math.NaN())})
		}
		if !math.IsNaN(v) {
			p.points = append(p.points, pen.Point{X: p.x(p.times[i]), Y: p.y(v)})
		}
	}
}

// addExtremes appends the lowest and the highest of the points i to end in their order; all, where they are few or the
// line breaks among them.
func (p *plot) addExtremes(values []float64, i, end int) {
	low, high := i, i
	for k := i; k < end; k++ {
		v := values[k]
		if math.IsNaN(v) || p.gap > 0 && k > 0 && p.times[k]-p.times[k-1] > p.gap {
			p.add(values, i, end)
			return
		}
		if v < values[low] {
			low = k
		}
		if v > values[high] {
			high = k
		}
	}
	p.add(values, min(low, high), min(low, high)+1)
	if low != high {
		p.add(values, max(low, high), max(low, high)+1)
	}
}

// vertical draws a line of one device-independent pixel, sharp.
func (p *plot) vertical(x, from, to float32, ink color.RGBA) {
	thick := max(int(p.scale+0.5), 1)
	x0 := int(x - float32(thick)/2 + 0.5)
	for y := max(int(from+0.5), 0); y < min(int(to+0.5), p.img.Rect.Dy()); y++ {
		p.span(y, x0, x0+thick, ink)
	}
}

// horizontal draws a sharp line, in dashes if on is not 0. Widths are device-independent.
func (p *plot) horizontal(y, width float32, ink color.RGBA, on, off float32) {
	thick := max(int(width*p.scale+0.5), 1)
	y0 := int(y - float32(thick)/2 + 0.5)
	dash, period := int(on*p.scale+0.5), int((on+off)*p.scale+0.5)
	for y := max(y0, 0); y < min(y0+thick, p.img.Rect.Dy()); y++ {
		if on == 0 {
			p.span(y, 0, p.img.Rect.Dx(), ink)
			continue
		}
		for x := 0; x < p.img.Rect.Dx(); x += period {
			p.span(y, x, x+dash, ink)
		}
	}
}

// span lays ink over the pixels x0 to x1 of a row.
func (p *plot) span(y, x0, x1 int, ink color.RGBA) {
	if x0, x1 = max(x0, 0), min(x1, p.img.Rect.Dx()); x0 < x1 {
		pen.OverAll(p.img.Pix[y*p.img.Stride+4*x0:y*p.img.Stride+4*x1], ink)
	}
}
