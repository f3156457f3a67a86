package widgets

import (
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

var noon = time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)

func minute(n float64) time.Time { return noon.Add(time.Duration(n * float64(time.Minute))) }

// spans are an hour, and half an hour five hours later.
func spans() []Span {
	return []Span{{minute(0), minute(60)}, {minute(360), minute(390)}}
}

func TestScrubScale(t *testing.T) {
	s := newScrubScale(spans())
	for _, c := range []struct {
		at    time.Time
		place float64
		back  time.Time // of the place
	}{
		{minute(-5), 0, minute(0)},
		{minute(0), 0, minute(0)},
		{minute(30), 0.98 / 3, minute(30)},
		{minute(60), 0.98 * 2 / 3, minute(60)},
		{minute(200), 0.98 * 2 / 3, minute(60)},
		{minute(360), 0.98*2/3 + 0.02, minute(360)},
		{minute(390), 1, minute(390)},
		{minute(500), 1, minute(390)},
	} {
		if got := s.place(c.at); got < c.place-1e-9 || got > c.place+1e-9 {
			t.Errorf("%v is at %v, want %v", c.at, got, c.place)
		}
		if got := s.at(s.place(c.at)); got.Sub(c.back).Abs() > time.Millisecond {
			t.Errorf("at %v it is %v, want %v", s.place(c.at), got, c.back)
		}
	}
	if got := s.at(0.98*2/3 + 0.005); !got.Equal(minute(60)) {
		t.Errorf("early in the gap it is %v", got)
	}
	if got := s.at(0.98*2/3 + 0.015); !got.Equal(minute(360)) {
		t.Errorf("late in the gap it is %v", got)
	}
	for _, c := range []struct {
		from time.Time
		by   time.Duration
		want time.Time
	}{
		{minute(10), time.Minute, minute(11)},
		{minute(59), 2 * time.Minute, minute(361)},
		{minute(361), -2 * time.Minute, minute(59)},
		{minute(200), time.Minute, minute(361)},
		{minute(200), -time.Minute, minute(59)},
		{minute(1), -time.Hour, minute(0)},
		{minute(380), time.Hour, minute(390)},
	} {
		if got := s.move(c.from, c.by); got.Sub(c.want).Abs() > time.Millisecond {
			t.Errorf("%v from %v is %v, want %v", c.by, c.from, got, c.want)
		}
	}
}

// TestScrubScaleWithoutTime checks the scale of a run without duration, and of no run.
func TestScrubScaleWithoutTime(t *testing.T) {
	s := newScrubScale([]Span{{noon, noon}})
	if got := s.at(0.5); !got.Equal(noon) {
		t.Errorf("it is %v", got)
	}
	none := newScrubScale(nil)
	if got := none.move(noon, time.Hour); !got.Equal(noon) || none.place(noon) != 1 {
		t.Errorf("it goes to %v", got)
	}
}

func TestScrubber(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
	s := NewScrubber()
	var chosen []time.Time
	var pages []int
	var hover string
	s.OnChanged = func(at time.Time) { chosen = append(chosen, at) }
	s.OnPage = func(by int) { pages = append(pages, by) }
	s.OnHover = func(text string) { hover = text }
	win := test.NewTempWindow(t, s)
	win.Resize(fyne.NewSize(600, 60))
	s.Tapped(&fyne.PointEvent{Position: fyne.NewPos(100, 5)})
	if len(chosen) != 0 {
		t.Fatal("something was selected in an empty span")
	}
	s.SetSpans(spans(), []Tick{{minute(30), TickPoint, "checkpoint 1"}, {minute(30), TickCycle, "cycle 1 closed"}})
	s.Set(minute(390))
	if len(chosen) != 0 {
		t.Error("Set counts as a choice")
	}
	x := s.x(minute(30))
	s.Tapped(&fyne.PointEvent{Position: fyne.NewPos(x, 5)})
	if len(chosen) != 1 || chosen[0].Sub(minute(30)).Abs() > time.Second || !s.focused {
		t.Fatalf("a tap chose %v", chosen)
	}
	s.MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x+2, 5)}})
	if want := minute(30).Local().Format(time.TimeOnly) + "  ·  checkpoint 1"; hover != want {
		t.Errorf("got %q, want %q", hover, want)
	}
	s.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x+60, 5)}})
	if hover == "" || len(hover) > len("15:04:05") {
		t.Errorf("without a mark: got %q", hover)
	}
	if s.MouseOut(); hover != "" {
		t.Error("the tooltip stays after the pointer has left")
	}
	s.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(s.x(minute(10)), 5)}})
	s.Set(minute(390)) // set by the caller during the drag
	if got := s.At(); got.Sub(minute(10)).Abs() > time.Second || !s.Dragging() {
		t.Errorf("dragged to %v", got)
	}
	s.DragEnd()
	for _, c := range []struct {
		key  fyne.KeyName
		want time.Time
	}{{fyne.KeyHome, minute(0)}, {fyne.KeyRight, minute(1. / 60)}, {fyne.KeyLeft, minute(0)}, {fyne.KeyEnd, minute(390)}} {
		if s.TypedKey(&fyne.KeyEvent{Name: c.key}); s.At().Sub(c.want).Abs() > time.Millisecond {
			t.Errorf("%s goes to %v, want %v", c.key, s.At(), c.want)
		}
	}
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageUp})
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageDown})
	if len(pages) != 2 || pages[0] != 1 || pages[1] != -1 {
		t.Errorf("pages %v", pages)
	}
	n := len(chosen)
	s.Disable()
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyHome})
	s.Tapped(&fyne.PointEvent{Position: fyne.NewPos(100, 5)})
	if len(chosen) != n {
		t.Error("disabled, it was moved")
	}
}

// TestScrubberDraws checks that the thumb, the gap and each kind of mark are visible.
func TestScrubberDraws(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
	s := NewScrubber()
	s.Resize(fyne.NewSize(600, s.MinSize().Height))
	draw := s.face.drawer(s)
	ink := func(from, to int) (n int) {
		img := draw(1200, int(2*s.MinSize().Height))
		for x := from; x < to; x++ {
			for y := range img.Bounds().Dy() {
				if _, _, _, a := img.At(x, y).RGBA(); a > 0 {
					n++
				}
			}
		}
		return n
	}
	if ink(0, 1200) != 0 {
		t.Error("something is drawn for an empty span")
	}
	s.SetSpans(spans(), nil)
	s.Set(minute(0))
	gap := int(2 * (s.x(minute(60)) + s.x(minute(360))) / 2)
	if n := ink(gap-3, gap+3); n != 0 {
		t.Errorf("%d pixels in the gap", n)
	}
	at := int(2 * s.x(minute(30)))
	bare := ink(at-15, at+15)
	for kind := TickCycle; kind <= TickPoint; kind++ {
		s.SetSpans(spans(), []Tick{{minute(30), kind, "x"}})
		if n := ink(at-15, at+15); n <= bare {
			t.Errorf("a mark of kind %d: %d pixels, without it %d", kind, n, bare)
		}
	}
	s.SetSpans(spans(), nil)
	s.Set(minute(30))
	if n := ink(at-15, at+15); n < 2*bare {
		t.Errorf("the thumb: %d pixels, without it %d", n, bare)
	}
}

func TestSegments(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
	var chosen []int
	s := NewSegments([]string{"Charts", "Agents", "Chain"}, func(i int) { chosen = append(chosen, i) })
	win := test.NewTempWindow(t, s)
	win.Resize(fyne.NewSize(400, 60))
	s.Tapped(&fyne.PointEvent{Position: fyne.NewPos(s.width(0)+s.width(1)/2, 5)})
	if s.Chosen() != 1 || len(chosen) != 1 || !s.focused {
		t.Fatalf("a tap chose %d, %v", s.Chosen(), chosen)
	}
	for _, c := range []struct {
		key  fyne.KeyName
		want int
	}{{fyne.KeyRight, 2}, {fyne.KeyRight, 2}, {fyne.KeyHome, 0}, {fyne.KeyLeft, 0}, {fyne.KeyEnd, 2}} {
		if s.TypedKey(&fyne.KeyEvent{Name: c.key}); s.Chosen() != c.want {
			t.Errorf("%s chooses %d, want %d", c.key, s.Chosen(), c.want)
		}
	}
	if len(chosen) != 4 {
		t.Errorf("it received %v", chosen)
	}
	s.Choose(1)
	s.SetOptions([]string{"Charts"})
	if s.Chosen() != 0 || len(chosen) != 4 || len(s.Parts()) != 1 {
		t.Errorf("with one word left, %d is selected, callbacks %v", s.Chosen(), chosen)
	}
	s.SetOptions([]string{"Charts", "Chain"})
	s.Disable()
	if s.Tapped(&fyne.PointEvent{Position: fyne.NewPos(s.width(0)+2, 5)}); s.Chosen() != 0 {
		t.Error("disabled, it was tapped")
	}
}

// TestScrubberIsDrawnSeldom checks that while a run grows by less than a pixel, the scrubber is not redrawn but knows
// the new end.
func TestScrubberIsDrawnSeldom(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
	s := NewScrubber()
	s.Resize(fyne.NewSize(600, 30))
	drawn := 0
	for second := range 600 {
		before := s.drawn
		s.SetSpans([]Span{{minute(0), minute(600).Add(time.Duration(second) * time.Second)}}, nil)
		if len(before.spans) == 0 || !before.spans[0].To.Equal(s.drawn.spans[0].To) {
			drawn++
		}
	}
	if drawn < 5 || drawn > 20 { // ten minutes are ten pixels
		t.Errorf("in ten minutes it was drawn %d times", drawn)
	}
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	if want := minute(600).Add(599 * time.Second); !s.At().Equal(want) {
		t.Errorf("the end is %v, want %v", s.At(), want)
	}
}
