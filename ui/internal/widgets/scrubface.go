package widgets

import (
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/pen"
)

func scrubThumb() float32 { return theme.TextSize() }
func scrubTick() float32  { return theme.TextSize() * 0.35 }

// scrubFace draws a scrubber: one raster with a reused image.
type scrubFace struct {
	img   *image.RGBA
	mask  pen.Mask
	scale float32 // device pixels per device-independent pixel
}

// drawer returns a function that draws a scrubber in device pixels.
func (f *scrubFace) drawer(s *Scrubber) func(w, h int) image.Image {
	return func(w, h int) image.Image {
		w, h = max(w, 1), max(h, 1)
		if f.img == nil || f.img.Rect.Dx() != w || f.img.Rect.Dy() != h {
			f.img = image.NewRGBA(image.Rect(0, 0, w, h))
			f.mask.Resize(w, h)
		} else {
			clear(f.img.Pix)
		}
		f.scale = 1
		if width := s.Size().Width; width > 0 {
			f.scale = float32(w) / width
		}
		if len(s.scale.spans) > 0 {
			f.draw(s)
		}
		return f.img
	}
}

func solid(name fyne.ThemeColorName) color.RGBA {
	r, g, b, a := Color(name).RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(a >> 8)}
}

func (f *scrubFace) draw(s *Scrubber) {
	accent := solid(theme.ColorNamePrimary)
	if s.Disabled() {
		accent = solid(theme.ColorNameDisabled)
	}
	middle, thick := s.Size().Height/2, scrubThumb()*0.3
	thumb := s.thumb()
	for _, p := range s.scale.spans {
		from, to := s.x(p.From), s.x(p.To)
		f.box(from, middle-thick/2, max(to, from+1), middle+thick/2, thick/2, solid(theme.ColorNameInputBorder))
		if thumb > from {
			f.box(from, middle-thick/2, max(min(to, thumb), from+1), middle+thick/2, thick/2, accent)
		}
	}
	for i := range s.ticks {
		f.tick(&s.ticks[i], s.x(s.ticks[i].At), middle)
	}
	r := scrubThumb() / 2
	if s.focused && !s.Disabled() {
		halo := solid(theme.ColorNameForeground)
		f.box(thumb-r-2, middle-r-2, thumb+r+2, middle+r+2, r+2, halo)
	}
	if s.hovered && !s.focused {
		f.box(thumb-r-1, middle-r-1, thumb+r+1, middle+r+1, r+1, solid(ColorMuted))
	}
	f.box(thumb-r, middle-r, thumb+r, middle+r, r, accent)
}

// tick draws a mark: a line across the track, a dot below it, or a diamond above it.
func (f *scrubFace) tick(t *Tick, x, middle float32) {
	size, edge := scrubTick(), scrubThumb()/2
	switch t.Kind {
	case TickCycle:
		f.box(x-0.5, middle-edge*0.6, x+0.5, middle+edge*0.6, 0, solid(ColorMuted))
	case TickChange:
		y := middle + edge + size/2
		f.box(x-size/2, y-size/2, x+size/2, y+size/2, size/2, solid(theme.ColorNameWarning))
	case TickPoint:
		y, r := middle-edge-size/2, size*0.55
		at := func(dx, dy float32) pen.Point { return pen.Point{X: (x + dx) * f.scale, Y: (y + dy) * f.scale} }
		f.mask.Line([]pen.Point{at(-r, 0), at(0, -r), at(r, 0), at(0, r), at(-r, 0)}, max(f.scale, 1))
		f.mask.Line([]pen.Point{at(0, 0)}, r*f.scale)
		f.mask.Blend(f.img, solid(theme.ColorNameSuccess))
	}
}

// box draws a rectangle with rounded corners.
func (f *scrubFace) box(x0, y0, x1, y1, radius float32, fill color.RGBA) {
	at := func(v float32) float32 { return float32(math.Round(float64(v * f.scale))) }
	pen.Box{X0: at(x0), Y0: at(y0), X1: max(at(x1), at(x0)+1), Y1: max(at(y1), at(y0)+1), Radius: radius * f.scale}.Draw(f.img, fill, fill)
}
