package widgets

import (
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// Spark is a sparkline in a cell of a table, with the newest value at the right. It is immutable after it was shown.
type Spark struct {
	Values []float64 // NaN if missing
	// Least is the minimum of the vertical range, so that a line of small values stays low.
	Least float64
}

// Sizes of the drawing, in device-independent pixels.
const (
	sparkLine = 1.3
	sparkDot  = 3.4
	sparkEdge = 3
	sparkTint = 40 // out of 255, below the line
)

// sparkFace draws a sparkline.
type sparkFace struct {
	raster *canvas.Raster
	spark  *Spark
	ink    color.RGBA
	img    *image.RGBA
	mask   pen.Mask
	points []pen.Point
}

func newSparkFace() *sparkFace {
	f := &sparkFace{}
	f.raster = canvas.NewRaster(func(w, h int) image.Image { return f.draw(w, h, f.raster.Size().Width) })
	f.raster.ScaleMode = canvas.ImageScalePixels
	return f
}

// show shows a sparkline in the color of a tone; neutral ones have the accent color.
func (f *sparkFace) show(s *Spark, tone Tone) {
	name := tone.Color()
	if tone == Neutral {
		name = theme.ColorNamePrimary
	}
	f.spark, f.ink = s, color.RGBAModel.Convert(Color(name)).(color.RGBA)
}

// draw returns the drawing in w × h device pixels, width device-independent pixels wide.
func (f *sparkFace) draw(w, h int, width float32) *image.RGBA {
	if f.img == nil || f.img.Rect.Dx() != w || f.img.Rect.Dy() != h {
		f.img = image.NewRGBA(image.Rect(0, 0, w, h))
		f.mask.Resize(w, h)
	} else {
		clear(f.img.Pix)
	}
	if f.spark == nil || len(f.spark.Values) == 0 || width <= 0 {
		return f.img
	}
	scale := float32(w) / width
	f.project(float32(w), float32(h), sparkEdge*scale)
	f.shade()
	f.mask.Line(f.points, sparkLine*scale)
	if last := f.points[len(f.points)-1]; !last.Broken() {
		f.mask.Line([]pen.Point{last}, sparkDot*scale)
	}
	f.mask.Blend(f.img, f.ink)
	return f.img
}

// project converts the values to points.
func (f *sparkFace) project(w, h, edge float32) {
	highest := max(f.spark.Least, math.SmallestNonzeroFloat32)
	for _, v := range f.spark.Values {
		if v > highest {
			highest = v
		}
	}
	f.points = f.points[:0]
	step := (w - 2*edge) / float32(max(len(f.spark.Values)-1, 1))
	for i, v := range f.spark.Values {
		p := pen.Point{X: float32(math.NaN())}
		if !math.IsNaN(v) {
			p = pen.Point{X: edge + float32(i)*step, Y: h - edge - float32(v/highest)*(h-2*edge)}
		}
		f.points = append(f.points, p)
	}
}

// shade fills the area below the line.
func (f *sparkFace) shade() {
	tint := pen.Faint(f.ink, sparkTint)
	for i := 1; i < len(f.points); i++ {
		a, b := f.points[i-1], f.points[i]
		if a.Broken() || b.Broken() {
			continue
		}
		for x := max(int(a.X+0.5), 0); x < min(int(b.X+0.5), f.img.Rect.Dx()); x++ {
			top := a.Y + (b.Y-a.Y)*(float32(x)+0.5-a.X)/max(b.X-a.X, 1e-6)
			for y := max(int(top+0.5), 0); y < f.img.Rect.Dy(); y++ {
				pen.Over(f.img.Pix[y*f.img.Stride+4*x:], tint, 255)
			}
		}
	}
}
