// Package tour shows a tour of a window: a strip with the steps, and a ring around what the current step is about. The window stays usable
// during the tour, and a step is complete when the user has done it. It takes values and calls back.
package tour

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Step is something that the user does during a tour.
type Step struct {
	Title string
	Hints []Hint
	// Now returns the index of the hint to show, or Done. It is called repeatedly, also for later steps, until it returns Done.
	Now func() int
}

// Done is the state of a step that is complete.
const Done = -1

// Hint says what to do next in a step.
type Hint struct {
	Text string
	// Target returns what to use; nothing is marked if it is nil or returns a hidden object.
	Target func() fyne.CanvasObject
	Way    string // text of a button that opens the screen of the step; "" for no button
	Do     func() // of the button
	Shown  func() // called when the hint appears; may be nil
}

// Tour is a tour in progress. Call its methods on the UI goroutine.
type Tour struct {
	widget.BaseWidget
	steps     []Step
	ended     func()
	completed []bool
	at        int // the first step that is not complete; len(steps) if all are
	hint      int // of the current step
	shown     bool

	chips   []*chip
	counter *widgets.Text // "2 of 4", where the chips do not fit
	notes   []*form.Note  // all hints, and the last words
	ways    []*widget.Button
	last    int // index of the last words
	close   *widget.Button
	content fyne.CanvasObject
	rows    *fyne.Container
	ring    *ring
}

// New returns a tour; finally is the text after the last step, and ended is called once, when the user has closed or skipped the tour.
func New(steps []Step, finally string, ended func()) *Tour {
	t := &Tour{steps: steps, ended: ended, completed: make([]bool, len(steps)), counter: widgets.NewText(""), ring: newRing()}
	t.counter.SetColor(widgets.ColorMuted)
	t.close = widget.NewButton("Skip tour", t.End)
	t.close.Importance = widget.LowImportance
	head, body := []fyne.CanvasObject{t.counter}, []fyne.CanvasObject{}
	for i := range steps {
		c := newChip(steps[i].Title)
		t.chips, head = append(t.chips, c), append(head, c)
		for _, h := range steps[i].Hints {
			body = append(body, t.add(h)...)
		}
	}
	t.last = len(t.notes)
	body = append(body, t.add(Hint{Text: finally})...)
	t.rows = form.NewStack(container.New(&headRow{t}, append(head, t.close)...), container.New(&hintRow{t}, body...))
	t.content = newStrip(t.rows)
	t.ExtendBaseWidget(t)
	t.Follow()
	return t
}

// add adds a hint, and returns its objects.
func (t *Tour) add(h Hint) []fyne.CanvasObject {
	note := form.NewNote("")
	note.TextSize = theme.SizeNameText
	note.Say(h.Text)
	way := widget.NewButton(h.Way, h.Do)
	way.Importance = widget.HighImportance
	note.Hide()
	way.Hide()
	t.notes, t.ways = append(t.notes, note), append(t.ways, way)
	return []fyne.CanvasObject{note, way}
}

// Ring returns the ring around the target. It belongs above the window's content and does not take any events.
func (t *Tour) Ring() fyne.CanvasObject { return t.ring.layer }

// End ends the tour.
func (t *Tour) End() {
	if t.ended != nil {
		ended := t.ended
		t.ended = nil
		t.ring.mark(nil)
		ended()
	}
}

// Over reports whether the tour has ended.
func (t *Tour) Over() bool { return t.ended == nil }

// Complete reports whether the user has done every step.
func (t *Tour) Complete() bool { return t.at == len(t.steps) }

// Follow shows the current step. Call it repeatedly.
func (t *Tour) Follow() {
	if t.Over() {
		return
	}
	hint, at, changed := 0, len(t.steps), !t.shown
	for i := range t.steps {
		if t.completed[i] {
			continue
		}
		switch now := t.steps[i].Now(); {
		case now == Done:
			t.completed[i], changed = true, true
		case at == len(t.steps):
			at, hint = i, now
		}
	}
	if changed || at != t.at || hint != t.hint {
		t.at, t.hint, t.shown = at, hint, true
		t.show()
	}
	t.ring.mark(t.target())
}

// show shows the hint and the state of each step.
func (t *Tour) show() {
	at := t.last
	if !t.Complete() {
		at = t.hint
		for i := range t.at {
			at += len(t.steps[i].Hints)
		}
	}
	for i, note := range t.notes {
		note.Hidden = i != at
		t.ways[i].Hidden = i != at || t.ways[i].Text == ""
	}
	for i, c := range t.chips {
		c.show(t.completed[i], i == t.at)
	}
	t.counter.SetText(count(t.at, len(t.steps)))
	if t.Complete() {
		t.close.SetText("Close")
		t.close.Importance = widget.HighImportance
	}
	t.close.Refresh()
	t.rows.Refresh()
	if !t.Complete() {
		if shown := t.steps[t.at].Hints[t.hint].Shown; shown != nil {
			shown()
		}
	}
}

// target returns what the current hint is about, or nil.
func (t *Tour) target() fyne.CanvasObject {
	if t.Complete() {
		return nil
	}
	of := t.steps[t.at].Hints[t.hint].Target
	if of == nil {
		return nil
	}
	return of()
}

// Parts returns the parts of the tour.
func (t *Tour) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{t.content} }

// CreateRenderer implements [fyne.Widget].
func (t *Tour) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(t.content) }

// ring marks an object. Without a graphics card, a rectangle with round corners costs as much as a chart; its sides do not.
type ring struct {
	layer *fyne.Container // over the window
	frame *fyne.Container
	sides [4]*canvas.Rectangle
	at    fyne.Position
	size  fyne.Size
}

// ringWidth is the width of the ring.
const ringWidth = 3

func newRing() *ring {
	r := &ring{frame: container.NewWithoutLayout()}
	for i := range r.sides {
		r.sides[i] = canvas.NewRectangle(nil)
		r.frame.Add(r.sides[i])
	}
	r.frame.Hide()
	r.layer = container.NewWithoutLayout(r.frame)
	return r
}

// mark puts the ring around an object; nil or a hidden object hides it.
func (r *ring) mark(o fyne.CanvasObject) {
	if o == nil || !o.Visible() || o.Size().IsZero() {
		r.frame.Hide()
		return
	}
	driver := fyne.CurrentApp().Driver()
	gap := theme.Padding()
	at := driver.AbsolutePositionForObject(o).Subtract(driver.AbsolutePositionForObject(r.layer)).SubtractXY(gap, gap)
	size := o.Size().AddWidthHeight(2*gap, 2*gap)
	color := theme.Color(theme.ColorNamePrimary)
	if r.frame.Visible() && r.at == at && r.size == size && r.sides[0].FillColor == color {
		return
	}
	r.at, r.size = at, size
	across, down := fyne.NewSize(size.Width, ringWidth), fyne.NewSize(ringWidth, size.Height)
	for i, side := range []struct {
		at   fyne.Position
		size fyne.Size
	}{{at, across}, {at.AddXY(0, size.Height-ringWidth), across}, {at, down}, {at.AddXY(size.Width-ringWidth, 0), down}} {
		r.sides[i].FillColor = color
		r.sides[i].Move(side.at)
		r.sides[i].Resize(side.size)
	}
	r.frame.Show()
	r.frame.Refresh()
}
