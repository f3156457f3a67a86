package timeline

import (
	"flag"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

var update = flag.Bool("update", false, "rewrite the golden pictures")

const ms = time.Millisecond

// shopping is a session with everything that a timeline can show.
var shopping = Session{Queue: 400 * ms, Total: 2700 * ms, Bars: []Bar{
	{Name: "decide", Service: 3 * ms},
	{Name: "browse", From: 3 * ms, Throttled: 120 * ms, Service: 240 * ms},
	{Name: "fill_cart", From: 363 * ms, Service: 1400 * ms, Status: engine.StepFailed, Block: true},
	{Name: "add", Depth: 1, From: 363 * ms, Service: 410 * ms},
	{Name: "again", Depth: 1, From: 773 * ms, Service: 900 * ms, Retries: 2, Status: engine.StepFailed},
	{Name: "pay", From: 1763 * ms, Throttled: 300 * ms, Service: 600 * ms, Status: engine.StepTimedOut},
	{Name: "thank", From: 2663 * ms, Status: engine.StepSkipped},
}}

func show(t *testing.T, s Session) *Timeline {
	uitest.Start(t)
	return put(t, s)
}

func put(t testing.TB, s Session) *Timeline {
	l := New()
	win := test.NewTempWindow(t, nil)
	win.SetPadded(false)
	win.SetContent(l)
	win.Resize(fyne.NewSize(460, 300))
	l.Set(s)
	return l
}

func (t *Timeline) press(keys ...fyne.KeyName) {
	for _, key := range keys {
		t.TypedKey(&fyne.KeyEvent{Name: key})
	}
}

func TestGolden(t *testing.T) {
	for name, variant := range map[string]fyne.ThemeVariant{"light": theme.VariantLight, "dark": theme.VariantDark} {
		uitest.Start(t)
		fyne.CurrentApp().Settings().SetTheme(oneVariant{theme.DefaultTheme(), variant})
		l := put(t, shopping)
		l.Select(4)
		size := l.raster.Size()
		uitest.Golden(t, "shopping-"+name+".png", l.draw(int(size.Width), int(size.Height)), *update)
	}
}

// TestNothingIsDrawnOfNoSession checks that a timeline without steps is empty, without an axis.
func TestNothingIsDrawnOfNoSession(t *testing.T) {
	l := show(t, Session{})
	for i, v := range l.draw(460, 300).(*image.RGBA).Pix {
		if v != 0 {
			t.Fatalf("something is drawn at %d, %d", i/4%460, i/4/460)
		}
	}
	if size := l.raster.Size(); size.Width <= 0 {
		t.Errorf("the timeline is %v", size)
	}
}

// oneVariant is a theme with one variant.
type oneVariant struct {
	fyne.Theme
	variant fyne.ThemeVariant
}

func (o oneVariant) Color(name fyne.ThemeColorName, _ fyne.ThemeVariant) color.Color {
	if c, ok := widgets.Palette(name, o.variant); ok {
		return c
	}
	return o.Theme.Color(name, o.variant)
}

func TestWordsAreBesideTheBars(t *testing.T) {
	l := show(t, shopping)
	all := strings.Join(uitest.Texts(l), " | ")
	for _, want := range []string{"queued 400 ms", "decide", "fill_cart", "failed 900 ms", "timeout 900 ms", "skipped", "360 ms", "1 s"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among %q", want, all)
		}
	}
}

// TestBarsAreWhereTheirTimesAre checks that the length of a bar is the duration of its step, with the throttled time in
// another color.
func TestBarsAreWhereTheirTimesAre(t *testing.T) {
	l := show(t, Session{Total: time.Second, Bars: []Bar{{Name: "a", From: 250 * ms, Throttled: 250 * ms, Service: 250 * ms}}})
	size := l.raster.Size()
	img := l.draw(int(size.Width), int(size.Height)).(*image.RGBA)
	y := int(l.head() + l.row()/2)
	wide := float64(l.scale.right - l.scale.zero)
	var held, served int
	for x := range img.Rect.Dx() {
		switch img.RGBAAt(x, y) {
		case l.inks.held:
			held++
		case l.inks.service:
			served++
		}
	}
	for what, n := range map[string]int{"throttled": held, "served": served} {
		if got := float64(n) / wide; got < 0.23 || got > 0.27 {
			t.Errorf("%s takes %.3f of the drawing, want 0.25", what, got)
		}
	}
}

// TestALongWaitForTheGateLeavesRoomForTheSteps checks that minutes in the queue do not squeeze the steps.
func TestALongWaitForTheGateLeavesRoomForTheSteps(t *testing.T) {
	for _, c := range []struct {
		queue time.Duration
		share float32
		cut   bool
	}{{0, 0, false}, {100 * ms, 0.0909, false}, {10 * time.Minute, mostQueue, true}} {
		s := Session{Queue: c.queue, Total: time.Second}
		got := s.lay(100, 1100)
		if share := (got.zero - 100) / 1000; share < c.share-0.001 || share > c.share+0.001 || got.cut != c.cut {
			t.Errorf("%v takes %.3f of the width, cut %t", c.queue, share, got.cut)
		}
	}
}

func TestRoundSteps(t *testing.T) {
	for _, c := range []struct{ least, want time.Duration }{
		{0, time.Microsecond},
		{3 * ms, 5 * ms},
		{600 * ms, time.Second},
		{21 * time.Second, 50 * time.Second},
		{55 * time.Second, time.Minute},
		{11 * time.Minute, 30 * time.Minute},
		{150 * time.Minute, 3 * time.Hour},
	} {
		if got := roundStep(c.least); got != c.want {
			t.Errorf("%v is rounded to %v, want %v", c.least, got, c.want)
		}
	}
}

func TestASelectionByHandAndByKey(t *testing.T) {
	l := show(t, shopping)
	var selected, hovered []int
	var shown float32
	l.OnSelected = func(bar int) { selected = append(selected, bar) }
	l.OnHovered = func(bar int) { hovered = append(hovered, bar) }
	l.OnReveal = func(_, bottom float32) { shown = bottom }
	escaped := false
	l.OnEscape = func() { escaped = true }
	l.FocusGained()
	l.press(fyne.KeyDown, fyne.KeyEnd, fyne.KeyDown, fyne.KeyUp, fyne.KeyEscape)
	l.Tapped(&fyne.PointEvent{Position: fyne.NewPos(50, l.head()+2.5*l.row())})
	l.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(50, l.head()+4.5*l.row())}})
	l.MouseOut()
	if want := []int{0, 1, 6, 5, 2}; !slices.Equal(selected, want) {
		t.Errorf("selected %v, want %v", selected, want)
	}
	if want := []int{4, -1}; !slices.Equal(hovered, want) {
		t.Errorf("pointed at %v, want %v", hovered, want)
	}
	if !escaped || shown != l.head()+3*l.row() {
		t.Errorf("escaped %t, in view down to %v", escaped, shown)
	}
	l.Set(shopping)
	if l.Selected() != 2 {
		t.Error("the same session again forgets what was selected")
	}
	if l.Set(Session{}); l.Selected() != -1 {
		t.Error("another session has something selected")
	}
	l.press(fyne.KeyDown) // nothing to select
	if says := uitest.Texts(l); len(says) > 0 {
		t.Errorf("no session: got %q", says)
	}
}

func TestALongSessionIsCut(t *testing.T) {
	l := show(t, Session{Total: time.Second, Bars: make([]Bar, 5000)})
	if n := len(l.session.Bars); n != Most {
		t.Errorf("%d bars are drawn", n)
	}
}

func BenchmarkDraw(b *testing.B) {
	test.NewTempApp(b).Settings().SetTheme(theme.DefaultTheme())
	l := put(b, shopping)
	b.ReportAllocs()
	for b.Loop() {
		l.draw(460, 160)
	}
}
