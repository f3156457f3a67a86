package widgets

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// limitStage is a slider in a window. It records the limits that were set.
type limitStage struct {
	*LimitSlider
	heard, ended []int
}

func newLimitStage(t *testing.T, floor, ceiling int) *limitStage {
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
	s := &limitStage{LimitSlider: NewLimitSlider(floor, ceiling)}
	s.OnChanged = func(n int) { s.heard = append(s.heard, n) }
	s.OnChangeEnded = func(n int) { s.ended = append(s.ended, n) }
	w := test.NewTempWindow(t, container.NewStack(s.LimitSlider))
	w.SetPadded(false)
	w.Resize(fyne.NewSize(600, 60))
	return s
}

// drag moves the thumb to a number.
func (s *limitStage) drag(n int) {
	s.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(s.face.x(n), 5)}})
}

func (s *limitStage) key(names ...fyne.KeyName) {
	for _, name := range names {
		s.TypedKey(&fyne.KeyEvent{Name: name})
	}
}

func TestLimitSliderIsDragged(t *testing.T) {
	s := newLimitStage(t, 1, 1000)
	s.Set(50)
	s.drag(100)
	s.drag(100) // nothing new
	s.drag(500)
	s.Set(7) // from elsewhere, while the thumb is in hand
	if s.Value() != 500 || !s.Dragging() || !s.focused {
		t.Errorf("during the drag it is at %d, focused: %v", s.Value(), s.focused)
	}
	s.DragEnd()
	s.Set(7)
	if s.Value() != 7 || s.Dragging() {
		t.Errorf("after the drag it is at %d", s.Value())
	}
	if !slices.Equal(s.heard, []int{100, 500}) || !slices.Equal(s.ended, []int{500}) {
		t.Errorf("got calls %v, at the end %v", s.heard, s.ended)
	}
	s.DragEnd()
	if len(s.ended) != 1 {
		t.Errorf("an end without a beginning is reported: %v", s.ended)
	}
}

func TestLimitSliderIsTapped(t *testing.T) {
	s := newLimitStage(t, 1, 100)
	test.TapAt(s.LimitSlider, fyne.NewPos(s.face.x(10), 5))
	test.TapAt(s.LimitSlider, fyne.NewPos(599, 5))
	test.TapAt(s.LimitSlider, fyne.NewPos(0, 5))
	if !slices.Equal(s.heard, []int{10, 100, 1}) || !slices.Equal(s.ended, s.heard) {
		t.Errorf("got calls %v, at the end %v", s.heard, s.ended)
	}
	if !s.focused {
		t.Error("a tap does not focus it")
	}
}

func TestLimitSliderTakesKeys(t *testing.T) {
	s := newLimitStage(t, 1, 372)
	s.Set(99)
	s.key(fyne.KeyRight, fyne.KeyUp, fyne.KeyLeft, fyne.KeyDown, fyne.KeyPageDown, fyne.KeyPageUp, fyne.KeyHome, fyne.KeyLeft, fyne.KeyEnd, fyne.KeyRight, fyne.KeySpace)
	s.TypedRune('5')
	if want := []int{100, 110, 100, 99, 49, 98, 1, 372}; !slices.Equal(s.heard, want) {
		t.Errorf("heard %v, want %v", s.heard, want)
	}
	s.Set(500) // a limit beyond the scale
	s.key(fyne.KeyDown)
	if s.Value() != 370 {
		t.Errorf("from beyond the scale it moves to %d", s.Value())
	}
	s.Step(1)
	s.Step(-100)
	s.Step(-1000)
	if want := []int{370, 371, 271, 1}; !slices.Equal(s.heard[8:], want) {
		t.Errorf("heard %v, want %v", s.heard[8:], want)
	}
}

func TestLimitSliderIsDisabled(t *testing.T) {
	s := newLimitStage(t, 1, 100)
	s.Set(50)
	s.drag(60)
	s.Disable() // while it is in hand
	s.drag(70)
	s.DragEnd()
	s.key(fyne.KeyRight)
	s.Step(1)
	test.TapAt(s.LimitSlider, fyne.NewPos(100, 5))
	if s.Value() != 60 || len(s.heard) != 1 || len(s.ended) != 0 {
		t.Errorf("it is at %d, got calls %v %v", s.Value(), s.heard, s.ended)
	}
	s.Enable()
	s.key(fyne.KeyRight)
	if s.Value() != 61 {
		t.Errorf("enabled again, it is at %d", s.Value())
	}
}

func TestLimitSliderDraws(t *testing.T) {
	s := newLimitStage(t, 1, 10_000)
	f := s.face
	s.Set(100)
	thumb := f.thumb.Position().X + f.thumb.Size().Width/2
	if want := float32(300); thumb != want || f.active.Position().X+f.active.Size().Width != want {
		t.Errorf("100 of 10,000 is at %v, and the bar ends at %v; want the middle, %v", thumb, f.active.Position().X+f.active.Size().Width, want)
	}
	s.SetUsed(100)
	if got := f.used.Position().X + f.used.Size().Width; got != thumb {
		t.Errorf("100 in use reach to %v, not to %v", got, thumb)
	}
	for n, shown := range map[int]bool{0: false, 1: true} {
		if s.SetUsed(n); (f.used.Size().Width > 0) != shown {
			t.Errorf("%d in use are a bar of %v", n, f.used.Size().Width)
		}
	}
	s.Set(20_000)
	if got := f.thumb.Position().X + f.thumb.Size().Width/2; got != f.x(10_000) {
		t.Errorf("a value beyond the scale is at %v", got)
	}
	s.FocusGained()
	s.MouseIn(&desktop.MouseEvent{})
	if _, _, _, alpha := f.halo.FillColor.RGBA(); alpha == 0 {
		t.Error("focus does not show")
	}
	s.FocusLost()
	s.MouseOut()
	if _, _, _, alpha := f.halo.FillColor.RGBA(); alpha != 0 {
		t.Error("a focus that is lost shows")
	}
}

func TestLimitSliderLabels(t *testing.T) {
	s := newLimitStage(t, 1, 10_000)
	labels := func() []string {
		type label struct {
			text     string
			from, to float32
		}
		var all []label
		for _, l := range s.face.labels {
			if l.Visible() {
				all = append(all, label{l.Text, l.Position().X, l.Position().X + l.Size().Width})
			}
		}
		slices.SortFunc(all, func(a, b label) int { return int(a.from - b.from) })
		var texts []string
		for i, l := range all {
			if l.from < 0 || l.to > s.Size().Width || i > 0 && l.from < all[i-1].to {
				t.Errorf("the label %q from %v to %v collides", l.text, l.from, l.to)
			}
			texts = append(texts, l.text)
		}
		return texts
	}
	if got := labels(); !slices.Equal(got, []string{"1", "2", "5", "10", "20", "50", "100", "200", "500", "1k", "2k", "5k", "10k"}) {
		t.Errorf("labels %q", got)
	}
	s.Resize(fyne.NewSize(130, 60))
	if got := labels(); !slices.Equal(got, []string{"1", "10", "100", "1k", "10k"}) {
		t.Errorf("in little room: labels %q", got)
	}
	s.Resize(fyne.NewSize(600, 60))
	s.SetRange(5, 1234)
	if got := labels(); !slices.Equal(got, []string{"5", "10", "20", "50", "100", "200", "500", "1234"}) {
		t.Errorf("from 5 to 1234: labels %q", got)
	}
	if s.Value() != 1 {
		t.Errorf("another scale moves the value to %d", s.Value())
	}
}
