package graph

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

// stage is a graph in a window.
type stage struct {
	*Graph
	t   testing.TB
	win fyne.Window
}

func show(t *testing.T, g engine.Graph, width, height float32) *stage {
	uitest.Start(t)
	return put(t, g, width, height)
}

func put(t testing.TB, g engine.Graph, width, height float32) *stage {
	s := &stage{Graph: New(5000), t: t, win: test.NewTempWindow(t, nil)}
	s.win.SetPadded(false)
	s.win.SetContent(s.Graph)
	s.win.Resize(fyne.NewSize(width, height))
	s.Set(g)
	return s
}

func (s *stage) shows(texts ...string) {
	s.t.Helper()
	all := strings.Join(uitest.Texts(s.Graph), "\n")
	for _, text := range texts {
		if !strings.Contains(all, text) {
			s.t.Errorf("%q is not among %q", text, all)
		}
	}
}

// at returns the position of a step.
func (s *stage) at(path string) fyne.Position {
	s.t.Helper()
	for i := range s.sheet.layout.boxes {
		if b := &s.sheet.layout.boxes[i]; b.step.Path == path {
			return fyne.NewPos(b.x+5, b.y+5)
		}
	}
	s.t.Fatalf("there is no step %s", path)
	return fyne.Position{}
}

func (s *stage) point(path string) {
	s.t.Helper()
	s.sheet.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: s.at(path)}})
}

func (s *stage) selected() string {
	if s.sheet.selected == none {
		return ""
	}
	return s.sheet.layout.boxes[s.sheet.selected].step.Path
}

func TestStepsAreShown(t *testing.T) {
	g := sample(shopping)
	g.Segments[2][0].Service = "shop"
	g.Segments[6][0].Controls = "not last"
	s := show(t, g, 1100, 1400)
	s.shows("decide", "fill_cart", "http · shop", "while not last", "then", "else", "a_step_with", "…", "23 steps", "Point at a step")
	s.Set(sample("only http"))
	s.shows("1 step")
	s.Set(engine.Graph{})
	s.shows("0 steps")
	g.Cut = true
	s.Set(g)
	s.shows("Some steps are not drawn")
}

func TestANoteSaysMore(t *testing.T) {
	g := sample(shopping)
	compare := &g.Segments[4][4]
	compare.Label = "Compare the prices"
	compare.Facts = []engine.GraphFact{{Word: "timeout", Text: "2 min"}, {Word: "when", Text: "agent.age > 3"}}
	s := show(t, g, 1100, 1400)
	s.point("compare")
	s.shows("Compare the prices", "timeout: 2 min", "when: agent.age > 3", "waits for reviews, prices")
	s.sheet.MouseOut()
	s.shows("23 steps")
	s.sheet.Tapped(&fyne.PointEvent{Position: s.at("compare")})
	s.point("fill_cart.likes.note")
	s.shows("fill_cart.likes.note")
	s.sheet.MouseOut()
	s.shows("timeout: 2 min") // the chosen one again
	s.Mark(func(*engine.GraphStep) State { return State{Tone: widgets.Bad, Line: "1s", More: "100 ok, 7 failed"} })
	s.shows("100 ok, 7 failed")
	s.sheet.Tapped(&fyne.PointEvent{Position: fyne.NewPos(1, 1)})
	s.shows("23 steps")
}

func TestKeysChoose(t *testing.T) {
	s := show(t, sample(shopping), 1100, 1400)
	s.win.Canvas().Focus(s.sheet)
	if got := s.selected(); got != "decide" {
		t.Errorf("the keyboard is at %q", got)
	}
	s.point("coupons")
	for _, c := range []struct {
		key  fyne.KeyName
		want string
	}{
		{fyne.KeyRight, "stay"},
		{fyne.KeyRight, "enter"},
		{fyne.KeyLeft, "stay"},
		{fyne.KeyLeft, "decide"},
		{fyne.KeyLeft, "decide"},
		{fyne.KeyUp, "decide"},
		{fyne.KeyDown, "fill_cart"},
		{fyne.KeyEnd, "checkout.abandon"},
		{fyne.KeyRight, "checkout.abandon"},
		{fyne.KeyUp, "checkout.order"},
		{fyne.KeyHome, "decide"},
		{fyne.KeyEscape, ""},
		{fyne.KeyDown, "decide"},
	} {
		s.sheet.TypedKey(&fyne.KeyEvent{Name: c.key})
		if got := s.selected(); got != c.want {
			t.Fatalf("after %s it is %q, want %q", c.key, got, c.want)
		}
		if c.want != "" && s.title.Text() != c.want[strings.LastIndex(c.want, ".")+1:] {
			t.Errorf("after %s the note is on %q", c.key, s.title.Text())
		}
	}
	s.Set(engine.Graph{})
	for _, key := range []fyne.KeyName{fyne.KeyRight, fyne.KeyLeft, fyne.KeyUp, fyne.KeyDown, fyne.KeyHome, fyne.KeyEnd} {
		s.sheet.TypedKey(&fyne.KeyEvent{Name: key})
		if got := s.selected(); got != "" {
			t.Errorf("%s selected %q in an empty graph", key, got)
		}
	}
}

// TestALongChainScrolls checks that only boxes in view have texts, and that the keyboard scrolls a step into view.
func TestALongChainScrolls(t *testing.T) {
	s := show(t, long(500), 900, 400)
	if s.whole {
		t.Fatal("the graph does not scroll")
	}
	s.shows("step0")
	if n := s.sheet.used; n > 100 {
		t.Errorf("%d texts", n)
	}
	s.sheet.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	s.shows("core499")
	if uitest.Shows(s.Graph, "step0") {
		t.Error("a step out of view has a text")
	}
	if got := s.sheet.raster.Size(); got.Height > 400 || got.Width > 900 {
		t.Errorf("the drawing is %v, more than the view", got)
	}
	s.sheet.TypedKey(&fyne.KeyEvent{Name: fyne.KeyHome})
	s.shows("step0")
}

// TestTheWheelIsForThePage checks that the wheel scrolls the page if the whole graph is in view.
func TestTheWheelIsForThePage(t *testing.T) {
	s := show(t, sample("a http\nb http"), 900, 400)
	if !s.whole || len(uitest.Texts(s.Graph)) == 0 {
		t.Error("it scrolls")
	}
	if got := s.MinSize().Height; got > 200 {
		t.Errorf("two steps ask for a height of %v", got)
	}
}

func TestTheNoteMovesBelow(t *testing.T) {
	s := show(t, sample(shopping), 1000, 900)
	if s.note.Position().X < 700 {
		t.Errorf("the note is at %v", s.note.Position())
	}
	s.win.Resize(fyne.NewSize(500, 900))
	if at := s.note.Position(); at.X != 0 || at.Y < 500 {
		t.Errorf("the note is at %v", at)
	}
}

// TestSameStatesPaintNothing checks that only changed states are drawn.
func TestSameStatesPaintNothing(t *testing.T) {
	s := show(t, sample(shopping), 1000, 900)
	states := func(n int) func(*engine.GraphStep) State {
		return func(step *engine.GraphStep) State {
			return State{Tone: widgets.Good, Line: fmt.Sprintf("%s %d", step.Name, n/2)}
		}
	}
	for n, want := range []bool{true, false, true, false} {
		if got := s.sheet.mark(states(n)); got != want {
			t.Errorf("marks %d paint: %v, want %v", n, got, want)
		}
	}
	s.Mark(states(8))
	s.shows("enter 4")
	s.win.Resize(fyne.NewSize(800, 900)) // laid out again
	s.shows("enter 4")
	s.Set(sample(shopping)) // another scenario
	if uitest.Shows(s.Graph, "enter 4") {
		t.Error("the figures of the one before are shown")
	}
}

// TestStatesMayComeFirst checks that a graph shows the states that it received while it was hidden.
func TestStatesMayComeFirst(t *testing.T) {
	uitest.Start(t)
	g := New(5000)
	g.Set(sample("a http\nb http"))
	g.Mark(func(*engine.GraphStep) State { return State{Line: "p95 3 ms"} })
	win := test.NewTempWindow(t, g)
	win.Resize(fyne.NewSize(900, 400))
	if !uitest.Shows(g, "p95 3 ms") {
		t.Errorf("the screen shows %q", uitest.Texts(g))
	}
}

// TestAnotherTheme checks that the graph adapts its scrolling to a new theme, even before it has a size.
func TestAnotherTheme(t *testing.T) {
	s := show(t, sample(shopping), 1000, 2000)
	hidden := container.NewWithoutLayout(New(100))
	hidden.Hide()
	s.win.SetContent(container.NewStack(s.Graph, hidden))
	for _, height := range []float32{2000, 300, 2000} {
		s.win.Resize(fyne.NewSize(1000, height))
		for _, size := range []float32{18, 13} {
			test.ApplyTheme(t, large{theme.DefaultTheme(), size})
			s.shows("decide")
			if got := s.sheet.texts[0].TextSize; got != size {
				t.Errorf("%v high: texts of size %v, want %v", height, got, size)
			}
		}
	}
}

// large is a theme with the given text size.
type large struct {
	fyne.Theme
	size float32
}

func (l large) Size(name fyne.ThemeSizeName) float32 {
	if name == theme.SizeNameText {
		return l.size
	}
	return l.Theme.Size(name)
}

func TestColors(t *testing.T) {
	s := show(t, sample("a http\nb http\nc http"), 900, 400)
	s.Mark(func(step *engine.GraphStep) State {
		return map[string]State{"a": {Tone: widgets.Good, Shade: Shades}, "b": {Tone: widgets.Bad}}[step.Path]
	})
	l := s.sheet.layout
	s.sheet.draw(int(l.w)*2, int(l.h)*2)
	at := func(i int, dx, dy float32) any {
		b := &l.boxes[i]
		return s.sheet.img.RGBAAt(int((b.x+dx)*s.sheet.scale), int((b.y+dy)*s.sheet.scale))
	}
	inks := &s.sheet.inks
	for i, want := range []any{inks.leaf[Shades], inks.leaf[0], inks.leaf[0]} {
		if got := at(i, 60, 10); got != want {
			t.Errorf("the ground of %d is %v, want %v", i, got, want)
		}
	}
	for i, want := range []any{inks.tones[widgets.Good], inks.tones[widgets.Bad], inks.leaf[0]} {
		if got := at(i, 5.5, l.port()); got != want {
			t.Errorf("the side of %d is %v, want %v", i, got, want)
		}
	}
	for i, want := range []any{inks.border, inks.tones[widgets.Bad], inks.border} {
		if got := at(i, 60, 0.25); got != want {
			t.Errorf("the border of %d is %v, want %v", i, got, want)
		}
	}
}

func TestDrawingAllocatesNothing(t *testing.T) {
	s := show(t, sample(shopping), 1000, 900)
	s.sheet.draw(1000, 1200)
	if n := testing.AllocsPerRun(10, func() { s.sheet.draw(1000, 1200) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	same := func(*engine.GraphStep) State { return State{Line: "p95 3 ms"} }
	s.Mark(same)
	if n := testing.AllocsPerRun(10, func() { s.Mark(same) }); n != 0 {
		t.Errorf("%v allocations for states that are the same", n)
	}
}
