package chart

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
)

// rising returns ten minutes of two series. The first one is the second of the row, and the second one is constant.
func rising() Data {
	return minutes(2, func(s, second int) float64 {
		if s == 1 {
			return 300
		}
		return float64(second)
	})
}

func named(names ...string) (all []SeriesConfig) {
	for _, n := range names {
		all = append(all, SeriesConfig{Name: n})
	}
	return all
}

// hoverAt moves the pointer to a row of a chart with ten minutes.
func (c *Chart) hoverAt(second float32) {
	at := fyne.NewPos(second/600*c.drawn(), 30)
	c.pad.MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: at}})
}

func key(name fyne.KeyName) *fyne.KeyEvent { return &fyne.KeyEvent{Name: name} }

func TestPointingShowsTheValuesOfThatMoment(t *testing.T) {
	c := New(Config{Title: "Requests", Series: named("shop", "model")})
	show(t, c, 590, 330)
	c.Set(rising())
	if reads(c, "11:55:00") {
		t.Fatal("without a pointer a time is shown")
	}
	c.hoverAt(300)
	for _, want := range []string{"11:55:00", "300"} {
		if !reads(c, want) {
			t.Errorf("%q cannot be read in %q", want, texts(c))
		}
	}
	if got := c.legend.entries[0].value.text.Text; got != "300" {
		t.Errorf("the legend shows %s at the pointer", got)
	}
	x := c.cursor.line.Position().X
	if want := c.gutter + c.drawn()/2; math.Abs(float64(x-want)) > 2 {
		t.Errorf("the cross-hair is at %v, want %v", x, want)
	}
	if dot := c.cursor.dots[0]; !dot.Visible() || math.Abs(float64(dot.Position().Y+dotSize/2-c.at(300))) > 1 {
		t.Errorf("the dot is at %v, want %v", dot.Position(), c.at(300))
	}
	// The data moves on below a pointer that rests.
	d := rising()
	d.From, d.To = d.From.Add(-time.Minute), d.To.Add(-time.Minute)
	c.Set(d)
	if !reads(c, "11:54:00") {
		t.Errorf("after a minute it shows %q", texts(c))
	}
	c.pad.MouseOut()
	if reads(c, "11:54:00") || c.cursor.line.Visible() || c.cursor.dots[0].Visible() {
		t.Error("the crosshair stays after the pointer has left")
	}
}

func TestTheReadOutStaysInside(t *testing.T) {
	c := New(Config{Title: "Requests", Series: named("shop", "model")})
	show(t, c, 300, 150)
	d := rising()
	d.Markers = []Marker{{At: noon.Add(-5 * time.Minute), Text: strings.Repeat("a limit that has a long reason ", 5)}}
	c.Set(d)
	for _, second := range []float32{0, 10, 300, 590, 599} {
		c.hoverAt(second)
		back := c.cursor.box.back
		from, to := back.Position(), back.Position().Add(back.Size())
		if !back.Visible() || from.X < 0 || from.Y < 0 || to.X > 300 || to.Y > 150 {
			t.Errorf("at %v the readout is from %v to %v", second, from, to)
		}
		for _, l := range c.cursor.box.labels() {
			if p := l.text.Position(); l.text.Visible() && (p.X < from.X || p.X+l.size.Width > to.X || p.Y < from.Y || p.Y+l.size.Height > to.Y+1) {
				t.Errorf("at %v %q leaves it", second, l.text.Text)
			}
		}
	}
}

func TestValuesInAGapAreNotInvented(t *testing.T) {
	c := New(Config{Series: named("shop", "model")})
	show(t, c, 590, 330)
	d := rising()
	for i := 200; i < 400; i++ {
		d.Values[0][i] = nan
	}
	c.Set(d)
	c.hoverAt(300)
	if got := c.legend.entries[0].value.text.Text; got != "–" {
		t.Errorf("in a gap the legend shows %q", got)
	}
	if c.cursor.dots[0].Visible() || !c.cursor.dots[1].Visible() {
		t.Error("the dots do not match the existing values")
	}
	d.To = d.To.Add(10 * time.Minute)
	c.Set(d)
	c.hoverAt(500) // of the whole width: after the last row
	if got := c.legend.entries[1].value.text.Text; got != "–" || c.cursor.dots[1].Visible() || !c.cursor.line.Visible() {
		t.Errorf("before the first row the legend shows %q", got)
	}
}

func TestKeysMoveTheCrossHair(t *testing.T) {
	c := New(Config{Title: "Requests", Series: named("shop", "model")})
	w := show(t, c, 590, 330)
	d := rising()
	d.Markers = []Marker{
		{At: noon.Add(-8 * time.Minute), Text: "paused"}, {At: noon.Add(-2 * time.Minute), Text: "limit 50 to 100"},
	}
	c.Set(d)
	w.Canvas().Focus(c)
	if !reads(c, "11:59:59") || !c.frame.Visible() {
		t.Fatalf("with the keyboard focus it shows %q", texts(c))
	}
	for _, step := range []struct {
		key  fyne.KeyName
		want string
	}{
		{fyne.KeyUp, "11:58:00"},
		{fyne.KeyUp, "11:52:00"},
		{fyne.KeyUp, "11:52:00"},
		{fyne.KeyDown, "11:58:00"},
		{fyne.KeyHome, "11:50:00"},
		{fyne.KeyPageDown, "11:51:00"},
		{fyne.KeyPageUp, "11:50:00"},
		{fyne.KeyEnd, "11:59:59"},
	} {
		c.TypedKey(key(step.key))
		if !reads(c, step.want) {
			t.Errorf("after %s it does not show %s: %q", step.key, step.want, texts(c))
		}
	}
	c.TypedKey(key(fyne.KeyUp))
	if !reads(c, "limit 50 to 100") {
		t.Errorf("at a marker it shows %q", texts(c))
	}
	before := c.cursor.at
	c.TypedKey(key(fyne.KeyLeft))
	if moved := before - c.cursor.at; moved < 1 || moved > 10 {
		t.Errorf("an arrow moves it by %v s", moved)
	}
	c.TypedKey(key(fyne.KeyRight))
	if math.Abs(c.cursor.at-before) > 2 {
		t.Errorf("and back it is at %v, not %v", c.cursor.at, before)
	}
	c.TypedKey(key(fyne.KeyEscape))
	if c.cursor.line.Visible() {
		t.Error("Escape leaves the cross-hair")
	}
	w.Canvas().Unfocus()
	if c.frame.Visible() {
		t.Error("without the keyboard it has a frame")
	}
}

func TestTheLegendSwitchesSeries(t *testing.T) {
	c := New(Config{Title: "Requests", Series: named("shop", "model")})
	w := show(t, c, 590, 330)
	c.Set(minutes(2, level(1000, 3)))
	if !reads(c, "1 k") {
		t.Fatalf("the axis shows %q", texts(c))
	}
	before := w.pixels()
	e := &c.legend.entries[0]
	test.TapAt(c, e.name.text.Position().AddXY(3, 5))
	if !c.hidden(0) || e.value.text.Text != "off" || reads(c, "1 k") {
		t.Errorf("a tap on the legend does not hide the series: %q", texts(c))
	}
	c.hoverAt(300)
	if len(c.cursor.box.lines) != 2 || c.cursor.box.used != 1 || c.cursor.dots[0].Visible() {
		t.Error("the readout shows a hidden series")
	}
	c.pad.MouseOut()
	c.TypedRune('1')
	if c.hidden(0) || !reads(c, "1 k") {
		t.Error("its number does not show it again")
	}
	w.Canvas().Unfocus()
	if !slices.Equal(before, w.pixels()) {
		t.Error("it differs from the original")
	}
	c.TypedRune('3') // there is none
	test.TapAt(c, c.title.text.Position().AddXY(3, 5))
	if c.hidden(0) || c.hidden(1) {
		t.Error("a tap on the title hides a series")
	}
}

// pair is two charts of a group, side by side.
func pair(t *testing.T) (a, b *Chart, g *Group, drawn *int) {
	t.Helper()
	a, b = New(Config{Title: "A", Series: named("a")}), New(Config{Title: "B", Series: named("b")})
	drawn = new(int)
	set := func() {
		d := minutes(1, func(_, second int) float64 { return float64(second) })
		d.From, d.To = g.Span(d.From, d.To)
		a.Set(d)
		b.Set(d)
	}
	g = NewGroup(func() {
		*drawn++
		set()
	})
	g.Add(a)
	g.Add(b)
	put(t, container.NewGridWithColumns(2, a, b), 1000, 300)
	set()
	return a, b, g, drawn
}

func TestChartsOfAGroupShareTheMoment(t *testing.T) {
	a, b, _, _ := pair(t)
	a.hoverAt(300)
	if got := b.legend.entries[0].value.text.Text; got != "300" || !b.cursor.line.Visible() {
		t.Errorf("the other chart shows %q", got)
	}
	if !b.cursor.box.back.Hidden || a.cursor.box.back.Hidden {
		t.Error("the readout is not in the chart under the pointer")
	}
	a.pad.MouseOut()
	if b.legend.entries[0].value.text.Visible() || b.cursor.line.Visible() {
		t.Errorf("without a pointer the other chart shows %q", texts(b))
	}
	b.Hide()
	a.hoverAt(300)
	if b.cursor.line.Visible() {
		t.Error("a hidden chart is drawn")
	}
}

// drag selects a range of seconds within ten minutes.
func (c *Chart) drag(from, to float32) {
	x := func(second float32) float32 { return second / 600 * c.drawn() }
	for _, at := range []float32{x(from) + (x(to)-x(from))/2, x(to)} {
		e := &fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(at, 50)}, Dragged: fyne.Delta{DX: (x(to) - x(from)) / 2}}
		c.pad.Dragged(e)
	}
}

func TestDraggingZoomsTheGroup(t *testing.T) {
	a, b, g, drawn := pair(t)
	a.drag(120, 240)
	if !a.selection.Visible() || *drawn != 0 {
		t.Fatal("while it is dragged the selection is not shown")
	}
	a.pad.DragEnd()
	from, to := g.Span(time.Time{}, time.Time{})
	if d := from.Sub(noon.Add(-8 * time.Minute)).Abs(); d > 3*time.Second {
		t.Errorf("it zoomed from %v", from)
	}
	if d := to.Sub(noon.Add(-6 * time.Minute)).Abs(); d > 3*time.Second || *drawn != 1 || a.selection.Visible() {
		t.Errorf("it zoomed to %v, drawn %d times", to, *drawn)
	}
	if math.Abs(b.clock.to-b.clock.from-120) > 3 || b.axis.top > 400 {
		t.Errorf("the other chart shows %v s, up to %v", b.clock.to-b.clock.from, b.axis.top)
	}
	b.drag(240, 300) // of the 120 s in view
	b.pad.DragEnd()
	if got := a.clock.to - a.clock.from; math.Abs(got-12) > 2 {
		t.Errorf("zoomed again it shows %v s", got)
	}
	a.pad.DoubleTapped(nil)
	if got := b.clock.to - b.clock.from; math.Abs(got-120) > 3 {
		t.Errorf("a double tap goes back to %v s", got)
	}
	b.TypedKey(key(fyne.KeyEscape))
	if g.Zoomed() || a.clock.to-a.clock.from != 600 {
		t.Errorf("Escape goes back to %v s", a.clock.to-a.clock.from)
	}
	a.pad.DoubleTapped(nil) // nothing is left to go back from
	a.drag(120, 121)
	a.pad.DragEnd()
	if g.Zoomed() {
		t.Error("a tiny drag zooms")
	}
}

func TestKeysZoom(t *testing.T) {
	a, _, g, _ := pair(t)
	a.TypedKey(key(fyne.KeyHome))
	a.jump(Seconds(noon.Add(-5 * time.Minute)))
	a.TypedRune('+')
	if got := a.clock.to - a.clock.from; math.Abs(got-300) > 3 || math.Abs(a.clock.from+150-Seconds(noon.Add(-5*time.Minute))) > 3 {
		t.Errorf("plus shows %v s", got)
	}
	for range 20 {
		a.TypedRune('+')
	}
	if got := a.clock.to - a.clock.from; got < 0.4 || got > 5 {
		t.Errorf("at the end it shows %v s", got)
	}
	for range 30 {
		a.TypedRune('-')
	}
	if g.Zoomed() || a.clock.to-a.clock.from != 600 {
		t.Error("minus does not go back")
	}
	alone := New(Config{Series: named("a")}) // a chart without a group, and without data
	alone.TypedRune('+')
	alone.TypedKey(key(fyne.KeyLeft))
	alone.TypedKey(key(fyne.KeyEscape))
	alone.lookAt(10)
}
