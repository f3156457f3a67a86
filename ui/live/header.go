package live

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// header says which run it is, what it is doing and how far it is.
type header struct {
	content      fyne.CanvasObject
	title        *widgets.Line
	phase, exact *widgets.Badge
	name         *fyne.Container // title and badges
	bar          *fyne.Container // they and the buttons
	state        *widgets.Line
	run, cycle   *widgets.Progress

	simulated, elapsed, schedule, saved, events, results *widgets.Tile
}

func newHeader(o *orders) *header {
	h := &header{
		title: widgets.NewLine(theme.SizeNameSubHeadingText, widgets.Neutral).Bold(),
		phase: widgets.NewBadge("", widgets.Accent), exact: widgets.NewBadge("", widgets.Good),
		state: widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet),
		run:   widgets.NewProgress(), cycle: widgets.NewProgress(),
		simulated: widgets.NewFact("Simulated time"), elapsed: widgets.NewFact("Elapsed"), schedule: widgets.NewFact("Schedule"),
		saved: widgets.NewFact("Checkpoints"), events: widgets.NewFact("Events"), results: widgets.NewFact("Results"),
	}
	h.name = container.New(inline{h.title}, h.title, h.phase, h.exact)
	h.bar = container.NewBorder(nil, nil, nil, o.buttons, h.name)
	h.content = widgets.NewPanel("", container.NewVBox(
		h.bar,
		h.state,
		o.notice,
		container.New(weighted{2, 1}, h.run, h.cycle),
		container.New(weighted{3, 2, 3, 3, 2, 6}, h.simulated, h.elapsed, h.schedule, h.saved, h.events, h.results),
	))
	return h
}

func (h *header) begin(job *Job) {
	h.title.Set(job.Title, widgets.Neutral)
	h.name.Refresh()
}

func (h *header) draw(job *Job, s *engine.Snapshot, desk Desk) {
	h.badges(s)
	tone := widgets.Quiet
	if s.Phase == engine.Paused || s.Phase == engine.Draining {
		tone = widgets.Neutral
	}
	h.state.Set(state(job, s), tone)
	h.run.Set(done(s))
	h.cycle.Set(cycle(s))
	h.simulated.SetValue(s.SimTime.Format("Mon 2 Jan 15:04"), widgets.Neutral)
	h.elapsed.SetValue(engine.FormatDuration(elapsed(s)), widgets.Neutral)
	h.schedule.SetValue(schedule(job, s))
	h.saved.SetValue(saved(s), widgets.Neutral)
	h.events.SetValue(engine.FormatCount(s.Events), widgets.Neutral)
	h.results.SetValue(results(job, desk))
}

// elapsed is rounded to whole seconds, but for what is shorter than one.
func elapsed(s *engine.Snapshot) time.Duration {
	if s.Phase == engine.Ended && s.Elapsed < time.Second {
		return s.Elapsed
	}
	return s.Elapsed.Truncate(time.Second)
}

// badges moves what stands beside another word.
func (h *header) badges(s *engine.Snapshot) {
	word, tone := phase(s)
	exact, sure := exactness(s)
	moved := h.phase.Text() != word || h.exact.Text() != exact
	h.phase.Set(word, tone)
	h.exact.Set(exact, sure)
	if moved {
		h.name.Refresh()
	}
}

// results says where the results are.
func results(job *Job, desk Desk) (text string, tone widgets.Tone) {
	if job.Remote == "" {
		return "on this machine", widgets.Neutral
	}
	text, healthy := desk.RemoteState()
	switch {
	case text == "":
		return "here and in " + job.Remote, widgets.Neutral
	case healthy:
		return text, widgets.Neutral
	default:
		return text, widgets.Warning
	}
}
