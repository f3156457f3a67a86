package crowd

import (
	"flag"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

var update = flag.Bool("update", false, "rewrite the golden pictures")

// sample is a crowd in the middle of a cycle: first agents that have ended, then some in flight, then waiting ones.
func sample(n int) []engine.AgentState {
	random := rand.New(rand.NewPCG(1, 2))
	states := make([]engine.AgentState, n)
	ended := n * 6 / 10
	for i := range states {
		p := random.Float64()
		switch {
		case i%97 == 3:
			states[i] = engine.AgentResting
		case i%151 == 5:
			states[i] = engine.AgentRetired
		case i >= ended+48:
			states[i] = engine.AgentWaiting
		case i >= ended && p < 0.3:
			states[i] = engine.AgentThrottled
		case i >= ended:
			states[i] = engine.AgentInFlight
		case p < 0.03:
			states[i] = engine.AgentFailed
		case p < 0.05:
			states[i] = engine.AgentTimedOut
		case p < 0.06:
			states[i] = engine.AgentCanceled
		case p < 0.25:
			states[i] = engine.AgentStopped
		default:
			states[i] = engine.AgentOK
		}
	}
	return states
}

// put shows a crowd in a window.
func put(t testing.TB, states []engine.AgentState) *Grid {
	g := New()
	win := test.NewTempWindow(t, nil)
	win.SetPadded(false)
	win.SetContent(g)
	win.Resize(fyne.NewSize(820, 320))
	g.Set(states)
	return g
}

func show(t *testing.T, states []engine.AgentState) *Grid {
	uitest.Start(t)
	return put(t, states)
}

func (g *Grid) says() string { return strings.Join(uitest.Texts(g), " | ") }

func (g *Grid) press(keys ...fyne.KeyName) {
	for _, key := range keys {
		g.TypedKey(&fyne.KeyEvent{Name: key})
	}
}

func (g *Grid) point(cell int) fyne.Position {
	x, y := g.field.at(cell)
	return fyne.NewPos(x+1, y+1)
}

func TestGolden(t *testing.T) {
	for name, variant := range map[string]fyne.ThemeVariant{"light": theme.VariantLight, "dark": theme.VariantDark} {
		uitest.Start(t)
		fyne.CurrentApp().Settings().SetTheme(oneVariant{theme.DefaultTheme(), variant})
		g := put(t, sample(372))
		uitest.Golden(t, "372-"+name+".png", g.draw(820, 320), *update)
		g.Light(Of(engine.AgentFailed, engine.AgentThrottled))
		uitest.Golden(t, "372-lit-"+name+".png", g.draw(1230, 480), *update)
		g = put(t, sample(1_000_000))
		uitest.Golden(t, "million-"+name+".png", g.draw(820, 320), *update)
		g.Zoom(6)
		uitest.Golden(t, "million-zoomed-"+name+".png", g.draw(820, 320), *update)
	}
}

// oneVariant is a theme with one variant.
type oneVariant struct {
	fyne.Theme
	variant fyne.ThemeVariant
}

func (o oneVariant) Color(name fyne.ThemeColorName, _ fyne.ThemeVariant) color.Color {
	for _, palette := range []func(fyne.ThemeColorName, fyne.ThemeVariant) (color.Color, bool){Palette, widgets.Palette} {
		if c, ok := palette(name, o.variant); ok {
			return c
		}
	}
	return o.Theme.Color(name, o.variant)
}

func TestNothingIsDrawnUnlessAStateIsAnother(t *testing.T) {
	g := show(t, sample(372))
	if g.Set(sample(372)) {
		t.Error("the same states count as others")
	}
	other := sample(372)
	other[200] = engine.AgentRetired
	if !g.Set(other) {
		t.Error("another state makes no difference")
	}
	if g.draw(820, 320); g.stale {
		t.Error("the drawing counts as outdated")
	}
}

func TestAMillionAgentsAreFound(t *testing.T) {
	states := sample(1_000_000)
	g := show(t, states)
	var tapped []int
	g.OnTapped = func(agent int) { tapped = append(tapped, agent) }
	if g.Each() != 500 {
		t.Fatalf("a cell has %d agents", g.Each())
	}
	g.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: g.point(1234)}})
	for _, want := range []string{"500 agents, 617000 to 617499", "waiting"} {
		if !strings.Contains(g.says(), want) {
			t.Errorf("got %q, want %q", g.says(), want)
		}
	}
	for range 20 {
		if len(tapped) > 0 {
			break
		}
		place := g.field.place(617_000) / g.Each()
		g.show(place)
		g.Tapped(&fyne.PointEvent{Position: g.point(place)})
	}
	if len(tapped) != 1 || tapped[0] != 617_000 {
		t.Errorf("taps zoomed in to %v", tapped)
	}
	if g.Selected() != 617_000 || !g.rings.selected.Visible() {
		t.Error("the agent is not marked")
	}
}

func TestTheKeyboardReachesEveryAgent(t *testing.T) {
	g := show(t, sample(372))
	g.Name = func(agent int) string { return fmt.Sprintf("shopper-%d", agent) }
	opened, escaped := -1, false
	g.OnTapped = func(agent int) { opened = agent }
	g.OnEscape = func() { escaped = true }
	g.FocusGained()
	if !g.rings.cursor.Visible() || !strings.Contains(g.says(), "shopper-0") {
		t.Fatalf("the focus is not visible: %s", g.says())
	}
	columns := g.field.columns()
	g.press(fyne.KeyRight, fyne.KeyRight, fyne.KeyDown, fyne.KeyLeft)
	if want := columns + 1; g.cursor != want {
		t.Errorf("the cursor is at %d, want %d", g.cursor, want)
	}
	g.press(fyne.KeyReturn)
	if opened != columns+1 {
		t.Errorf("Return opened %d", opened)
	}
	g.press(fyne.KeyEnd, fyne.KeyDown, fyne.KeyRight)
	if g.cursor != 371 {
		t.Errorf("the last is %d", g.cursor)
	}
	g.press(fyne.KeyHome, fyne.KeyUp, fyne.KeyLeft, fyne.KeyPageUp)
	if g.cursor != 0 {
		t.Errorf("the first is %d", g.cursor)
	}
	if g.press(fyne.KeyEscape); !escaped {
		t.Error("Escape has no effect")
	}
	if g.FocusLost(); g.rings.cursor.Visible() {
		t.Error("the cursor stays without the keyboard")
	}
}

// TestArrowsGoFromOneLitAgentToTheNext checks that the arrow keys move the cursor between highlighted agents.
func TestArrowsGoFromOneLitAgentToTheNext(t *testing.T) {
	states := make([]engine.AgentState, 372)
	states[40], states[300] = engine.AgentFailed, engine.AgentFailed
	g := show(t, states)
	g.Light(Of(engine.AgentFailed))
	g.FocusGained()
	var at []int
	for _, key := range []fyne.KeyName{fyne.KeyRight, fyne.KeyRight, fyne.KeyRight, fyne.KeyLeft} {
		g.press(key)
		at = append(at, g.cursor)
	}
	if want := []int{40, 300, 300, 40}; fmt.Sprint(at) != fmt.Sprint(want) {
		t.Errorf("the cursor was at %v, want %v", at, want)
	}
}

func TestZoomAndPan(t *testing.T) {
	g := show(t, sample(1_000_000))
	g.FocusGained()
	scaled := 0
	g.OnZoom = func() { scaled++ }
	g.TypedRune('+')
	if g.Each() != 200 || scaled != 1 || !g.field.scrolls() {
		t.Errorf("plus zooms to %d agents a cell", g.Each())
	}
	before := g.field.offset
	g.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(300, 100)}, Dragged: fyne.NewDelta(0, -50)})
	g.DragEnd()
	if g.field.offset != before+50 {
		t.Errorf("dragging scrolled from %v to %v", before, g.field.offset)
	}
	g.Tapped(&fyne.PointEvent{Position: fyne.NewPos(815, 319)}) // the strip
	if end := g.field.height() - g.field.h; g.field.offset != end {
		t.Errorf("the foot of the strip scrolled to %v, want %v", g.field.offset, end)
	}
	g.TypedRune('0')
	if g.Each() != 500 || g.field.offset != 0 {
		t.Error("nought does not show all")
	}
	scroll := func(by float32) {
		g.Scrolled(&fyne.ScrollEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(300, 100)}, Scrolled: fyne.NewDelta(0, by)})
	}
	if scroll(25); g.Each() != 200 {
		t.Errorf("the wheel zoomed to %d agents a cell", g.Each())
	}
	if scroll(-25); g.Each() != 500 {
		t.Errorf("the wheel zoomed back to %d agents a cell", g.Each())
	}
}

// TestAWheelWithNothingToZoomIsForThePage checks that the wheel scrolls the page if there is nothing to zoom.
func TestAWheelWithNothingToZoomIsForThePage(t *testing.T) {
	g := show(t, sample(100))
	p := &page{}
	g.Page = p
	g.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -10)})
	if p.turned != -10 {
		t.Errorf("the page was turned by %v", p.turned)
	}
}

type page struct {
	fyne.Scrollable
	turned float32
}

func (p *page) Scrolled(e *fyne.ScrollEvent) { p.turned += e.Scrolled.DY }

// TestAFewInTroubleAreSeenAmongMany checks that one failed agent in a million is visible in the grid and in the shares.
func TestAFewInTroubleAreSeenAmongMany(t *testing.T) {
	states := make([]engine.AgentState, 1_000_000)
	for i := range states[:500] {
		if i < 250 {
			states[i] = engine.AgentOK
		}
	}
	states[777_777] = engine.AgentFailed
	g := show(t, states)
	img := g.draw(820, 320).(*image.RGBA)
	count := func(cell int, ink color.RGBA) (n int) {
		x, y := g.corner(cell)
		for dy := range int(g.field.level().pitch) {
			for dx := range int(g.field.level().pitch) {
				if img.RGBAAt(x+dx, y+dy) == ink {
					n++
				}
			}
		}
		return n
	}
	if n := count(777_777/500, g.inks.full[engine.AgentFailed]); n < 4 {
		t.Errorf("the failed agent has %d pixels", n)
	}
	ok, waiting := count(0, g.inks.bulk[engine.AgentOK]), count(0, g.inks.bulk[engine.AgentWaiting])
	if ok != waiting || ok == 0 {
		t.Errorf("two halves have %d and %d pixels", ok, waiting)
	}
}

func TestOnlyThoseFound(t *testing.T) {
	g := show(t, sample(372))
	g.Only([]int{7, 40, 371, 5000})
	if g.Shown() != 3 {
		t.Errorf("%d are shown", g.Shown())
	}
	var tapped int
	g.OnTapped = func(agent int) { tapped = agent }
	g.Tapped(&fyne.PointEvent{Position: g.point(2)})
	if tapped != 371 {
		t.Errorf("the third of those found is %d", tapped)
	}
	if g.Only(nil); g.Shown() != 372 {
		t.Errorf("%d of all are shown", g.Shown())
	}
}

func TestLegend(t *testing.T) {
	uitest.Start(t)
	l := NewLegend()
	win := test.NewTempWindow(t, l)
	win.Resize(fyne.NewSize(400, 200))
	var chosen States
	l.OnChanged = func(s States) { chosen = s }
	counts := (&engine.Crowd{States: sample(1000)}).Counts()
	counts[engine.AgentCanceled] = 0
	l.Set(counts)
	says := strings.Join(uitest.Texts(l), " ")
	for _, want := range []string{"failed " + engine.FormatCount(int64(counts[engine.AgentFailed])), "in flight"} {
		if !strings.Contains(says, want) {
			t.Errorf("got %q, want %q", says, want)
		}
	}
	if strings.Contains(says, "canceled") {
		t.Errorf("got %q, but no agent is canceled", says)
	}
	if high := l.MinSize().Height; high <= l.chips[0].MinSize().Height {
		t.Errorf("the chips take one line of %v in a width of 400", high)
	}
	test.Tap(l.chips[2])
	l.chips[0].FocusGained()
	l.chips[0].TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	if want := Of(engine.AgentFailed, engine.AgentInFlight); chosen != want || l.Chosen() != want {
		t.Errorf("%b are chosen, want %b", chosen, want)
	}
	test.Tap(l.chips[2])
	test.Tap(l.chips[0])
	if chosen != 0 {
		t.Errorf("%b stay chosen", chosen)
	}
}
