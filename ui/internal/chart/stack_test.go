package chart

import (
	"math"
	"slices"
	"testing"
	"time"
)

// stacked returns a stack of two series and a missing one, from 0 to 100.
func stacked() *plot {
	p := square([]float64{0, 50, 100}, []float64{20, 20, 20}, []float64{nan, nan, nan}, []float64{30, 30, nan})
	p.inks.series = append(p.inks.series, blue)
	p.stacked, p.hidden = true, make([]bool, 3)
	p.stack()
	return p
}

func TestAStackAddsUp(t *testing.T) {
	p := stacked()
	if !slices.Equal(p.shown(0), []float64{20, 20, 20}) || !slices.Equal(p.shown(2)[:2], []float64{50, 50}) || !math.IsNaN(p.shown(2)[2]) {
		t.Errorf("the edges are %v and %v", p.shown(0), p.shown(2))
	}
	p.drawSquare()
	for _, tt := range []struct {
		y    int
		what string
		is   func(r, b uint8) bool
	}{
		{90, "the first area", func(r, b uint8) bool { return r > 0 && b == 0 }},
		{65, "the third area", func(r, b uint8) bool { return r == 0 && b > 0 }},
		{40, "empty", func(r, b uint8) bool { return r == 0 && b == 0 }},
	} {
		if c := p.at(25, tt.y); !tt.is(c.R, c.B) {
			t.Errorf("at %d is %v, want %s", tt.y, c, tt.what)
		}
	}
	p.hidden[0] = true
	p.stack()
	if p.shown(2)[0] != 30 {
		t.Errorf("without the first, the third is at %v", p.shown(2))
	}
}

func TestAStackedChartHasRoomForTheSum(t *testing.T) {
	c := New(Config{Title: "In flight", Stack: true, Series: seriesNamed(3)})
	show(t, c, 640, 370)
	from := time.Unix(0, 0)
	c.Set(Data{Times: []float64{0, 1, 2}, Values: [][]float64{{50, 50, 50}, {40, 40, 40}, {30, 30, 30}}, From: from, To: from.Add(2 * time.Second)})
	if c.highest != 120 || c.axis.top < 120 {
		t.Errorf("highest %v, axis to %v", c.highest, c.axis.top)
	}
	if c.newest(2) != 30 {
		t.Errorf("the legend shows %v for a worker, want its own value", c.newest(2))
	}
	c.Toggle(0)
	if c.highest != 70 {
		t.Errorf("without the first: highest %v", c.highest)
	}
	c.SetLog(true)
	if c.Log() {
		t.Error("a stack has a logarithmic axis")
	}
}
