package chart

import (
	"math"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
)

// roll turns the wheel over the middle of a chart.
func (c *Chart) roll(dx, dy float32) {
	c.pad.Scrolled(&fyne.ScrollEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(c.drawn()/2, 30)}, Scrolled: fyne.NewDelta(dx, dy)})
}

// grouped returns a shown chart of ten minutes in a group.
func grouped(t *testing.T) (*Chart, *Group) {
	t.Helper()
	c := New(Config{Title: "Requests", Series: named("shop", "model")})
	var g *Group
	g = NewGroup(func() {
		d := rising()
		d.From, d.To = g.Span(d.From, d.To)
		c.Set(d)
	})
	g.Add(c)
	show(t, c, 590, 330)
	c.Set(rising())
	return c, g
}

// TestWheelZooms checks that the wheel zooms around the pointer and back to the whole, that a gesture is one zoom, and that a sideways
// gesture moves the zoomed part inside the data.
func TestWheelZooms(t *testing.T) {
	c, g := grouped(t)
	if c.roll(0, -20); g.Zoomed() {
		t.Error("the wheel zooms out of the whole")
	}
	if c.roll(30, 0); g.Zoomed() {
		t.Error("the whole moves sideways")
	}
	middle := (c.clock.from + c.clock.to) / 2
	whole := c.clock.to - c.clock.from
	for range 3 {
		c.roll(0, 20)
	}
	if length := c.clock.to - c.clock.from; len(g.spans) != 1 || length > 0.6*whole || length < 0.3*whole || math.Abs((c.clock.from+c.clock.to)/2-middle) > 1 {
		t.Fatalf("%d zooms, %v s of %v around %v", len(g.spans), length, whole, (c.clock.from+c.clock.to)/2-middle)
	}
	from := c.clock.from
	if c.roll(-50, 0); !(c.clock.from > from) {
		t.Error("a sideways gesture does not move the zoomed part")
	}
	if c.roll(-10_000, 0); c.clock.to > middle+whole/2+1 {
		t.Error("a sideways gesture leaves the data")
	}
	for range 10 {
		c.roll(0, -20)
	}
	if g.Zoomed() {
		t.Error("the wheel does not return to the whole")
	}
}

// TestWheelScrollsThePage checks that a page that has more than it shows scrolls under the charts.
func TestWheelScrollsThePage(t *testing.T) {
	c, g := grouped(t)
	tall := canvas.NewRectangle(nil)
	tall.SetMinSize(fyne.NewSize(100, 2000))
	page := container.NewVScroll(tall)
	page.Resize(fyne.NewSize(100, 100))
	g.Within(page)
	if c.roll(0, -40); g.Zoomed() || page.Offset.Y <= 0 {
		t.Errorf("zoomed: %t, the page is at %v", g.Zoomed(), page.Offset.Y)
	}
	page.Resize(fyne.NewSize(100, 3000))
	if c.roll(0, 40); !g.Zoomed() {
		t.Error("the wheel does not zoom over a page that shows all")
	}
}

// TestLogarithmicAxis checks the ticks and places of values on a logarithmic axis, and that values up to 0 stay at its bottom.
func TestLogarithmicAxis(t *testing.T) {
	c := New(Config{Title: "Latency", Unit: Duration, Series: named("p50", "p99")})
	show(t, c, 590, 330)
	c.Set(minutes(2, func(s, second int) float64 {
		switch {
		case s == 1:
			return 20
		case second == 0:
			return 0
		}
		return 0.003
	}))
	c.TypedRune('l')
	for _, want := range []string{"1 ms", "100 ms", "10 s"} {
		if !reads(c, want) {
			t.Errorf("%q cannot be read in %q", want, texts(c))
		}
	}
	if !c.Log() || c.axis.bottom != 0.001 || math.Abs(c.axis.top-100) > 1e-9 {
		t.Errorf("the axis is from %v to %v", c.axis.bottom, c.axis.top)
	}
	if low, mid, high := c.at(0.001), c.at(0.1), c.at(10); math.Abs(float64((low-mid)-(mid-high))) > 0.5 || c.at(0) != low {
		t.Errorf("equal factors are %v and %v apart; 0 is at %v of %v", low-mid, mid-high, c.at(0), low)
	}
	if c.TypedRune('l'); c.Log() || c.axis.bottom != 0 {
		t.Error("the axis stays logarithmic")
	}
}

// TestSmallSharesFillTheAxis checks that the axis of a percentage does not end at 100 for small values.
func TestSmallSharesFillTheAxis(t *testing.T) {
	c := New(Config{Title: "CPU", Unit: Percent, Series: named("machine")})
	show(t, c, 590, 330)
	c.Set(minutes(1, func(int, int) float64 { return 2 }))
	if c.axis.top > 5 {
		t.Errorf("the axis ends at %v", c.axis.top)
	}
}

// TestMaximize opens a chart over the window, which follows the data and the axis, and closes it with Escape.
func TestMaximize(t *testing.T) {
	c, g := grouped(t)
	c.SetLog(true)
	c.Maximize()
	big := c.big
	if big == nil || !big.Log() || !strings.Contains(entries(big.menuItems()), "Restore") {
		t.Fatal("the chart is not maximized")
	}
	d := rising()
	d.Values[1][len(d.Values[1])-1] = 77
	if c.Set(d); big.legend.entries[1].value.text.Text != "77" {
		t.Errorf("the maximized chart shows %q", texts(big))
	}
	big.TypedRune('+')
	if !g.Zoomed() || big.clock != c.clock {
		t.Error("both charts are not zoomed")
	}
	big.TypedKey(key(fyne.KeyEscape))
	if g.Zoomed() || c.big == nil {
		t.Error("Escape does not undo the zoom first")
	}
	big.TypedKey(key(fyne.KeyEscape))
	if c.big != nil {
		t.Error("Escape does not close the maximized chart")
	}
	c.Maximize()
	if c.big == nil || c.big == big {
		t.Error("it cannot be maximized again")
	}
}
