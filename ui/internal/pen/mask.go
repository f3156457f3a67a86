// Package pen draws anti-aliased lines and boxes into images, in device pixels.
package pen

import (
	"encoding/binary"
	"image"
	"image/color"
	"math"
	"math/bits"
	"slices"
)

// Point is a place in device pixels. One whose X is NaN breaks a line.
type Point struct{ X, Y float32 }

// Broken reports whether the point breaks a line.
func (p Point) Broken() bool { return p.X != p.X }

// Mask holds the coverage of each pixel by a line, 0 to 255. Overlapping segments take the maximum, so that joints are round and overlaps
// are not darker; the whole line is then blended in one pass.
type Mask struct {
	w, h        int
	stride      int // of rows: whole words
	cover       []uint8
	top, bottom int     // rows that hold anything
	strength    []uint8 // of dashes, by column
}

// word is how many pixels are looked at together.
const word = 8

// Resize makes an empty mask of a size; it allocates only to grow.
func (m *Mask) Resize(w, h int) {
	m.w, m.h, m.stride = w, h, (w+word-1)/word*word
	if need := m.stride * h; cap(m.cover) < need {
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
		switch {
		case p.Broken():
		case i+1 < len(points) && !points[i+1].Broken():
			m.round(p, reach)
			m.sides(p, points[i+1], reach)
		case i > 0 && !points[i-1].Broken():
			m.round(p, reach)
		default:
			m.round(p, reach*1.5)
		}
	}
}

// round covers what is around a point: coverage is reach less the distance.
func (m *Mask) round(p Point, reach float32) {
	x0, x1 := max(int(p.X-reach+0.5), 0), min(int(p.X+reach+0.5), m.w)
	y0, y1 := max(int(p.Y-reach+0.5), 0), min(int(p.Y+reach+0.5), m.h)
	if x0 >= x1 || y0 >= y1 {
		return
	}
	m.top, m.bottom = min(m.top, y0), max(m.bottom, y1)
	for y := y0; y < y1; y++ {
		dx, dy := float32(x0)+0.5-p.X, float32(y)+0.5-p.Y
		row := m.cover[y*m.stride+x0 : y*m.stride+x1]
		for i := range row {
			within := int32((reach - hypot(dx, dy)) * fixed)
			row[i] = max(row[i], uint8(max(min(within, fixed-1), 0)>>8))
			dx++
		}
	}
}

// sides covers the area along the segment from a to b: coverage is reach less the distance to its straight line.
func (m *Mask) sides(a, b Point, reach float32) {
	if a.Y > b.Y {
		a, b = b, a
	}
	dx, dy := b.X-a.X, b.Y-a.Y
	length := hypot(dx, dy)
	if length == 0 {
		return
	}
	ux, uy := dx/length, dy/length
	tip := reach * max(ux, -ux) // the covered area extends this far above and below the segment
	y0, y1 := max(int(a.Y-tip+0.5), 0), min(int(b.Y+tip+0.5), m.h)
	if y0 >= y1 {
		return
	}
	m.top, m.bottom = min(m.top, y0), max(m.bottom, y1)
	// In a row, what is near enough is half to both sides of the straight line, which moves by slope from row to row. The
	// ends cut off what is before first and after last, which move by turn.
	flat, steep := max(uy, least), ux
	if max(ux, -ux) < least {
		steep = least
	}
	half, slope, turn, first, last := reach/flat, ux/flat, -uy/steep, float32(0), length/steep
	if first > last {
		first, last = last, first
	}
	both, step := int32(2*reach*fixed), int32(uy*fixed)
	for y := y0; y < y1; y++ {
		py := float32(y) + 0.5 - a.Y
		from, to := slope*py-half, slope*py+half
		if cut := turn*py + first; cut > from {
			from = cut
		}
		if cut := turn*py + last; cut < to {
			to = cut
		}
		x0, x1 := max(int(a.X+from+0.5), 0), min(int(a.X+to+0.5), m.w)
		if x0 >= x1 {
			continue
		}
		// How far a pixel is within reach from the left, of 1/65536; from the right it is so much less than both.
		within := int32((reach + (float32(x0)+0.5-a.X)*uy - py*ux) * fixed)
		row := m.cover[y*m.stride+x0 : y*m.stride+x1]
		for i := range row {
			row[i] = max(row[i], uint8(max(min(within, both-within, fixed-1), 0)>>8))
			within += step
		}
	}
}

const (
	fixed = 1 << 16
	least = 1e-6 // keeps what is divided by from being 0
)

func hypot(x, y float32) float32 { return float32(math.Sqrt(float64(x*x + y*y))) }

// Blend lays a color over img where the mask covers it, and empties the mask.
func (m *Mask) Blend(img *image.RGBA, c color.RGBA) { m.blend(img, c, nil) }

// Dashes are columns of pixels in which a line is as strong as it is, and then those in which it has a share of that, of
// 255.
type Dashes struct {
	On, Off int
	Between uint32
}

// BlendDashed is Blend with a line in dashes. They are counted from the left edge.
func (m *Mask) BlendDashed(img *image.RGBA, c color.RGBA, d Dashes) {
	m.strength = slices.Grow(m.strength[:0], m.w)[:m.w]
	period := max(d.On+d.Off, 1)
	for x := range m.strength {
		m.strength[x] = 255
		if x%period >= d.On {
			m.strength[x] = uint8(d.Between)
		}
	}
	m.blend(img, c, m.strength)
}

// blend lays a color over img with a strength for each column; nil is all of it.
func (m *Mask) blend(img *image.RGBA, c color.RGBA, strength []uint8) {
	l, alpha := channelsOf(c), uint64(c.A)
	for y := m.top; y < m.bottom; y++ {
		row := m.cover[y*m.stride : (y+1)*m.stride]
		pix := img.Pix[y*img.Stride : y*img.Stride+4*m.w]
		for x := 0; x < len(row); x += word {
			covers := binary.LittleEndian.Uint64(row[x:])
			if covers == 0 {
				continue
			}
			binary.LittleEndian.PutUint64(row[x:], 0)
			for covers != 0 {
				i := bits.TrailingZeros64(covers) / 8 // the next that is covered
				cover := covers >> (8 * i) & 255
				covers &^= 255 << (8 * i)
				if strength != nil {
					cover = max(div255(cover*uint64(strength[x+i])), 1)
				}
				p := pix[4*(x+i):]
				binary.LittleEndian.PutUint32(p, l.over(binary.LittleEndian.Uint32(p), alpha, cover))
			}
		}
	}
	m.top, m.bottom = m.h, 0
}

// Over lays a premultiplied color over a pixel; cover goes to 255.
func Over(pix []uint8, c color.RGBA, cover uint32) {
	p := pix[:4]
	binary.LittleEndian.PutUint32(p, channelsOf(c).over(binary.LittleEndian.Uint32(p), uint64(c.A), uint64(cover)))
}

// OverAll lays a premultiplied color over pixels.
func OverAll(pix []uint8, c color.RGBA) {
	l, alpha := channelsOf(c), uint64(c.A)
	below, laid := uint32(0), l.over(0, alpha, 255)
	for ; len(pix) >= 4; pix = pix[4:] {
		p := pix[:4]
		if v := binary.LittleEndian.Uint32(p); v != below { // most are as the one before
			below, laid = v, l.over(v, alpha, 255)
		}
		binary.LittleEndian.PutUint32(p, laid)
	}
}

// channels are the channels of a pixel in 16 bits each, so that one multiplication covers all four.
type channels uint64

const (
	low  = 0x00ff00ff00ff00ff // the lower half of each channel
	half = 0x0080008000800080
)

func channelsOf(c color.RGBA) channels {
	return channels(c.R) | channels(c.B)<<16 | channels(c.G)<<32 | channels(c.A)<<48
}

func spread(pixel uint32) channels { return channels(pixel&0xff00ff) | channels(pixel>>8&0xff00ff)<<32 }

// over blends a color with an alpha over a pixel; cover goes to 255. Both products are divided by 255, rounded.
func (l channels) over(pixel uint32, alpha, cover uint64) uint32 {
	x := l*channels(cover) + spread(pixel)*channels(255-div255(alpha*cover)) + half
	x = (x + x>>8&low) >> 8 & low
	return uint32(x | x>>24)
}

// div255 divides by 255, rounded, what is at most 255 × 255.
func div255[T uint32 | uint64](x T) T {
	x += 128
	return (x + x>>8) >> 8
}

// Faint returns a color at a share of its strength, of 255.
func Faint(c color.RGBA, share uint32) color.RGBA {
	var faded [4]uint8
	Over(faded[:], c, share)
	return color.RGBA{faded[0], faded[1], faded[2], faded[3]}
}
