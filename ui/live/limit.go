package live

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// mostLimit is the slider's maximum, even if there are more agents.
const mostLimit = 10_000

// The segments of the mode.
const (
	automaticMode = iota
	manualMode
)

// limitPanel is the control of the concurrency limit: its mode, a slider, and what sets it. A hand on the slider takes over
// from the governor.
type limitPanel struct {
	content fyne.CanvasObject
	mode    *widgets.Segments
	active  *widgets.Line
	slider  *widgets.LimitSlider
	note    *widgets.Line
	foot    *fyne.Container // the note, and what to do; hidden in short windows: the mode returns to automatic as well
	back    *widget.Button  // returns to automatic; shown in manual mode
	why     *widget.Button
	steer   *steer
	orders  *orders
	snap    *engine.Snapshot // as drawn
}

func newLimitPanel(o *orders) *limitPanel {
	p := &limitPanel{
		active: widgets.NewLine(theme.SizeNameSubHeadingText, widgets.Accent).Bold(),
		slider: widgets.NewLimitSlider(1, 1), note: widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet),
		steer: &steer{orders: o}, orders: o,
	}
	p.mode = widgets.NewSegments([]string{automaticMode: view.Automatic, manualMode: view.Manual}, p.choose)
	p.slider.OnChanged = func(n int) {
		p.taken(n)
		if !p.slider.Dragging() {
			p.steer.later(n)
		}
	}
	p.slider.OnChangeEnded = func(n int) { p.steer.now(strconv.Itoa(n)) }
	p.back = widget.NewButton("Return to automatic", func() { p.choose(automaticMode) })
	p.why = widget.NewButton("Why this limit?", func() {
		widgets.Tell(o.screen.win, "Concurrency limit", words.NewParagraph(o.screen.win, view.LimitWhy(p.snap, &o.screen.job.Settings)))
	})
	p.why.Importance = widget.LowImportance
	hands := container.New(slots{}, form.NewCompact(p.back), form.NewCompact(p.why))
	left := container.New(layout.NewCustomPaddedHBoxLayout(2*theme.InnerPadding()), container.NewCenter(p.mode), container.New(fixedWidth{"10,000 of 10,000 active"}, p.active))
	p.foot = container.NewBorder(nil, nil, nil, hands, container.New(middle{}, p.note))
	p.content = widgets.NewPanel("", container.NewBorder(nil, p.foot, nil, nil, container.New(&between{}, left, container.NewWithoutLayout(), p.slider)))
	return p
}

// fixedWidth keeps the width of a sample for a line, so that nothing moves when the text changes.
type fixedWidth struct{ sample string }

// MinSize implements [fyne.Layout].
func (f fixedWidth) MinSize(objects []fyne.CanvasObject) fyne.Size {
	width := fyne.MeasureText(f.sample, theme.Size(theme.SizeNameSubHeadingText), fyne.TextStyle{Bold: true}).Width
	return fyne.NewSize(width, objects[0].MinSize().Height)
}

// Layout implements [fyne.Layout].
func (f fixedWidth) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	middle{}.Layout(objects, size)
}

func (p *limitPanel) begin(job *Job) {
	p.steer.begin(job)
	s := &job.Settings
	p.slider.SetRange(1, min(max(job.Agents, s.Ceiling, s.Limit), mostLimit))
}

// draw shows the current limit, except while the user sets it.
func (p *limitPanel) draw(s *engine.Snapshot) {
	p.snap = s
	p.slider.SetUsed(view.InFlight(s))
	if !p.slider.Dragging() && p.steer.settled() {
		p.slider.Set(s.Limit)
		p.show(view.LimitMode(s), s.Limit)
		p.note.Set(words.Drawn(view.LimitNote(s, &p.orders.screen.job.Settings)), widgets.Quiet)
	}
	open := p.orders.live()
	able(p.slider, open)
	able(p.mode, open)
	able(p.back, open)
}

// able enables or disables a widget, if its state differs.
func able(w fyne.Disableable, on bool) {
	switch {
	case w.Disabled() == !on:
	case on:
		w.Enable()
	default:
		w.Disable()
	}
}

// show shows the mode and a limit.
func (p *limitPanel) show(mode string, limit int) {
	shown := *p.snap
	shown.Limit = limit
	p.active.Set(view.Active(&shown), widgets.Accent)
	chosen := automaticMode
	if mode == view.Manual {
		chosen = manualMode
	}
	p.mode.Choose(chosen)
	show(p.back, mode == view.Manual && p.orders.open())
}

// taken shows a limit that the hand has just chosen.
func (p *limitPanel) taken(n int) {
	p.show(view.Manual, n)
	p.note.Set("You set "+engine.FormatCount(int64(n))+".", widgets.Quiet)
}

// choose changes the mode. Manual keeps the current limit.
func (p *limitPanel) choose(mode int) {
	if mode == manualMode {
		p.taken(p.slider.Value())
		p.steer.now(strconv.Itoa(p.slider.Value()))
		return
	}
	p.show(view.Automatic, p.slider.Value())
	p.steer.now(engine.Automatic)
}

// step changes the limit by a number. Several in a row are one change.
func (p *limitPanel) step(by int) {
	if p.orders.live() {
		p.slider.Step(by)
	}
}

// governed reports whether a governor sets the limit.
func governed(s *engine.Snapshot) bool { return view.LimitMode(s) == view.Automatic }
