package tour

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/uitest"
)

// round is a tour of a window with two buttons at its edges.
type round struct {
	*uitest.Queue
	win      fyne.Window
	one, two *widget.Button
	tour     *Tour
	ended    int
	did      int
}

func newRound(t *testing.T) *round {
	r := &round{Queue: uitest.Start(t), one: widget.NewButton("one", nil), two: widget.NewButton("two", nil)}
	r.win = test.NewTempWindow(t, container.NewBorder(nil, nil, r.one, container.NewVBox(r.two), widget.NewLabel("between")))
	r.win.Resize(fyne.NewSize(900, 600))
	target := func(o fyne.CanvasObject) func() fyne.CanvasObject { return func() fyne.CanvasObject { return o } }
	r.tour = New(r.win.Canvas(), []Step{
		{Title: "First", Text: "It begins here.", Target: target(r.one)},
		{Title: "Second", Text: "Continue.", Target: target(r.two), Next: "Do it", Do: func() { r.did++ }},
		{Title: "Third", Text: "That is all."},
	}, func() { r.ended++ })
	r.tour.Go(0)
	return r
}

func (r *round) key(name fyne.KeyName) {
	r.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: name})
}

func (r *round) shows(text string) bool {
	top := r.win.Canvas().Overlays().Top()
	return top != nil && uitest.Shows(top, text)
}

// TestATourByKeys moves through a tour with Return and the arrow keys, and checks that it performs a step's action and
// ends once.
func TestATourByKeys(t *testing.T) {
	r := newRound(t)
	if !r.shows("1 of 3") || !r.shows("It begins here.") || uitest.Button(r.tour, "Back") != nil {
		t.Fatalf("it begins with %q", uitest.Texts(r.tour))
	}
	r.key(fyne.KeyRight)
	if !r.shows("2 of 3") {
		t.Error("the arrow does not continue")
	}
	r.key(fyne.KeyLeft)
	r.key(fyne.KeyReturn)
	if !r.shows("2 of 3") || !r.shows("Do it") {
		t.Error("Return does not continue")
	}
	r.key(fyne.KeyRight) // does nothing that was not asked for
	if r.did != 0 || !r.shows("2 of 3") {
		t.Errorf("the arrow did it, or left the step: %q", uitest.Texts(r.tour))
	}
	r.key(fyne.KeySpace)
	if r.did != 1 || r.shows("3 of 3") {
		t.Error("the step was not done, or the tour continued by itself")
	}
	r.tour.Rest()
	if r.win.Canvas().Overlays().Top() != nil || r.ended != 0 {
		t.Error("the tour does not rest")
	}
	r.tour.Go(2)
	if r.key(fyne.KeyLeft); !r.shows("3 of 3") {
		t.Error("the arrow key goes back to a completed step")
	}
	r.key(fyne.KeyReturn)
	if r.win.Canvas().Overlays().Top() != nil || r.ended != 1 || !r.tour.Over() {
		t.Errorf("ended %d times", r.ended)
	}
	r.tour.End()
	if r.ended != 1 {
		t.Error("it ended twice")
	}
}

func TestATourIsSkipped(t *testing.T) {
	r := newRound(t)
	r.key(fyne.KeyEscape)
	if r.win.Canvas().Overlays().Top() != nil || r.ended != 1 {
		t.Error("Escape does not skip it")
	}
	r = newRound(t)
	r.win.Canvas().Unfocus() // as the toolkit does where one taps next to the card
	test.Tap(r.tour)
	if r.key(fyne.KeyEscape); r.win.Canvas().Overlays().Top() != nil || r.ended != 1 {
		t.Error("after a tap next to it, Escape does not skip it")
	}
	r = newRound(t)
	test.Tap(&r.tour.skip.Button)
	if r.win.Canvas().Overlays().Top() != nil || r.ended != 1 {
		t.Error("Skip does not skip it")
	}
}

// TestTheCardIsBesideItsTarget checks that the card is in view, does not cover its target, and follows it.
func TestTheCardIsBesideItsTarget(t *testing.T) {
	r := newRound(t)
	apart := func(what string, o fyne.CanvasObject) {
		t.Helper()
		c, at := r.tour.card, fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
		right, bottom := c.Position().X+c.Size().Width, c.Position().Y+c.Size().Height
		whole := r.win.Canvas().Size()
		if c.Position().X < 0 || c.Position().Y < 0 || right > whole.Width || bottom > whole.Height {
			t.Errorf("%s: the card is at %v, %v", what, c.Position(), c.Size())
		}
		if right > at.X && c.Position().X < at.X+o.Size().Width && bottom > at.Y && c.Position().Y < at.Y+o.Size().Height {
			t.Errorf("%s: the card at %v, %v lies over the target at %v, %v", what, c.Position(), c.Size(), at, o.Size())
		}
	}
	apart("at the left", r.one)
	r.tour.Go(1)
	apart("at the right", r.two)
	before := r.tour.card.Position()
	r.win.Resize(fyne.NewSize(700, 500))
	r.tour.Resize(r.win.Canvas().Size())
	r.tour.Follow()
	if r.tour.card.Position() == before {
		t.Error("the card does not follow its target")
	}
	apart("in a smaller window", r.two)
}
