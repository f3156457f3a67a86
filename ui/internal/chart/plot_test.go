package chart

import (
	"fmt"
	"image/color"
	"math"
	"testing"
)

var (
	red   = color.RGBA{255, 0, 0, 255}
	green = color.RGBA{0, 255, 0, 255}
	blue  = color.RGBA{0, 0, 255, 255}
	none  = color.RGBA{}
)

// square returns a plot of 0 to 100 by 0 to 100. Drawn in 104 × 102 pixels, x is the time and y is 100 less the value.
func square(times []float64, values ...[]float64) *plot {
	return &plot{
		to: 100, field: field{extent: extent{top: 100}}, limit: nan, times: times, values: values,
		inks: inks{series: []color.RGBA{red, green}, limit: blue, marker: blue},
	}
}

func (p *plot) drawSquare() *plot {
	p.draw(104, 102, 104)
	return p
}

func (p *plot) at(x, y int) color.RGBA { return p.img.RGBAAt(x, y) }

func TestLineIsWhereItShouldBe(t *testing.T) {
	// The values are the middles of pixels.
	p := square([]float64{0, 50, 100}, []float64{19.5, 19.5, 79.5}).drawSquare()
	for _, tt := range []struct {
		x, y int
		want bool
	}{
		{20, 80, true},
		{20, 77, false},
		{20, 83, false},
		{75, 49, true}, // half way up
		{80, 43, true},
		{75, 53, false},
		{75, 45, false},
		{99, 21, true},
	} {
		if got := p.at(tt.x, tt.y); (got.A > 230) != tt.want || !tt.want && got != none {
			t.Errorf("%d, %d is %v, want a line: %t", tt.x, tt.y, got, tt.want)
		}
	}
	// The line is 1.6 pixels wide, so it covers 1.6 pixels of a column.
	sum := 0
	for y := range 102 {
		sum += int(p.at(20, y).A)
	}
	if width := float64(sum) / 255; math.Abs(width-lineWidth) > 0.02 {
		t.Errorf("the line is %v wide, want %v", width, lineWidth)
	}
}

func TestLineGrowsWithTheScale(t *testing.T) {
	p := square([]float64{0, 100}, []float64{50, 50})
	p.draw(208, 204, 104)
	sum := 0
	for y := range 204 {
		sum += int(p.at(100, y).A)
	}
	if width := float64(sum) / 255; math.Abs(width-2*lineWidth) > 0.02 {
		t.Errorf("the line is %v device pixels wide, want %v", width, 2*lineWidth)
	}
}

func TestSeriesKeepTheirColors(t *testing.T) {
	p := square([]float64{0, 100}, []float64{49.5, 49.5}, []float64{0, 100}).drawSquare()
	if got := p.at(20, 50); got.R < 230 || got.G != 0 {
		t.Errorf("the first line is %v, want red", got)
	}
	if got := p.at(20, 79); got.G < 230 || got.R != 0 {
		t.Errorf("the second line is %v, want green", got)
	}
}

func TestLineBreaks(t *testing.T) {
	tests := []struct {
		name   string
		times  []float64
		values []float64
		gap    float64
		broken bool
	}{
		{"whole", []float64{0, 40, 60, 100}, []float64{50, 50, 50, 50}, 0, false},
		{"no value", []float64{0, 40, 50, 60, 100}, []float64{50, 50, nan, 50, 50}, 0, true},
		{"too far apart", []float64{0, 20, 40, 60, 80, 100}, []float64{50, 50, 50, 50, 50, 50}, 19, true},
		{"near enough", []float64{0, 20, 40, 60, 80, 100}, []float64{50, 50, 50, 50, 50, 50}, 20, false},
	}
	for _, tt := range tests {
		for _, fill := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, ", fill ", fill), func(t *testing.T) {
				p := square(tt.times, tt.values)
				p.gap, p.fill = tt.gap, fill
				p.drawSquare()
				if got := p.at(50, 50) == none; got != tt.broken {
					t.Errorf("broken in the middle: %t, want %t", got, tt.broken)
				}
				if got := p.at(50, 80) != none; got != (fill && !tt.broken) {
					t.Errorf("tinted in the middle: %t", got)
				}
				if p.at(60, 50) == none {
					t.Error("nothing is at the value after the middle")
				}
			})
		}
	}
}

func TestLonelyValueIsADot(t *testing.T) {
	p := square([]float64{0, 50, 100}, []float64{nan, 50.5, nan}).drawSquare()
	if p.at(49, 49) == none || p.at(50, 49) == none {
		t.Error("nothing is drawn")
	}
	if p.at(45, 49) != none || p.at(55, 49) != none {
		t.Error("it is a line")
	}
}

func TestManyRowsKeepTheirExtremes(t *testing.T) {
	const rows = 20_000
	times, values := make([]float64, rows), make([]float64, rows)
	for i := range rows {
		times[i], values[i] = float64(i)*100/rows, 50
	}
	values[5003], values[15007] = 100, 0 // at 25 and 75
	p := square(times, values).drawSquare()
	if len(p.points) > 2*102 {
		t.Errorf("%d points for 100 columns", len(p.points))
	}
	if p.at(25, 1) == none || p.at(75, 98) == none {
		t.Error("an extreme is not drawn")
	}
	if p.at(50, 50) == none || p.at(50, 40) != none {
		t.Error("the other pixels moved")
	}
}

func TestReducedLineDoesNotShimmer(t *testing.T) {
	const rows = 2000
	times, values := make([]float64, rows), make([]float64, rows)
	for i := range rows {
		times[i], values[i] = float64(i)/10, 50+50*math.Sin(float64(i*i))
	}
	extremes := func(from float64) map[float32]bool {
		p := square(times, values)
		p.from, p.to = from, from+100
		p.drawSquare()
		ys := make(map[float32]bool)
		for _, q := range p.points {
			ys[q.Y] = true
		}
		return ys
	}
	// The rows in view differ only at the ends. The selection from the others must be the same.
	a, b := extremes(40), extremes(40.4)
	for y := range a {
		if !b[y] {
			t.Fatalf("the extreme at %v is gone after a move by less than a column", y)
		}
	}
}

func TestLimitIsDashed(t *testing.T) {
	p := square(nil, nil)
	p.limit = 50
	p.drawSquare()
	var row string
	for x := range 2 * (dashOn + dashOff) {
		if p.at(x, 50) == blue {
			row += "-"
		} else {
			row += " "
		}
	}
	if want := "------    ------    "; row != want {
		t.Errorf("got %q, want %q", row, want)
	}
	if p.at(0, 47) != none || p.at(0, 52) != none {
		t.Error("the line is too thick")
	}
}

func TestMarkersHaveGlyphs(t *testing.T) {
	seen := map[string]MarkerKind{}
	for kind := range numKinds {
		p := square(nil, nil)
		p.inks.trouble = red
		p.crown = crownLeast
		p.markers = []moment{{40, kind}, {101, kind}}
		p.drawSquare()
		var glyph []byte
		covered := 0
		for y := range glyphSize {
			for x := range glyphSize {
				a := p.at(40-glyphSize/2+x, y).A
				glyph = append(glyph, a)
				if a > 0 {
					covered++
				}
			}
		}
		if covered < 20 {
			t.Errorf("the glyph of kind %d covers %d pixels", kind, covered)
		}
		if other, ok := seen[string(glyph)]; ok {
			t.Errorf("the kinds %d and %d look the same", kind, other)
		}
		seen[string(glyph)] = kind
		line := p.at(40, 60)
		if line.A == 0 || line.A == 255 || (line.R > 0) != kind.troubling() {
			t.Errorf("the line of kind %d is %v", kind, line)
		}
		if p.at(38, 60) != none || p.at(101, 60) != none || p.at(33, 4) != none || p.at(47, 4) != none {
			t.Errorf("kind %d is drawn elsewhere", kind)
		}
	}
}

func TestGridIsSharp(t *testing.T) {
	for _, width := range []float32{104, 69.33, 52} { // scales of 1, 1.5 and 2
		p := square(nil, nil)
		p.inks.grid, p.inks.base = red, green
		p.grid, p.ticks = []float64{0, 50}, []float64{30}
		p.draw(104, 102, width)
		for y := range 102 {
			for x := range 104 {
				if c := p.at(x, y); c != none && c != red && c != green {
					t.Fatalf("width %v: %d, %d is %v", width, x, y, c)
				}
			}
		}
	}
}

func TestFillFadesDownwards(t *testing.T) {
	p := square([]float64{0, 100}, []float64{80, 80})
	p.fill, p.ticks, p.inks.grid = true, []float64{70}, blue
	p.drawSquare()
	high, low := p.at(50, 25).A, p.at(50, 95).A
	if high <= low || low == 0 || high > shadeTop {
		t.Errorf("alpha %d near the line and %d below", high, low)
	}
	if p.at(50, 10) != none {
		t.Error("the tint is above the line")
	}
	if got := p.at(70, 60); got.R == 0 || got.B < 150 {
		t.Errorf("the grid below the tint is %v", got)
	}
}

func TestDrawingAgainLeavesNothingBehind(t *testing.T) {
	p := square([]float64{0, 100}, []float64{80, 80}).drawSquare()
	img := p.img
	p.values[0][0], p.values[0][1] = 20, 20
	p.drawSquare()
	if p.img != img {
		t.Error("the image was reallocated")
	}
	if p.at(50, 20) != none || p.at(50, 80) == none {
		t.Error("the line did not move")
	}
}

func TestSmallestDrawings(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {1, 1}, {3, 200}, {200, 3}} {
		p := square([]float64{0, 50, 100}, []float64{0, 100, 3}, []float64{1, 2, nan})
		p.fill, p.limit, p.markers, p.grid, p.ticks = true, 50, []moment{{at: 50}}, []float64{0, 50}, []float64{10}
		p.crown = crownLeast
		if got := p.draw(size[0], size[1], float32(size[0])).Rect.Size(); got.X != size[0] || got.Y != size[1] {
			t.Errorf("%v instead of %v", got, size)
		}
	}
}

// TestTheOnlyRowOfAShortRunIsALine checks that a single row of a run of less than a second is drawn over the whole axis, and that one of a
// longer axis is a point.
func TestTheOnlyRowOfAShortRunIsALine(t *testing.T) {
	for _, c := range []struct {
		to   float64
		want int
	}{{100.2, 2}, {160, 1}} {
		p := plot{field: field{extent: extent{top: 10}}, limit: math.NaN(), from: 100, to: c.to, times: []float64{100}}
		p.prepare(200, 100, 200)
		p.project([]float64{5})
		if len(p.points) != c.want {
			t.Errorf("up to %v: %d points, want %d", c.to, len(p.points), c.want)
		}
	}
}
