package tour

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/uitest"
)

// round is a tour of a window with two buttons.
type round struct {
	*uitest.Queue
	win      fyne.Window
	one, two *widget.Button
	tour     *Tour
	now      [3]int // hint of each step
	ended    int
	led      int
	revealed int
	tapped   int
}

func newRound(t *testing.T) *round {
	r := &round{Queue: uitest.Start(t)}
	r.one, r.two = widget.NewButton("one", func() { r.tapped++ }), widget.NewButton("two", nil)
	target := func(o fyne.CanvasObject) func() fyne.CanvasObject { return func() fyne.CanvasObject { return o } }
	now := func(i int) func() int { return func() int { return r.now[i] } }
	r.tour = New([]Step{
		{Title: "First", Now: now(0), Hints: []Hint{{Text: "Press one.", Target: target(r.one)}, {Text: "One is elsewhere.", Way: "Show it", Do: func() { r.led++ }}}},
		{Title: "Second", Now: now(1), Hints: []Hint{{Text: "Press two.", Target: target(r.two), Shown: func() { r.revealed++ }}}},
		{Title: "Third", Now: now(2), Hints: []Hint{{Text: "Look around. There is a lot to see here, and to read about it takes more than one line in a small window."}}},
	}, "That is all.", func() { r.ended++ })
	middle := form.NewHeaded(r.tour, container.NewBorder(nil, nil, container.NewVBox(r.one), container.NewVBox(r.two)))
	r.win = test.NewTempWindow(t, container.NewStack(middle, r.tour.Ring()))
	r.win.Resize(fyne.NewSize(900, 600))
	r.tour.Follow()
	return r
}

// ringed reports whether the ring is around an object.
func (r *round) ringed(o fyne.CanvasObject) bool {
	ring, driver := r.tour.ring, fyne.CurrentApp().Driver()
	at, gap := driver.AbsolutePositionForObject(o), theme.Padding()
	first, last := ring.sides[0], ring.sides[3]
	from := driver.AbsolutePositionForObject(first)
	to := driver.AbsolutePositionForObject(last).AddXY(last.Size().Width, last.Size().Height)
	want := at.SubtractXY(gap, gap)
	return ring.frame.Visible() && from == want && to == want.AddXY(o.Size().Width+2*gap, o.Size().Height+2*gap)
}

// TestStepsCompleteWhenDone checks that a step completes when the user has done it, and not before, in any order, and that the ring follows.
func TestStepsCompleteWhenDone(t *testing.T) {
	r := newRound(t)
	if !uitest.Shows(r.tour, "Press one.") || uitest.Shows(r.tour, "Press two.") || !r.ringed(r.one) {
		t.Fatalf("it begins with %q, ring at %v", uitest.Texts(r.tour), r.tour.ring.at)
	}
	r.now[0] = 1
	r.tour.Follow()
	if !uitest.Shows(r.tour, "One is elsewhere.") || r.tour.ring.frame.Visible() {
		t.Errorf("away from its screen: %q", uitest.Texts(r.tour))
	}
	r.Tap(r.tour, "Show it")
	r.now[2] = Done // out of order
	r.tour.Follow()
	if r.led != 1 || !uitest.Shows(r.tour, "One is elsewhere.") || r.tour.chips[2].Text() != "Third: done" || r.tour.chips[0].Text() != "First" {
		t.Errorf("led %d times, %q", r.led, uitest.Texts(r.tour))
	}
	r.now[0] = Done
	r.tour.Follow()
	if !uitest.Shows(r.tour, "Press two.") || !r.ringed(r.two) || r.revealed != 1 || r.tour.Complete() {
		t.Errorf("after the first step: %q, revealed %d times", uitest.Texts(r.tour), r.revealed)
	}
	r.now[0], r.now[1] = 0, Done // a completed step stays complete
	r.tour.Follow()
	if !uitest.Shows(r.tour, "That is all.") || !r.tour.Complete() || r.tour.ring.frame.Visible() || r.tour.Over() || r.ended != 0 {
		t.Errorf("at the end: %q", uitest.Texts(r.tour))
	}
	r.Tap(r.tour, "Close")
	r.tour.End()
	if r.ended != 1 || !r.tour.Over() {
		t.Errorf("it ended %d times", r.ended)
	}
}

// TestTheWindowStaysUsable checks that the ring does not take taps, and that Skip ends the tour.
func TestTheWindowStaysUsable(t *testing.T) {
	r := newRound(t)
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(r.one)
	test.TapCanvas(r.win.Canvas(), at.AddXY(5, 5))
	if r.tapped != 1 {
		t.Error("the target cannot be tapped")
	}
	r.Tap(r.tour, "Skip tour")
	if r.ended != 1 || r.tour.ring.frame.Visible() {
		t.Errorf("ended %d times", r.ended)
	}
	r.tour.Follow()
	if r.tour.ring.frame.Visible() {
		t.Error("the ring is still there")
	}
}

// TestNothingMovesBetweenSteps checks that the strip keeps its height, that its button keeps its place, and that a narrow window shows one
// step with its number.
func TestNothingMovesBetweenSteps(t *testing.T) {
	for _, width := range []float32{900, 300} {
		r := newRound(t)
		r.win.Resize(fyne.NewSize(width, 600))
		height, at := r.tour.Size().Height, r.tour.close.Position()
		for i := range r.now {
			if narrow := width < 500; uitest.Shows(r.tour, "of 3") != narrow || uitest.Shows(r.tour, "Third") == (narrow && i < 2) {
				t.Errorf("step %d, %v wide: %q", i, width, uitest.Texts(r.tour))
			}
			r.now[i] = Done
			r.tour.Follow()
			if now := r.tour.MinSize().Height; now != height || r.tour.Size().Height != height {
				t.Errorf("step %d, %v wide: the height was %v, is %v, needs %v", i, width, height, r.tour.Size().Height, now)
			}
			if i < 2 && r.tour.close.Position() != at {
				t.Errorf("step %d: the button moved from %v to %v", i, at, r.tour.close.Position())
			}
		}
	}
}
