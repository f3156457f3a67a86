package chart

import (
	"image"
	"image/color"
	"math"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// Sizes and strengths inside the drawing of levels.
const (
	dotWidth     = 4.4 // device-independent pixels
	barWidth     = 1.2
	markWidth    = 1.4
	bandStrength = 56 // of 255
	markStrength = 30
	overStrength = 110
)

// take makes the field that of an axis.
func (f *field) take(a *axis) {
	f.bottom, f.top = a.bottom, a.top
	f.grid = f.grid[:0]
	for i := range a.ticks() {
		f.grid = append(f.grid, a.tick(i))
	}
}

// levelsPlot draws levels. It is a plot whose time is a scale of doublings.
type levelsPlot struct {
	plot
	data                     LevelsData
	fields                   [2]field // of throughput and latency, in device-independent pixels
	rate, time, chosen, band color.RGBA
}

// draw returns the drawing in w × h device pixels, of width device-independent ones.
func (p *levelsPlot) draw(w, h int, width float32) *image.RGBA {
	p.prepare(w, h, width)
	for i := range p.fields {
		p.enter(i)
		for _, n := range p.ticks {
			p.vertical(p.x(n), p.ceiling, p.bed, p.inks.grid)
		}
		for k, v := range p.grid {
			ink := p.inks.grid
			if k == 0 {
				ink = p.inks.base
			}
			p.horizontal(p.y(v), 1, ink, 0, 0)
		}
		p.recommended()
	}
	p.enter(0)
	p.interval()
	p.curve()
	p.throughput()
	p.enter(1)
	p.latency()
	return p.img
}

// enter makes one of the fields the one that is drawn in.
func (p *levelsPlot) enter(i int) {
	f := &p.fields[i]
	p.ceiling, p.bed = f.ceiling*p.scale, f.bed*p.scale
	p.bottom, p.top, p.grid = f.bottom, f.top, f.grid
}

func (p *levelsPlot) at(n, v float64) pen.Point { return pen.Point{X: p.x(math.Log2(n)), Y: p.y(v)} }

// recommended tints the interval of the number that is recommended, and draws a line at it.
func (p *levelsPlot) recommended() {
	d := &p.data
	if d.Mark == 0 {
		return
	}
	if d.Low < d.High && d.Low > 0 {
		tint := pen.Faint(p.chosen, markStrength)
		from, to := p.x(math.Log2(float64(d.Low))), p.x(math.Log2(float64(d.High)))
		for y := max(int(p.ceiling+0.5), 0); y < min(int(p.bed+0.5), p.img.Rect.Dy()); y++ {
			p.span(y, int(from+0.5), int(to+0.5), tint)
		}
	}
	x := p.x(math.Log2(float64(d.Mark)))
	p.stroke(markWidth, p.chosen, pen.Point{X: x, Y: p.ceiling}, pen.Point{X: x, Y: p.bed})
}

// interval tints what lies between the ends of the curve's interval.
func (p *levelsPlot) interval() {
	for i := 1; i < len(p.data.Curve); i++ {
		a, b := p.data.Curve[i-1], p.data.Curve[i]
		low0, low1, high0, high1 := p.at(a.At, a.Low), p.at(b.At, b.Low), p.at(a.At, a.High), p.at(b.At, b.High)
		for x := max(int(low0.X+0.5), 0); x < min(int(low1.X+0.5), p.img.Rect.Dx()); x++ {
			share := (float32(x) + 0.5 - low0.X) / (low1.X - low0.X)
			p.column(x, high0.Y+share*(high1.Y-high0.Y), low0.Y+share*(low1.Y-low0.Y))
		}
	}
}

// column tints a column of pixels between two heights.
func (p *levelsPlot) column(x int, from, to float32) {
	for y := max(int(from), 0); y < min(int(to)+1, p.img.Rect.Dy()); y++ {
		cover := min(to, float32(y)+1) - max(from, float32(y))
		if cover > 0 {
			pen.Over(p.img.Pix[y*p.img.Stride+4*x:], p.band, uint32(min(cover, 1)*255))
		}
	}
}

func (p *levelsPlot) curve() {
	p.points = p.points[:0]
	for _, c := range p.data.Curve {
		p.points = append(p.points, p.at(c.At, c.PerSecond))
	}
	p.stroke(lineWidth, p.rate, p.points...)
}

// throughput draws the measurements, each with a bar for their spread.
func (p *levelsPlot) throughput() {
	for _, m := range p.data.Points {
		if m.PerSecond <= 0 {
			continue
		}
		ink := p.rate
		if m.Over {
			ink = pen.Faint(ink, overStrength)
		}
		p.stroke(barWidth, ink, p.at(m.At, m.PerSecond-m.Spread), p.at(m.At, m.PerSecond+m.Spread))
		p.stroke(dotWidth, ink, p.at(m.At, m.PerSecond))
	}
}

// latency draws the measurements that have one, with lines between them.
func (p *levelsPlot) latency() {
	p.points = p.points[:0]
	for _, m := range p.data.Points {
		if m.Latency > 0 {
			p.points = append(p.points, p.at(m.At, m.Latency))
		}
	}
	p.stroke(lineWidth, p.time, p.points...)
	for _, dot := range p.points {
		p.stroke(dotWidth, p.time, dot)
	}
}

// stroke draws a line, or a dot, of a width in device-independent pixels.
func (p *levelsPlot) stroke(width float32, ink color.RGBA, points ...pen.Point) {
	p.mask.Line(points, max(width*p.scale, 1.25))
	p.mask.Blend(p.img, ink)
}
