package chart

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
)

// measuredLevels are measurements of a service with a knee, and the fitted curve.
func measuredLevels() LevelsData {
	d := LevelsData{Mark: 18, Low: 15, High: 23}
	x := func(n float64) float64 { return 120 * n / (1 + 0.02*(n-1) + 0.0015*n*(n-1)) }
	for n := 1.0; n <= 64; n *= 2 {
		d.Points = append(d.Points, LevelsPoint{At: n, PerSecond: x(n) * (1 + 0.03*math.Sin(7*n)), Spread: 0.05 * x(n), Latency: n / x(n), Over: n > 32})
	}
	for i := range 33 {
		n := math.Exp2(6 * float64(i) / 32)
		d.Curve = append(d.Curve, LevelsCurve{n, x(n), 0.93 * x(n), 1.06 * x(n)})
	}
	return d
}

func showLevels(t testing.TB, width, height float32) (*Levels, window) {
	t.Helper()
	c := NewLevels("Throughput", "sessions per second", "Latency", "p95 of sessions", Keep{})
	return c, put(t, c, width, height)
}

// shown returns the visible texts.
func (c *Levels) shown() (all []*canvas.Text) {
	for _, l := range c.labels() {
		if !l.text.Hidden && l.text.Text != "" {
			all = append(all, l.text)
		}
	}
	return all
}

func (c *Levels) reads(want string) bool {
	return slices.ContainsFunc(c.shown(), func(t *canvas.Text) bool { return t.Text == want })
}

func TestLevelsShowAxesAndTheRecommendation(t *testing.T) {
	c, _ := showLevels(t, 700, 420)
	if !c.reads("nothing measured yet") || c.reads("recommended 18") {
		t.Error("without data there is no message")
	}
	c.Set(measuredLevels())
	for _, want := range []string{"Throughput", "Latency", "recommended 18", "1", "2", "4", "8", "16", "32", "64", "1 k", "0"} {
		if !c.reads(want) {
			t.Errorf("nowhere %q", want)
		}
	}
	if c.reads("nothing measured yet") {
		t.Error("it reports that there is no data")
	}
}

// TestLevelsFit checks that texts neither leave the widget nor cover each other, at any size and with many levels.
func TestLevelsFit(t *testing.T) {
	many := measuredLevels()
	many.Points = nil
	for n := range 40 {
		many.Points = append(many.Points, LevelsPoint{At: float64(1000 + n), PerSecond: 1e6, Latency: 1e-5})
	}
	one := LevelsData{Points: []LevelsPoint{{At: 8, PerSecond: 3, Latency: 2}}, Mark: 8, Low: 8, High: 8}
	for _, size := range []fyne.Size{{Width: 260, Height: 230}, {Width: 500, Height: 300}, {Width: 1100, Height: 600}} {
		for i, d := range []LevelsData{{}, measuredLevels(), many, one} {
			t.Run(fmt.Sprint(size.Width, i), func(t *testing.T) {
				c, _ := showLevels(t, size.Width, size.Height)
				c.Set(d)
				all := c.shown()
				for i, a := range all {
					end := a.Position().Add(a.Size())
					if a.Position().X < -1 || a.Position().Y < -1 || end.X > size.Width+1 || end.Y > size.Height+1 {
						t.Errorf("%q at %v leaves %v", a.Text, a.Position(), size)
					}
					for _, b := range all[i+1:] {
						if overlap(a, b) && a != c.mark.text && b != c.mark.text {
							t.Errorf("%q covers %q", a.Text, b.Text)
						}
					}
				}
			})
		}
	}
}

// TestLevelsAreDrawn checks the colors at the positions of measurements and the curve.
func TestLevelsAreDrawn(t *testing.T) {
	c, w := showLevels(t, 700, 420)
	before := w.pixels()
	c.Set(measuredLevels())
	if bytes.Equal(before, w.pixels()) {
		t.Fatal("nothing is drawn")
	}
	img := c.plot.draw(640, 380, 640)
	has := func(x, y float32, name string, ink [3]uint8) {
		t.Helper()
		p := img.RGBAAt(int(x), int(y))
		if p.A == 0 || math.Abs(float64(p.R)-float64(ink[0]))+math.Abs(float64(p.G)-float64(ink[1]))+math.Abs(float64(p.B)-float64(ink[2])) > 40 {
			t.Errorf("%s is %v at %v, %v, want %v", name, p, x, y, ink)
		}
	}
	at := func(field int, n, v float64) (x, y float32) {
		c.plot.enter(field)
		p := c.plot.at(n, v)
		return p.X, p.Y
	}
	m := c.plot.data.Points[3]
	x, y := at(0, m.At, m.PerSecond)
	has(x, y, "a measurement", [3]uint8{c.plot.rate.R, c.plot.rate.G, c.plot.rate.B})
	x, y = at(1, m.At, m.Latency)
	has(x, y, "its latency", [3]uint8{c.plot.time.R, c.plot.time.G, c.plot.time.B})
	x, _ = at(1, 18, 0)
	has(x, c.plot.bed-20, "the recommendation", [3]uint8{c.plot.chosen.R, c.plot.chosen.G, c.plot.chosen.B})
	x, y = at(0, 6, 1.03*c.plot.data.Curve[14].PerSecond)
	if img.RGBAAt(int(x), int(y)).A == 0 {
		t.Error("the interval of the curve is not tinted")
	}
	light := w.pixels()
	w.setVariant(theme.VariantDark)
	if bytes.Equal(light, w.pixels()) {
		t.Error("the dark theme looks the same")
	}
}

func BenchmarkDrawLevels(b *testing.B) {
	c, _ := showLevels(b, 640, 380)
	c.Set(measuredLevels())
	b.ReportAllocs()
	for b.Loop() {
		c.plot.draw(640, 380, 640)
	}
}
