package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// noise returns rows a second apart up to noon, of series that wander.
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
	for _, size := range []struct{ series, rows int }{{1, 600}, {3, 600}, {1, 3600}, {3, 3600}} {
		b.Run(fmt.Sprintf("series=%d/rows=%d", size.series, size.rows), func(b *testing.B) {
			c := New(Config{Title: "CPU", Unit: Percent, Series: seriesNamed(size.series), Fill: true})
			show(b, c, 640, 370)
			d := noise(size.series, size.rows)
			d.Limit, d.LimitName = 90, "max"
			d.Markers = []Marker{{At: noon.Add(-time.Minute)}, {At: noon.Add(-3 * time.Minute)}}
			c.Set(d)
			b.ReportAllocs()
			for b.Loop() {
				c.plot.draw(590, 330, 590)
			}
		})
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
