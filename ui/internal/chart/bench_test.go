package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"fyne.io/fyne/v2/theme"
)

// noise returns rows a second apart, up to noon, of random series.
func noise(series, rows int) Data {
	random := rand.New(rand.NewPCG(1, 2))
	times, values := make([]float64, rows), make([][]float64, series)
	for i := range times {
		times[i] = Seconds(noon) - float64(rows-1-i)
	}
	for s := range values {
		values[s] = make([]float64, rows)
		level := 20 + 25*float64(s)
		for i := range values[s] {
			level = math.Abs(level + random.NormFloat64()*2)
			values[s][i] = min(level, 95)
		}
	}
	return Data{Times: times, Values: values}
}

func seriesNamed(n int) []SeriesConfig {
	all := make([]SeriesConfig, n)
	for i := range all {
		all[i].Name = fmt.Sprint("series ", i+1)
	}
	return all
}

func BenchmarkDraw(b *testing.B) {
	for _, size := range []struct{ series, rows, scale int }{{1, 600, 1}, {3, 600, 1}, {4, 600, 1}, {1, 3600, 1}, {3, 3600, 1}, {3, 600, 2}} {
		b.Run(fmt.Sprintf("series=%d/rows=%d/scale=%d", size.series, size.rows, size.scale), func(b *testing.B) {
			c := New(Config{Title: "CPU", Unit: Percent, Series: seriesNamed(size.series), Fill: true, Bands: []Band{
				{From: 70, To: 90, Level: theme.ColorNameWarning}, {From: 90, Level: theme.ColorNameError},
			}})
			show(b, c, 640, 370)
			d := noise(size.series, size.rows)
			d.Limit, d.LimitName = 90, "max"
			d.Markers = []Marker{{At: noon.Add(-time.Minute)}, {At: noon.Add(-3 * time.Minute), Kind: Refused}}
			c.Set(d)
			w, h := 590*size.scale, 330*size.scale
			c.plot.draw(w, h, 590)
			b.ReportAllocs()
			for b.Loop() {
				c.plot.draw(w, h, 590)
			}
		})
	}
}

func BenchmarkDrawHistogram(b *testing.B) {
	for _, scale := range []int{1, 2} {
		b.Run(fmt.Sprint("scale=", scale), func(b *testing.B) {
			c := NewHistogram("Latency", "", "sessions", Keep{})
			put(b, c, 640, 370)
			c.Set(hump())
			c.plot.draw(590*scale, 330*scale, 590)
			b.ReportAllocs()
			for b.Loop() {
				c.plot.draw(590*scale, 330*scale, 590)
			}
		})
	}
}

// BenchmarkPoint moves the crosshair over a chart, including all texts.
func BenchmarkPoint(b *testing.B) {
	c := New(Config{Title: "CPU", Unit: Percent, Series: seriesNamed(3)})
	show(b, c, 640, 370)
	c.Set(noise(3, 600))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.lookAt(float32(i % 580))
	}
}

func BenchmarkSet(b *testing.B) {
	c := New(Config{Title: "CPU", Unit: Percent, Series: seriesNamed(3)})
	show(b, c, 640, 370)
	d := noise(3, 3600)
	b.ReportAllocs()
	for b.Loop() {
		c.Set(d)
	}
}
