package timeline

import (
	"image"
	"image/color"
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/pen"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Sizes in device-independent pixels.
const (
	barShare  = 0.62 // of a row
	leastBar  = 2
	hatchGap  = 5
	tickGap   = 4
	crossSize = 3.2
	stroke    = 1.6
)

// inks are the colors of a drawing; all are opaque.
type inks struct {
	grid, service, held, bad, badHeld, muted, block, selected, hovered, accent color.RGBA
	onBar                                                                      color.RGBA
}

func takeInks() inks {
	surface, service, bad := opaque(widgets.ColorSurface), opaque(theme.ColorNamePrimary), opaque(theme.ColorNameError)
	muted := opaque(widgets.ColorMuted)
	return inks{
		grid: mix(surface, muted, 0.22), service: service, held: mix(surface, service, 0.38), bad: bad, badHeld: mix(surface, bad, 0.38),
		muted: muted, block: mix(surface, muted, 0.55), selected: mix(surface, service, 0.16), hovered: mix(surface, muted, 0.12),
		accent: service, onBar: surface,
	}
}

func opaque(name fyne.ThemeColorName) color.RGBA {
	c := color.NRGBAModel.Convert(widgets.Color(name)).(color.NRGBA)
	return color.RGBA{c.R, c.G, c.B, 255}
}

// mix mixes two colors.
func mix(a, b color.RGBA, share float64) color.RGBA {
	part := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + (float64(y)-float64(x))*share)) }
	return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 255}
}

// draw returns the bars in w × h device pixels.
func (t *Timeline) draw(w, h int) image.Image {
	if t.img == nil || t.img.Rect.Dx() != w || t.img.Rect.Dy() != h {
		t.img = image.NewRGBA(image.Rect(0, 0, w, h))
		t.mask.Resize(w, h)
	} else {
		clear(t.img.Pix)
	}
	width := t.raster.Size().Width
	if width <= 0 || t.scale.right <= t.scale.left || len(t.session.Bars) == 0 {
		return t.img
	}
	t.factor = float32(w) / width
	row, head := t.row(), t.head()
	for i := range t.session.Bars {
		t.ground(i, head+float32(i)*row, row, width)
	}
	t.grid(head, row)
	if t.session.Queue > 0 {
		t.hatch(head, head+float32(len(t.session.Bars))*row)
	}
	for i := range t.session.Bars {
		t.bar(&t.session.Bars[i], head+float32(i)*row, row)
	}
	return t.img
}

// ground highlights a row that is selected or under the pointer, with a border if the timeline is focused.
func (t *Timeline) ground(i int, y, row, width float32) {
	fill, border, edge := t.inks.hovered, float32(0), t.inks.accent
	switch {
	case i == t.selected && t.focused:
		fill, border = t.inks.selected, stroke
	case i == t.selected:
		fill = t.inks.selected
	case i != t.hovered:
		return
	}
	t.box(pen.Box{X0: 0, Y0: y, X1: width, Y1: y + row, Radius: 3, Border: border}, fill, edge)
}

// grid draws a line for each tick of the axis.
func (t *Timeline) grid(head, row float32) {
	bottom := head + float32(len(t.session.Bars))*row
	for at := time.Duration(0); at <= t.scale.total && t.scale.step > 0; at += t.scale.step {
		x := float32(math.Round(float64(t.scale.x(at) * t.factor)))
		pen.Box{X0: x, Y0: head / 4 * t.factor, X1: x + 1, Y1: bottom * t.factor}.Draw(t.img, t.inks.grid, t.inks.grid)
	}
}

// hatch draws the queued time before the session began; a gap at its left shows that it is cut.
func (t *Timeline) hatch(top, bottom float32) {
	left, right := t.scale.left, t.scale.zero
	if t.scale.cut {
		left += hatchGap
	}
	var points [2]pen.Point
	for x := left - (bottom - top); x < right; x += hatchGap {
		// Clip the line from the lower left to the upper right at the edges.
		x0, y0, x1, y1 := x, bottom, x+bottom-top, top
		if x0 < left {
			x0, y0 = left, bottom-(left-x)
		}
		if x1 > right {
			x1, y1 = right, bottom-(right-x)
		}
		if x1 <= x0 {
			continue
		}
		points[0], points[1] = t.point(x0, y0), t.point(x1, y1)
		t.mask.Line(points[:], max(t.factor, 1))
	}
	t.mask.Blend(t.img, mix(t.inks.onBar, t.inks.muted, 0.5))
}

// bar draws a step: throttled time in a lighter color, retries as ticks, and a cross if it failed.
func (t *Timeline) bar(b *Bar, y, row float32) {
	high := row * barShare
	y += (row - high) / 2
	x0, x1, x2 := t.scale.x(b.From), t.scale.x(b.From+b.Throttled), t.scale.x(b.end())
	x2 = max(x2, x0+leastBar)
	service, held := t.inks.service, t.inks.held
	if b.bad() {
		service, held = t.inks.bad, t.inks.badHeld
	}
	switch {
	case b.Block:
		t.bracket(x0, x2, y, high, b.bad())
	case b.Throttled+b.Service > 0 || b.bad():
		if x1 > x0 {
			t.box(pen.Box{X0: x0, Y0: y, X1: x1, Y1: y + high}, held, held)
		}
		t.box(pen.Box{X0: min(x1, x2-leastBar), Y0: y, X1: x2, Y1: y + high, Radius: min(2, (x2-x1)/2)}, service, service)
	default: // it did nothing: draw a point at its time
		t.box(pen.Box{X0: x0, Y0: y + high/2 - 1.5, X1: x0 + 3, Y1: y + high/2 + 1.5, Radius: 1.5}, t.inks.block, t.inks.block)
	}
	for i := range min(b.Retries, 8) {
		x := x2 + 2 + float32(i)*tickGap
		t.box(pen.Box{X0: x, Y0: y, X1: x + 1.5, Y1: y + high}, t.inks.muted, t.inks.muted)
	}
	if b.bad() {
		x := x2 + 2 + float32(min(b.Retries, 8))*tickGap + crossSize + 1
		t.cross(min(x, t.scale.right+crossSize), y+high/2)
	}
}

// bracket draws a block around the bars below it.
func (t *Timeline) bracket(x0, x1, y, high float32, bad bool) {
	ink := t.inks.block
	if bad {
		ink = t.inks.bad
	}
	t.box(pen.Box{X0: x0, Y0: y + high*0.35, X1: x1, Y1: y + high*0.35 + 2}, ink, ink)
	for _, x := range [...]float32{x0, x1 - 2} {
		t.box(pen.Box{X0: x, Y0: y + high*0.35, X1: x + 2, Y1: y + high}, ink, ink)
	}
}

func (t *Timeline) cross(x, y float32) {
	const r = crossSize
	t.mask.Line([]pen.Point{t.point(x-r, y-r), t.point(x+r, y+r)}, stroke*t.factor)
	t.mask.Line([]pen.Point{t.point(x-r, y+r), t.point(x+r, y-r)}, stroke*t.factor)
	t.mask.Blend(t.img, t.inks.bad)
}

func (t *Timeline) point(x, y float32) pen.Point { return pen.Point{X: x * t.factor, Y: y * t.factor} }

// box draws a rectangle, given in device-independent pixels.
func (t *Timeline) box(b pen.Box, fill, edge color.RGBA) {
	round := func(v float32) float32 { return float32(math.Round(float64(v * t.factor))) }
	pen.Box{
		X0: round(b.X0), Y0: round(b.Y0), X1: max(round(b.X1), round(b.X0)+1), Y1: round(b.Y1), Radius: b.Radius * t.factor, Border: b.Border * t.factor,
	}.Draw(t.img, fill, edge)
}
