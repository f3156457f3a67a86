// Package tour shows a tour of a window: it darkens everything except a target, and explains the target. It takes values and calls back.
package tour

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Step is a page of a tour.
type Step struct {
	Title, Text string
	// Target returns the explained object; nil or a hidden object means the whole window.
	Target func() fyne.CanvasObject
	Next   string // text of the button for the next step; "" is Next, or Done in the last step
	// Do, if set, is called instead of showing the next step.
	Do func()
}

// Tour is a tour in progress. Call its methods on the UI goroutine.
type Tour struct {
	widget.BaseWidget
	canvas fyne.Canvas
	steps  []Step
	ended  func()
	at     int
	shown  bool

	title            *widgets.Text
	text, place      *form.Note
	skip, back, next *key
	card             fyne.CanvasObject
	spot             spot // the target's place at the last layout
}

// spot is a place in the window.
type spot struct {
	at   fyne.Position
	size fyne.Size
}

// New returns a tour of a window; ended is called once, when the user has completed or skipped it.
func New(c fyne.Canvas, steps []Step, ended func()) *Tour {
	t := &Tour{canvas: c, steps: steps, ended: ended, title: widgets.NewHeading(""), text: form.NewNote(""), place: form.NewNote("")}
	t.text.TextSize = theme.SizeNameText
	t.skip, t.back, t.next = newKey("Skip", t, t.End), newKey("Back", t, func() { t.Go(t.at - 1) }), newKey("", t, t.proceed)
	t.skip.Importance, t.next.Importance = widget.LowImportance, widget.HighImportance
	buttons := container.NewHBox(t.skip, layout.NewSpacer(), t.back, t.next)
	t.card = widgets.NewPanel("", form.NewPanels(form.NewStack(t.place, t.title, t.text), buttons))
	t.ExtendBaseWidget(t)
	return t
}

// Go shows a step; the first is 0.
func (t *Tour) Go(step int) {
	t.at = min(max(step, 0), len(t.steps)-1)
	s := t.steps[t.at]
	t.place.SetText(fmt.Sprintf("%d of %d", t.at+1, len(t.steps)))
	t.title.SetText(s.Title)
	t.text.Say(s.Text)
	next := s.Next
	switch {
	case next != "":
	case t.at == len(t.steps)-1:
		next = "Done"
	default:
		next = "Next"
	}
	t.next.SetText(next)
	t.skip.Hidden = t.at == len(t.steps)-1
	t.back.Hidden = !t.returns()
	if !t.shown {
		t.shown = true
		t.canvas.Overlays().Add(t)
		t.Resize(t.canvas.Size())
	}
	t.Refresh()
	t.canvas.Focus(t.next)
}

// Rest hides the tour; Go shows it again.
func (t *Tour) Rest() {
	if t.shown {
		t.shown = false
		t.canvas.Overlays().Remove(t)
	}
}

// End ends the tour.
func (t *Tour) End() {
	t.Rest()
	if t.ended != nil {
		ended := t.ended
		t.ended = nil
		ended()
	}
}

// Over reports whether the tour has ended.
func (t *Tour) Over() bool { return t.ended == nil }

// Follow draws the tour again if its target has moved.
func (t *Tour) Follow() {
	if t.shown && t.target() != t.spot {
		t.Refresh()
	}
}

func (t *Tour) proceed() {
	switch s := t.steps[t.at]; {
	case s.Do != nil:
		s.Do()
	case t.at == len(t.steps)-1:
		t.End()
	default:
		t.Go(t.at + 1)
	}
}

// returns reports whether the user can go back. A step with an action cannot be undone.
func (t *Tour) returns() bool { return t.at > 0 && t.steps[t.at-1].Do == nil }

// typed handles keys that the buttons do not use.
func (t *Tour) typed(name fyne.KeyName) bool {
	switch name {
	case fyne.KeyEscape:
		t.End()
	case fyne.KeyLeft:
		if t.returns() {
			t.Go(t.at - 1)
		}
	case fyne.KeyRight:
		if t.steps[t.at].Do == nil && t.at < len(t.steps)-1 {
			t.Go(t.at + 1)
		}
	default:
		return false
	}
	return true
}

// target returns the place of the step's target.
func (t *Tour) target() spot {
	of := t.steps[t.at].Target
	if of == nil {
		return spot{}
	}
	o := of()
	if o == nil || !o.Visible() || o.Size().IsZero() {
		return spot{}
	}
	return spot{fyne.CurrentApp().Driver().AbsolutePositionForObject(o), o.Size()}
}

// Tapped keeps taps from the objects below, and restores the focus, which the toolkit has taken from the buttons.
func (t *Tour) Tapped(*fyne.PointEvent) { t.canvas.Focus(t.next) }

// Parts returns the parts of the tour.
func (t *Tour) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{t.card} }

// CreateRenderer implements [fyne.Widget].
func (t *Tour) CreateRenderer() fyne.WidgetRenderer {
	r := &renderer{tour: t, frame: canvas.NewRectangle(nil)}
	for i := range r.shade {
		r.shade[i] = canvas.NewRectangle(nil)
	}
	r.Refresh()
	return r
}

// key is a button of the tour that also handles the tour's keys.
type key struct {
	widget.Button
	tour *Tour
}

func newKey(text string, t *Tour, tapped func()) *key {
	k := &key{tour: t}
	k.Text, k.OnTapped = text, tapped
	k.ExtendBaseWidget(k)
	return k
}

// TypedKey implements [fyne.Focusable].
func (k *key) TypedKey(e *fyne.KeyEvent) {
	switch {
	case k.tour.typed(e.Name):
	case e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter:
		k.OnTapped()
	default:
		k.Button.TypedKey(e)
	}
}
