package plot

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

// texts returns the middles of the visible texts of a plot.
func texts(o fyne.Widget) map[string]fyne.Position {
	all := map[string]fyne.Position{}
	for _, part := range test.WidgetRenderer(o).Objects() {
		if text, ok := part.(*canvas.Text); ok && text.Visible() && text.Text != "" {
			all[text.Text] = text.Position().AddXY(text.Size().Width/2, text.Size().Height/2)
		}
	}
	return all
}

// span returns the first and the last column of a row of pixels with a color; -1 if there are none.
func span(img image.Image, y int, ink color.RGBA) (first, last int) {
	first, last = -1, -1
	for x := range img.Bounds().Dx() {
		c := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
		if far(c.R, ink.R)+far(c.G, ink.G)+far(c.B, ink.B) < 12 {
			if first < 0 {
				first = x
			}
			last = x
		}
	}
	return first, last
}

func far(a, b uint8) int { return max(int(a), int(b)) - min(int(a), int(b)) }

// TestEffectsAreAtTheirValues checks the pixels of the intervals, and that only significant effects are filled and in the accent color.
func TestEffectsAreAtTheirValues(t *testing.T) {
	var r *Rows
	p := paper(t, func() fyne.CanvasObject {
		r = NewRows()
		r.SetEffects(effects())
		return r
	}, fyne.NewSize(600, 200), "light", 1)
	img, at := p.Capture(), texts(r)
	zero, fifth := at["0"].X, at["0.2"].X
	if zero == 0 || fifth <= zero {
		t.Fatalf("the axis has the texts %v", at)
	}
	x := func(v float32) float32 { return zero + v/0.2*(fifth-zero) }
	accent, quiet := chart.Ink(theme.ColorNamePrimary), chart.Ink(widgets.ColorMuted)
	for i, want := range []struct {
		low, high, value float32
		ink              color.RGBA
	}{{-0.15, -0.09, -0.12, accent}, {0.17, 0.23, 0.2, accent}, {0, 0, 0.1, quiet}, {-0.05, 0.07, 0.01, quiet}} {
		y := int(r.middle(i))
		first, last := span(img.(*image.NRGBA).SubImage(image.Rect(0, 0, int(r.right), 200)), y, want.ink)
		if want.low != want.high && (math.Abs(float64(float32(first)-x(want.low))) > 2.5 || math.Abs(float64(float32(last)-x(want.high))) > 2.5) {
			t.Errorf("row %d goes from %d to %d, want %.0f to %.0f", i, first, last, x(want.low), x(want.high))
		}
		middle := color.RGBAModel.Convert(img.At(int(x(want.value)), y)).(color.RGBA)
		if filled := far(middle.R, want.ink.R) < 12; filled != (want.ink == accent) {
			t.Errorf("the middle of the dot in row %d is %v", i, middle)
		}
	}
	if names := at["params.eagerness=0.5"]; names.Y < r.middle(0)-2 || names.Y > r.middle(0)+2 {
		t.Errorf("the name of row 0 is at %v, its marks at %v", names.Y, r.middle(0))
	}
}

// TestTextsFit checks that no text is cut or overlaps another one, for all plots, widths, scales and themes.
func TestTextsFit(t *testing.T) {
	plots := map[string]func() fyne.CanvasObject{
		"effects":   func() fyne.CanvasObject { r := NewRows(); r.SetEffects(effects()); return r },
		"one curve": func() fyne.CanvasObject { c := NewCurves(); c.Set(curves(1, true)); return c },
		"curves":    func() fyne.CanvasObject { c := NewCurves(); c.Set(curves(8, true)); return c },
		"names":     func() fyne.CanvasObject { c := NewCurves(); c.Set(curves(2, false)); return c },
		"screening": func() fyne.CanvasObject { s := NewScreening(); s.Set(sensitivity(findings.Screening)); return s },
		"estimates": func() fyne.CanvasObject { r := NewRows(); r.SetEstimates("mood", estimates(), "%"); return r },
		"shares":    func() fyne.CanvasObject { d := NewDistributions(sides); d.Set("mood", bins(false), false); return d },
		"numbers":   func() fyne.CanvasObject { d := NewDistributions(sides); d.Set("price", bins(true), true); return d },
		"matrix":    func() fyne.CanvasObject { m := NewMatrix(); m.Set(runs(100, 40)); return m },
	}
	for _, kind := range []findings.SensitivityKind{findings.Indices, findings.Tornado, findings.Shares} {
		plots[string(kind)] = func() fyne.CanvasObject { r := NewRows(); r.SetInfluences(sensitivity(kind)); return r }
	}
	for name, make := range plots {
		for _, scale := range uitest.Scales {
			for _, width := range []float32{1, 300, 480, 900} { // 1 is the minimum size
				t.Run(fmt.Sprintf("%s %v %v", name, scale, width), func(t *testing.T) {
					p := paper(t, make, fyne.NewSize(width*scale, min(width, 320)*scale), "dark", scale)
					for _, misfit := range uitest.Misfits(p.Content()) {
						t.Error(misfit)
					}
					for _, overlap := range overlaps(p.Content()) {
						t.Error(overlap)
					}
				})
			}
		}
	}
}

// overlaps lists the texts that cover each other, also within a widget.
func overlaps(o fyne.CanvasObject) (found []string) {
	var all []*canvas.Text
	uitest.Walk(o, func(o fyne.CanvasObject) bool {
		if text, ok := o.(*canvas.Text); ok && text.Text != "" {
			all = append(all, text)
		}
		return true
	})
	for i, a := range all {
		for _, b := range all[i+1:] {
			wide := min(a.Position().X+a.Size().Width, b.Position().X+b.Size().Width) - max(a.Position().X, b.Position().X)
			high := min(a.Position().Y+a.Size().Height, b.Position().Y+b.Size().Height) - max(a.Position().Y, b.Position().Y)
			if wide > 1 && high > 0.3*a.Size().Height {
				found = append(found, fmt.Sprintf("%q and %q cover each other", a.Text, b.Text))
			}
		}
	}
	return found
}

// TestEffectsOfManyPoints checks that the significant and the largest effects are shown, in the order of the points.
func TestEffectsOfManyPoints(t *testing.T) {
	p := findings.EffectPlot{Baseline: "x=0"}
	for i := range 200 {
		p.Bars = append(p.Bars, findings.EffectBar{Point: i, Label: fmt.Sprint("x=", i), Value: float64(i), Low: math.NaN(), High: math.NaN(), Clear: i == 3})
	}
	uitest.Start(t)
	r := NewRows()
	r.SetEffects(p)
	if n := len(r.rows); n != mostRows || r.rows[0].name != "x=3" || r.rows[1].name != "x=161" || r.rows[n-1].name != "x=199" {
		t.Errorf("%d rows from %s, %s to %s", n, r.rows[0].name, r.rows[1].name, r.rows[n-1].name)
	}
	if r.note != "40 of 200 points" {
		t.Errorf("the note is %q", r.note)
	}
}

// TestAPlaceIsSelected checks the pointer and the keyboard.
func TestAPlaceIsSelected(t *testing.T) {
	var c *Curves
	p := paper(t, func() fyne.CanvasObject {
		c = NewCurves()
		c.Set(curves(2, true))
		return c
	}, fyne.NewSize(500, 300), "dark", 1)
	p.Capture()
	chosen := none
	c.OnChosen = func(place int) { chosen = place }
	d := c.dots[5] // of the second line
	at := fyne.NewPos(d.x+3, d.y-2)
	c.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: at}})
	if want := "params.eagerness=level-1, service.model.model=model 1\n1.5 s, 95% interval 1.35 s to 1.7 s, 10 runs"; c.Said() != want {
		t.Errorf("the tip is %q, want %q", c.Said(), want)
	}
	c.Tapped(&fyne.PointEvent{Position: at})
	if chosen != 5 {
		t.Errorf("the chosen place is %d", chosen)
	}
	c.MouseOut()
	if c.Selected() != none || c.Said() != "" {
		t.Errorf("%d is selected without the pointer, and the tip is %q", c.Selected(), c.Said())
	}
	for _, key := range []fyne.KeyName{fyne.KeyEnd, fyne.KeyLeft, fyne.KeyReturn} {
		c.TypedKey(&fyne.KeyEvent{Name: key})
	}
	if chosen != 6 {
		t.Errorf("the place chosen with the keyboard is %d", chosen)
	}
}

// TestMeansAreAtTheirValues checks the positions of the dots against the texts of both axes.
func TestMeansAreAtTheirValues(t *testing.T) {
	var c *Curves
	p := paper(t, func() fyne.CanvasObject {
		c = NewCurves()
		c.Set(curves(1, true))
		return c
	}, fyne.NewSize(500, 300), "dark", 1)
	p.Capture()
	at := texts(c)
	one, two := at["1.0 s"].Y, at["1.5 s"].Y
	for i, d := range c.dots {
		wantX := at[fmt.Sprintf("level-%d", i)].X
		wantY := one + (two-one)*float32(0.3*float64(i))/0.5
		if math.Abs(float64(d.x-wantX)) > 1.5 || math.Abs(float64(d.y-wantY)) > 1.5 {
			t.Errorf("dot %d is at %v, %v, want %v, %v", i, d.x, d.y, wantX, wantY)
		}
	}
}

// TestPlotsAreCopied checks the values and the pictures that all plots put into other programs.
func TestPlotsAreCopied(t *testing.T) {
	uitest.Start(t)
	r, influences, c, s, m := NewRows(), NewRows(), NewCurves(), NewScreening(), NewMatrix()
	of, two := NewRows(), NewDistributions(sides)
	of.SetEstimates("mood", estimates(), "%")
	two.Set("price", bins(true), true)
	r.SetEffects(effects())
	influences.SetInfluences(sensitivity(findings.Indices))
	c.Set(curves(2, true))
	s.Set(sensitivity(findings.Screening))
	m.Set(runs(2, 2))
	for i, want := range []string{
		"name\tfigure\tvalue\tlow\thigh\nparams.eagerness=0.5\tvalue\t-0.12\t-0.15\t-0.09\n",
		"name\tfigure\tvalue\tlow\thigh\neagerness\tfirst order (share of the variance)\t0.6\t0.5\t0.7\neagerness\ttotal",
		"params.eagerness\tservice.model.model\tmean\tlow\thigh\truns\nlevel-0\tmodel 0\t1\t0.85\t1.2\t10\n",
		"factor\tµ* (mean size of the effect)\tµ (mean effect)\tσ (its deviation)\nparams.eagerness\t2\t1.9\t0.4\n",
		"point\tseed\tstate\trun\nparams.eagerness=0, service.model.model=small\t1\tdone\t\n",
		"name\tfigure\tvalue\tlow\thigh\ngood\tvalue\t60\t50\t70\n",
		"price\tlow\thigh\treal data (%)\trun (%)\n0 to 10\t0\t10\t20\t10\n",
	} {
		o := []chart.Kept{r, influences, c, s, m, of, two}[i]
		if got := string(o.Table()); !strings.HasPrefix(got, want) {
			t.Errorf("the values are %q, want %q", got, want)
		}
		img := o.Picture()
		if size := img.Bounds().Size(); size.X < 1280 || size.Y < 720 {
			t.Errorf("the picture has %v", size)
		}
		colors := map[color.Color]bool{}
		for x := range img.Bounds().Dx() {
			for y := 0; y < img.Bounds().Dy(); y += 7 {
				colors[img.At(x, y)] = true
			}
		}
		if len(colors) < 10 {
			t.Errorf("the picture has %d colors", len(colors))
		}
	}
}

// TestDistributionsAreAtTheirValues checks the pixels of the bars, and what is said about one of the bins.
func TestDistributionsAreAtTheirValues(t *testing.T) {
	var d *Distributions
	p := paper(t, func() fyne.CanvasObject {
		d = NewDistributions(sides)
		d.Set("price", bins(true), true)
		return d
	}, fyne.NewSize(500, 300), "light", 1)
	img, at := p.Capture(), texts(d)
	zero, ten := at["0"].X, at["10"].X
	level := at["20%"].Y
	for i, side := range []look{sideLooks[0], sideLooks[1]} {
		for y, want := range map[int]bool{int(level) + 4: i == 0, int(level) - 4: false, int(d.field.bottom) - 4: true} {
			part := img.(*image.NRGBA).SubImage(image.Rect(int(zero)+2, 0, int(ten)-2, 300))
			first, last := -1, -1
			for x := part.Bounds().Min.X; x < part.Bounds().Max.X; x++ {
				if c := color.RGBAModel.Convert(part.At(x, y)).(color.RGBA); far(c.R, side.color().R)+far(c.G, side.color().G)+far(c.B, side.color().B) < 12 {
					first, last = max(first, x), x
				}
			}
			if (first >= 0) != want {
				t.Errorf("the bar of %s in row %d: %d to %d, want %v", sides[i], y, first, last, want)
			}
		}
	}
	d.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos((zero+ten)/2, 100)}})
	if want := "0 to 10\nreal data: 20.0%\nrun: 10.0%"; d.Said() != want {
		t.Errorf("the tip is %q, want %q", d.Said(), want)
	}
}

// TestManyValuesAreNotConnected checks that no line joins the dots of a sample, which would show chance.
func TestManyValuesAreNotConnected(t *testing.T) {
	line := findings.CurveLine{}
	for i := range 2 * mostDots {
		line.Dots = append(line.Dots, findings.CurveDot{X: float64(i), Text: fmt.Sprint(i), Runs: 1, Mean: float64(i % 2), Low: math.NaN(), High: math.NaN()})
	}
	between := map[int]bool{}
	for _, n := range []int{mostDots, 2 * mostDots} {
		var c *Curves
		p := paper(t, func() fyne.CanvasObject {
			c = NewCurves()
			c.Set(findings.CurvePlot{Numbers: true, Lines: []findings.CurveLine{{Dots: line.Dots[:n]}}})
			return c
		}, fyne.NewSize(900, 300), "dark", 1)
		img := p.Capture()
		first, _ := span(img, int((c.dots[0].y+c.dots[1].y)/2), chart.Ink(chart.ColorSeries1))
		between[n] = first >= 0
	}
	if !between[mostDots] || between[2*mostDots] {
		t.Errorf("a line joins the dots: %v", between)
	}
}

// TestSeedsAreNumberedEvenly checks the numbers above narrow columns.
func TestSeedsAreNumberedEvenly(t *testing.T) {
	var m *Matrix
	p := paper(t, func() fyne.CanvasObject {
		m = NewMatrix()
		m.Set(runs(3, 40))
		return m
	}, fyne.NewSize(700, 200), "light", 1)
	p.Capture()
	all := texts(m)
	var numbered []int
	for i := range 40 {
		if _, ok := all[fmt.Sprint(i+1)]; ok {
			numbered = append(numbered, i+1)
		}
	}
	if len(numbered) < 3 {
		t.Fatalf("only %v are numbered", numbered)
	}
	for i := 2; i < len(numbered); i++ {
		if numbered[i]-numbered[i-1] != numbered[1]-numbered[0] {
			t.Fatalf("%v are numbered", numbered)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		e    extent
		log  bool
		unit string
		want []string
	}{
		{extent{0, 1}, false, "", []string{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		{extent{-30, 20}, false, "%", []string{"-30%", "-20%", "-10%", "0%", "10%", "20%"}},
		{extent{0, 0.004}, false, "s", []string{"0 s", "0.001 s", "0.002 s", "0.003 s", "0.004 s"}},
		{extent{0, 30000}, false, "", []string{"0", "5,000", "10 k", "15 k", "20 k", "25 k", "30 k"}},
		{extent{2e6, 4e6}, false, "", []string{"2 M", "2.5 M", "3 M", "3.5 M", "4 M"}},
		{extent{1, 1e6}, true, "", []string{"1", "10", "100", "1,000", "10 k", "100 k", "1 M"}},
		{extent{0.5, 4}, true, "$", []string{"$0.5", "$1", "$2"}},
		{extent{4.9, 5.1}, false, "", []string{"4.90", "4.95", "5.00", "5.05", "5.10"}},
	} {
		a := newAxis(c.e, 0, c.log, c.unit)
		if a.choose(6); !slices.Equal(a.texts, c.want) {
			t.Errorf("%v has the ticks %q, want %q", c.e, a.texts, c.want)
		}
	}
}

// TestARunIsChosen checks clicks on cells, also after scrolling, and the arrow keys in both directions.
func TestARunIsChosen(t *testing.T) {
	var m *Matrix
	p := paper(t, func() fyne.CanvasObject {
		m = NewMatrix()
		m.Set(runs(100, 8))
		return m
	}, fyne.NewSize(500, 240), "light", 1)
	p.Capture()
	chosen := none
	m.OnChosen = func(place int) { chosen = place }
	name := texts(m)["4, small"]
	column := texts(m)["3"]
	m.Tapped(&fyne.PointEvent{Position: fyne.NewPos(column.X, name.Y)})
	if point, replicate := m.Run(chosen); point != 4 || replicate != 2 {
		t.Errorf("the chosen run is %d, %d", point, replicate)
	}
	if want := "params.eagerness=4, service.model.model=small\nseed 3: failed"; m.Said() != want {
		t.Errorf("the tip is %q, want %q", m.Said(), want)
	}
	m.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: -10 * m.pitch}})
	p.Capture()
	all := texts(m)
	if _, gone := all["4, small"]; gone {
		t.Error("a row above the view is named")
	}
	m.Tapped(&fyne.PointEvent{Position: fyne.NewPos(column.X, all["12, small"].Y)})
	if point, _ := m.Run(chosen); point != 12 {
		t.Errorf("after scrolling, the chosen point is %d", point)
	}
	for _, key := range []fyne.KeyName{fyne.KeyUp, fyne.KeyRight, fyne.KeyReturn} {
		m.TypedKey(&fyne.KeyEvent{Name: key})
	}
	if point, replicate := m.Run(chosen); point != 11 || replicate != 3 {
		t.Errorf("the run chosen with the keyboard is %d, %d", point, replicate)
	}
	m.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	if _, ok := texts(m)["99, small"]; !ok {
		t.Error("End does not bring the last run into view")
	}
	if point, replicate := m.Run(m.Selected()); point != 99 || replicate != 7 {
		t.Errorf("End selects %d, %d", point, replicate)
	}
}

// TestStatesDifferWithoutColor compares the shapes of all states.
func TestStatesDifferWithoutColor(t *testing.T) {
	uitest.Start(t)
	seen := map[string]findings.State{}
	for _, d := range dresses {
		var b strings.Builder
		for i := range 64 {
			x, y := float32(i%8)/3.5-1, float32(i/8)/3.5-1
			fmt.Fprint(&b, d.shape(x, y))
		}
		if other, ok := seen[b.String()]; ok {
			t.Errorf("%s and %s have the same shape", d.state, other)
		}
		if !strings.Contains(b.String(), "true") {
			t.Errorf("%s has an empty shape", d.state)
		}
		seen[b.String()] = d.state
	}
	for _, state := range []findings.State{findings.Waiting, findings.Running, findings.Interrupted, findings.Done, findings.Failed, findings.Skipped} {
		if !slices.ContainsFunc(dresses, func(d dress) bool { return d.state == state }) {
			t.Errorf("%s is not drawn", state)
		}
	}
}

// TestOnlyTheViewIsDrawn checks that drawing a large matrix reads only the runs in view, so that it takes no longer than a small one.
func TestOnlyTheViewIsDrawn(t *testing.T) {
	m := matrix(t, 1000)
	_, last := m.span(m.shift.Y, m.bottom-m.top, m.rows())
	if last < 10 || last > 100 {
		t.Fatalf("%d rows are in view", last)
	}
	for i := last; i < m.rows(); i++ {
		m.table.Runs[i] = nil // to read one of them panics
	}
	m.arrange(m.Size())
	m.draw(2200, 1400)
	if m.used > 200 {
		t.Errorf("%d texts are written", m.used)
	}
}

// matrix returns a large matrix with 40 seeds in a window.
func matrix(t testing.TB, points int) (m *Matrix) {
	t.Helper()
	paper(t, func() fyne.CanvasObject {
		m = NewMatrix()
		m.Set(runs(points, 40))
		return m
	}, fyne.NewSize(1100, 700), "dark", 1)
	return m
}

// BenchmarkMatrix draws 1,000 points with 40 seeds each at twice the resolution. It is to take less than 50 ms.
func BenchmarkMatrix(b *testing.B) {
	m := matrix(b, 1000)
	for b.Loop() {
		m.arrange(m.Size())
		m.draw(2200, 1400)
	}
}
