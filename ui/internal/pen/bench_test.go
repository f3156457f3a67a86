package pen

import (
	"image"
	"math/rand/v2"
	"testing"
)

// wander returns a random line of n points in 590 × 330 pixels.
func wander(points int) []Point {
	random := rand.New(rand.NewPCG(1, 2))
	all, level := make([]Point, points), 165.0
	for i := range all {
		level = min(max(level+random.NormFloat64()*8, 5), 325)
		all[i] = Point{X: float32(590 * float64(i) / float64(points)), Y: float32(level)}
	}
	return all
}

func BenchmarkLine(b *testing.B) {
	for _, size := range []struct {
		name   string
		points int
		width  float32
	}{{"steep", 1180, 1.6}, {"sloped", 590, 1.6}, {"flat", 20, 1.6}, {"thick", 590, 3.2}} {
		b.Run(size.name, func(b *testing.B) {
			points := wander(size.points)
			var m Mask
			b.ReportAllocs()
			for b.Loop() {
				m.Resize(590, 330)
				m.Line(points, size.width)
			}
		})
	}
}

// BenchmarkBlend draws a line that changes with every frame.
func BenchmarkBlend(b *testing.B) {
	img, points := image.NewRGBA(image.Rect(0, 0, 590, 330)), wander(590)
	var m Mask
	m.Resize(590, 330)
	b.ReportAllocs()
	for b.Loop() {
		m.Line(points, 1.6)
		m.Blend(img, red)
	}
}
