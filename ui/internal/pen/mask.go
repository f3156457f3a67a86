// Package pen draws anti-aliased lines and boxes into images, in device pixels.
package pen

import (
	"encoding/binary"
	"image"
	"image/color"
	"math"
)

// Point is a place in device pixels. One whose X is NaN breaks a line.
type Point struct{ X, Y float32 }

// Broken reports whether the point breaks a line.
func (p Point) Broken() bool { return p.X != p.X }

// Mask holds how much of each pixel a line covers, 0 to 255. Segments leave the maximum, so that joints are round and
// what overlaps is not darker; the whole line is then blended at once.
type Mask struct {
	w, h        int
	cover       []uint8
	top, bottom int // rows that hold anything
}

// Resize makes an empty mask of a size; it allocates only to grow.
func (m *Mask) Resize(w, h int) {
	m.w, m.h = w, h
	if need := w * h; cap(m.cover) < need {
		m.cover = make([]uint8, need)
	} else {
		m.cover = m.cover[:need]
		clear(m.cover)
	}
	m.top, m.bottom = h, 0
}

// Line adds a polyline of a width. A point alone between breaks is a dot.
func (m *Mask) Line(points []Point, width float32) {
	reach := width/2 + 0.5
	for i, p := range points {
		if p.Broken() {
			continue
		}
		if i+1 < len(points) && !points[i+1].Broken() {
			m.segment(p, points[i+1], reach)
		} else if i == 0 || points[i-1].Broken() {
			m.segment(p, p, reach*1.5)
		}
	}
}

// segment adds what lies within reach of the segment from a to b: coverage is reach less the distance.
func (m *Mask) segment(a, b Point, reach float32) {
	if a.Y > b.Y {
		a, b = b, a
	}
	y0, y1 := max(int(a.Y-reach), 0), min(int(b.Y+reach)+1, m.h)
	dx, dy := b.X-a.X, b.Y-a.Y
	length := float32(math.Sqrt(float64(dx*dx + dy*dy)))
	var ux, uy, slope float32
	if length > 0 {
		ux, uy = dx/length, dy/length
	}
	if dy > 0 {
		slope = dx / dy
	}
	m.top, m.bottom = min(m.top, y0), max(m.bottom, y1)
	for y := y0; y < y1; y++ {
		py := float32(y) + 0.5 - a.Y
		// The part of the segment that is near enough to this row.
		xa, xb := a.X, b.X
		if py > reach {
			xa += slope * (py - reach)
		}
		if py+reach < dy {
			xb = a.X + slope*(py+reach)
		}
		if xa > xb {
			xa, xb = xb, xa
		}
		x0, x1 := max(int(xa-reach), 0), min(int(xb+reach)+1, m.w)
		if x0 >= x1 {
			continue
		}
		px := float32(x0) + 0.5 - a.X
		row := m.cover[y*m.w+x0 : y*m.w+x1]
		along := px*ux + py*uy
		last := along + float32(x1-x0-1)*ux
		if along >= 0 && last >= 0 && along <= length && last <= length && length > 0 {
			coverBeside(row, reach, px*uy-py*ux, uy)
			continue
		}
		coverAround(row, reach, px, py, a, b)
	}
}

// coverBeside covers pixels that are all beside a segment, from their distance to its straight line, which changes by
// step from pixel to pixel. Distances are whole numbers of 1/65536: this is where most of the time goes.
func coverBeside(row []uint8, reach, distance, step float32) {
	r, d, s := int32(reach*65536), int32(distance*65536), int32(step*65536)
	for i := range row {
		c := min(r-max(d, -d), 65535) >> 8
		if c > int32(row[i]) {
			row[i] = uint8(c)
		}
		d += s
	}
}

// coverAround covers pixels near an end of the segment from a to b. The first is at x, y from a.
func coverAround(row []uint8, reach, x, y float32, a, b Point) {
	dx, dy := b.X-a.X, b.Y-a.Y
	square := dx*dx + dy*dy
	for i := range row {
		var part float32 // of the segment, up to the point that is nearest
		if square > 0 {
			part = min(max((x*dx+y*dy)/square, 0), 1)
		}
		if c := reach - hypot(x-part*dx, y-part*dy); c > 0 {
			row[i] = max(row[i], uint8(min(c, 1)*255))
		}
		x++
	}
}

func hypot(x, y float32) float32 { return float32(math.Sqrt(float64(x*x + y*y))) }

// Blend lays a colour over img where the mask covers it, and empties the mask.
func (m *Mask) Blend(img *image.RGBA, c color.RGBA) {
	for y := m.top; y < m.bottom; y++ {
		row := m.cover[y*m.w : (y+1)*m.w]
		pix := img.Pix[y*img.Stride : y*img.Stride+4*m.w]
		for x := 0; x < len(row); x++ {
			if x+8 <= len(row) && binary.LittleEndian.Uint64(row[x:]) == 0 {
				x += 7
				continue
			}
			if row[x] > 0 {
				Over(pix[4*x:], c, uint32(row[x]))
				row[x] = 0
			}
		}
	}
	m.top, m.bottom = m.h, 0
}

// Dashes are columns of pixels in which a line is as strong as it is, and then those in which it has a share of that, of
// 255.
type Dashes struct {
	On, Off int
	Between uint32
}

// BlendDashed is Blend with a line in dashes. They are counted from the left edge.
func (m *Mask) BlendDashed(img *image.RGBA, c color.RGBA, d Dashes) {
	period := max(d.On+d.Off, 1)
	for y := m.top; y < m.bottom; y++ {
		row := m.cover[y*m.w : (y+1)*m.w]
		for x := 0; x < len(row); x++ {
			if x+8 <= len(row) && binary.LittleEndian.Uint64(row[x:]) == 0 {
				x += 7
				continue
			}
			if row[x] > 0 && x%period >= d.On {
				row[x] = uint8(max(div255(uint32(row[x])*d.Between), 1))
			}
		}
	}
	m.Blend(img, c)
}

// Over lays a premultiplied colour over a pixel; cover goes to 255.
func Over(pix []uint8, c color.RGBA, cover uint32) {
	p := pix[:4:4]
	if cover == 255 && c.A == 255 {
		p[0], p[1], p[2], p[3] = c.R, c.G, c.B, 255
		return
	}
	keep := 255 - div255(uint32(c.A)*cover)
	p[0] = uint8(div255(uint32(c.R)*cover + uint32(p[0])*keep))
	p[1] = uint8(div255(uint32(c.G)*cover + uint32(p[1])*keep))
	p[2] = uint8(div255(uint32(c.B)*cover + uint32(p[2])*keep))
	p[3] = uint8(div255(uint32(c.A)*cover + uint32(p[3])*keep))
}

// div255 divides by 255, rounded, what is at most 255 × 255.
func div255(x uint32) uint32 {
	x += 128
	return (x + x>>8) >> 8
}

// Faint returns a colour at a share of its strength, of 255.
func Faint(c color.RGBA, share uint32) color.RGBA {
	var faded [4]uint8
	Over(faded[:], c, share)
	return color.RGBA{faded[0], faded[1], faded[2], faded[3]}
}
