package chart

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// variantTheme is Fyne's theme in one variant. It does not define the colors of charts.
type variantTheme struct {
	fyne.Theme
	variant fyne.ThemeVariant
}

func (v variantTheme) Color(name fyne.ThemeColorName, _ fyne.ThemeVariant) color.Color {
	if c, ok := Palette(name, v.variant); ok {
		return c
	}
	if c, ok := widgets.Palette(name, v.variant); ok {
		return c
	}
	return v.Theme.Color(name, v.variant)
}

// window shows a chart at its own size, with a theme that can be changed.
type window struct {
	fyne.Window
	themed *container.ThemeOverride
}

func show(t testing.TB, c *Chart, width, height float32) window {
	t.Helper()
	return put(t, c, width, height)
}

func (w window) setVariant(v fyne.ThemeVariant) {
	w.themed.Theme = variantTheme{theme.DefaultTheme(), v}
	fyne.CurrentApp().Settings().SetTheme(w.themed.Theme) // that of the window's background and of pictures
	w.themed.Refresh()
}

func (w window) pixels() []uint8 {
	return bytes.Clone(w.Canvas().Capture().(*image.NRGBA).Pix)
}

// minutes returns ten minutes of rows up to noon. It calls value for each second.
func minutes(series int, value func(series, second int) float64) Data {
	d := Data{From: noon.Add(-10 * time.Minute), To: noon, Values: make([][]float64, series)}
	for i := range 600 {
		d.Times = append(d.Times, Seconds(d.From)+float64(i))
		for s := range d.Values {
			d.Values[s] = append(d.Values[s], value(s, i))
		}
	}
	return d
}

func level(values ...float64) func(int, int) float64 {
	return func(s, _ int) float64 { return values[s] }
}

// texts returns the visible texts in the order of the objects.
func texts(c *Chart) []string {
	var all []string
	for _, o := range test.WidgetRenderer(c).Objects() {
		if text, ok := o.(*canvas.Text); ok && o.Visible() && text.Text != "" {
			all = append(all, text.Text)
		}
	}
	return all
}

func reads(c *Chart, want string) bool { return slices.Contains(texts(c), want) }

func TestChartShowsFiguresAxesAndLimit(t *testing.T) {
	c := New(Config{Title: "Connections", Series: []SeriesConfig{{Name: "server"}, {Name: "Throng"}}})
	show(t, c, 590, 330)
	d := minutes(2, level(34, 11))
	d.Limit, d.LimitName = 60, "max"
	c.Set(d)
	if reads(c, "34") {
		t.Errorf("without a cursor the legend shows a value: %q", texts(c))
	}
	c.Point(noon)
	for _, want := range []string{"Connections", "server", "34", "Throng", "11", "0", "20", "40", "60", "max 60", "11:52", "11:58"} {
		if !reads(c, want) {
			t.Errorf("%q cannot be read in %q", want, texts(c))
		}
	}
	if reads(c, "no data yet") {
		t.Error("it reports that there is no data")
	}
}

func TestLimitFarAboveIsMentionedOnly(t *testing.T) {
	c := New(Config{Title: "Connections", Series: seriesNamed(1)})
	show(t, c, 590, 330)
	d := minutes(1, level(9))
	d.Limit, d.LimitName = 100, "max"
	c.Set(d)
	if !reads(c, "max 100") || c.legend.limit.text.Hidden {
		t.Errorf("the legend does not mention the limit: %q", texts(c))
	}
	if !math.IsNaN(c.plot.limit) || reads(c, "100") {
		t.Error("the limit is in view")
	}
	d.Limit = 0
	c.Set(d)
	if reads(c, "max 100") {
		t.Error("a removed limit is still mentioned")
	}
}

func TestEmptyChartSaysSoUntilThereIsData(t *testing.T) {
	c := New(Config{Title: "CPU", Unit: Percent, Series: seriesNamed(1)})
	show(t, c, 590, 330)
	if !reads(c, "no data yet") || !reads(c, "75%") {
		t.Errorf("a new chart shows %q", texts(c))
	}
	c.Set(Data{From: noon.Add(-time.Minute), To: noon})
	if !reads(c, "no data yet") || !reads(c, "11:59:30") {
		t.Errorf("an empty chart shows %q", texts(c))
	}
	c.Set(minutes(1, level(50)))
	if reads(c, "no data yet") || !reads(c, "50%") {
		t.Errorf("a chart with data shows %q", texts(c))
	}
	// Nothing in view is not the same as nothing yet.
	c.Set(minutes(1, level(nan)))
	if reads(c, "no data yet") {
		t.Error("it forgot that there was data")
	}
}

func TestSetKeepsACopy(t *testing.T) {
	c := New(Config{Unit: Percent, Series: seriesNamed(1)})
	w := show(t, c, 400, 200)
	d := minutes(1, level(50))
	c.Set(d)
	before := w.pixels()
	for i := range d.Times {
		d.Times[i], d.Values[0][i] = 0, 0
	}
	c.raster.Refresh()
	if !bytes.Equal(before, w.pixels()) {
		t.Error("the drawing changed with the caller's slices")
	}
}

func TestSetTakesTheRowsInView(t *testing.T) {
	c := New(Config{Series: seriesNamed(1)})
	show(t, c, 400, 200)
	d := minutes(1, func(_, second int) float64 { return float64(second) })
	d.From, d.To = d.From.Add(100*time.Second), d.From.Add(200500*time.Millisecond)
	c.Set(d)
	// One more on each side.
	if v := c.plot.values[0]; len(v) != 103 || v[0] != 99 || v[102] != 201 {
		t.Errorf("%d rows from %v to %v", len(v), v[0], v[len(v)-1])
	}
	if !reads(c, "200") {
		t.Errorf("the newest value in view cannot be read in %q", texts(c))
	}
	d.From, d.To = time.Time{}, time.Time{}
	c.Set(d)
	if len(c.plot.values[0]) != 600 {
		t.Errorf("%d rows without ends, want all", len(c.plot.values[0]))
	}
	d.Values[0] = d.Values[0][:7]
	c.Set(d)
	if len(c.plot.times) != 7 {
		t.Errorf("%d rows where a series has 7", len(c.plot.times))
	}
}

func TestNothingIsAllocatedWhileNoTextChanges(t *testing.T) {
	c := New(Config{Title: "Latency", Unit: Duration, Series: seriesNamed(3), Fill: true})
	show(t, c, 640, 370)
	d := minutes(3, func(s, second int) float64 {
		return 0.1*float64(s+1) + 0.0001*math.Sin(float64(second))
	})
	d.Limit, d.LimitName = 0.5, "limit"
	d.Markers = []Marker{{At: noon.Add(-time.Minute), Text: "50 to 100"}}
	c.Set(d)
	c.draw(590, 330)
	newest := c.plot.values[0][599]
	// The window moves, and the value changes by less than the displayed precision.
	got := testing.AllocsPerRun(100, func() {
		d.From, d.To = d.From.Add(100*time.Millisecond), d.To.Add(100*time.Millisecond)
		d.Values[0][599] += 0.00001
		c.Set(d)
		c.draw(590, 330)
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
	if c.plot.values[0][len(c.plot.values[0])-1] == newest {
		t.Error("the newest value was not taken")
	}
}

func TestTimeLabelsKeepTheirTextWhileTheyMove(t *testing.T) {
	c := New(Config{Series: seriesNamed(1)})
	show(t, c, 590, 330)
	d := minutes(1, level(1))
	c.Set(d)
	at := func(text string) *label {
		for _, l := range c.moments {
			if l.text.Text == text && l.text.Visible() {
				return l
			}
		}
		t.Fatalf("no %s in %q", text, texts(c))
		return nil
	}
	label := at("11:56")
	x := label.text.Position().X
	d.From, d.To = d.From.Add(30*time.Second), d.To.Add(30*time.Second)
	c.Set(d)
	if at("11:56") != label {
		t.Error("another label has the text")
	}
	if moved := x - label.text.Position().X; math.Abs(float64(moved-c.drawn()/20)) > 1 {
		t.Errorf("it moved by %v, want a twentieth of %v", moved, c.drawn())
	}
}

func TestNothingMovesAsFiguresGetShorter(t *testing.T) {
	c := New(Config{Title: "Latency", Unit: Duration, Series: seriesNamed(2)})
	show(t, c, 590, 330)
	c.Point(noon)
	c.Set(minutes(2, level(0.111, 0.555)))
	value := c.legend.entries[0].value
	before, width := c.legend.entries[0].name.text.Position(), value.size.Width
	c.Set(minutes(2, level(0.001, 0.555)))
	if value.text.Text != "1 ms" || value.size.Width >= width {
		t.Fatalf("the value is %q, %v wide", value.text.Text, value.size.Width)
	}
	if after := c.legend.entries[0].name.text.Position(); after != before {
		t.Errorf("the name moved from %v to %v", before, after)
	}
}

func TestColorsFollowTheTheme(t *testing.T) {
	c := New(Config{Title: "CPU", Unit: Percent, Series: seriesNamed(2)})
	w := show(t, c, 400, 200)
	d := minutes(2, func(s, second int) float64 { return float64(40*s + second/20) })
	d.Markers = []Marker{{At: noon.Add(-time.Minute)}}
	c.Set(d)
	light := w.pixels()
	has := func(name fyne.ThemeColorName, v fyne.ThemeVariant) bool {
		want, _ := Palette(name, v)
		r, g, b, _ := want.RGBA()
		img := c.plot.img
		for i := 0; i < len(img.Pix); i += 4 {
			if img.Pix[i] == uint8(r>>8) && img.Pix[i+1] == uint8(g>>8) && img.Pix[i+2] == uint8(b>>8) && img.Pix[i+3] == 255 {
				return true
			}
		}
		return false
	}
	for _, name := range []fyne.ThemeColorName{ColorSeries1, ColorSeries2} {
		if !has(name, theme.VariantLight) || has(name, theme.VariantDark) {
			t.Errorf("%s is not as on a light background", name)
		}
	}
	w.setVariant(theme.VariantDark)
	if bytes.Equal(light, w.pixels()) {
		t.Error("nothing changed with the theme")
	}
	for _, name := range []fyne.ThemeColorName{ColorSeries1, ColorSeries2} {
		if has(name, theme.VariantLight) || !has(name, theme.VariantDark) {
			t.Errorf("%s is not as on a dark background", name)
		}
	}
	w.setVariant(theme.VariantLight)
	if !bytes.Equal(light, w.pixels()) {
		t.Error("it differs from the original")
	}
}

func TestEverythingFits(t *testing.T) {
	d := minutes(4, level(0.0123, 0.456, 0.999, 1.4))
	d.Limit, d.LimitName = 1.5, "timeout"
	for _, size := range []fyne.Size{{Width: 220, Height: 120}, {Width: 300, Height: 160}, {Width: 590, Height: 330}, {Width: 1800, Height: 400}} {
		c := New(Config{Title: "Latency", Note: "of sessions", Unit: Duration, Series: seriesNamed(4)})
		w := show(t, c, size.Width, size.Height)
		c.Set(d)
		if c.Size() != size {
			t.Fatalf("the chart is %v in a window of %v", c.Size(), size)
		}
		head := c.head
		if c.Point(noon); c.head != head {
			t.Errorf("%v: the drawing gets another height when the pointer comes", size)
		}
		var shown []*canvas.Text
		for _, o := range test.WidgetRenderer(c).Objects() {
			text, ok := o.(*canvas.Text)
			if !ok || !text.Visible() || text.Text == "" {
				continue
			}
			shown = append(shown, text)
			from, to := text.Position(), text.Position().Add(text.Size())
			if from.X < 0 || from.Y < -1 || to.X > size.Width+1 || to.Y > size.Height+4 {
				t.Errorf("%v: %q is from %v to %v", size, text.Text, from, to)
			}
		}
		for i, a := range shown {
			for _, b := range shown[:i] {
				if overlap(a, b) {
					t.Errorf("%v: %q covers %q", size, a.Text, b.Text)
				}
			}
		}
		w.Canvas().Capture()
	}
}

// overlap reports whether two texts overlap, ignoring the empty rows above and below their letters.
func overlap(a, b *canvas.Text) bool {
	const spare = 4
	return a.Position().X < b.Position().X+b.Size().Width && b.Position().X < a.Position().X+a.Size().Width &&
		a.Position().Y+spare < b.Position().Y+b.Size().Height && b.Position().Y+spare < a.Position().Y+a.Size().Height
}

func TestDrawingHasDevicePixels(t *testing.T) {
	c := New(Config{Unit: Percent, Series: seriesNamed(1)})
	w := show(t, c, 400, 200)
	c.Set(minutes(1, level(50)))
	for _, scale := range []float32{1, 1.5, 2} {
		w.Canvas().(interface{ SetScale(float32) }).SetScale(scale)
		w.Resize(fyne.NewSize(400, 200))
		w.Canvas().Capture()
		size := c.raster.Size()
		got, want := c.plot.img.Rect.Size(), image.Pt(int(math.Ceil(float64(size.Width*scale))), int(math.Ceil(float64(size.Height*scale))))
		if got != want {
			t.Errorf("at %v: %v, want %v", scale, got, want)
		}
		// The label of a value is level with its line.
		y := (c.at(50) - c.head) * scale
		if line := c.plot.y(50); math.Abs(float64(y-line)) > 1 {
			t.Errorf("at %v: 50%% is drawn at %v and labeled at %v", scale, line, y)
		}
	}
}

// TestLayoutOfTheSameSize checks that a chart is not laid out again at the same size. The toolkit requests this
// whenever a text becomes wider.
func TestLayoutOfTheSameSize(t *testing.T) {
	c := New(Config{Title: "CPU", Unit: Percent, Series: seriesNamed(2)})
	show(t, c, 400, 200)
	c.Set(noise(2, 60))
	r := test.WidgetRenderer(c)
	elsewhere := fyne.NewPos(7, 7)
	c.title.text.Move(elsewhere)
	if r.Layout(c.Size()); c.title.text.Position() != elsewhere {
		t.Error("a chart of the same size was laid out again")
	}
	if r.Layout(c.Size().AddWidthHeight(50, 0)); c.title.text.Position() == elsewhere {
		t.Error("a chart of another size was not laid out")
	}
}
