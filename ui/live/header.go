package live

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// header shows the run's name, state and progress.
type header struct {
	content      fyne.CanvasObject
	title        *widgets.Line
	phase, exact *widgets.Badge
	past         *widgets.Badge  // shown in the history
	name         *fyne.Container // title and badges
	bar          *fyne.Container // title, badges and buttons
	state        *widgets.Line
	why          *widgets.Notice // why the run ended early, and what to change
	away         *widgets.Notice // why results are not being sent
	run, cycle   *widgets.Progress

	simulated, elapsed, cost, schedule, saved, events, results *widgets.Tile
}

func newHeader(o *orders) *header {
	h := &header{
		title: widgets.NewLine(theme.SizeNameSubHeadingText, widgets.Neutral).Bold(),
		phase: widgets.NewBadge("", widgets.Accent), exact: widgets.NewBadge("", widgets.Good), past: widgets.NewBadge("", widgets.Accent),
		state: widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet),
		why:   widgets.NewNotice(), away: widgets.NewNotice(),
		run: widgets.NewProgress(), cycle: widgets.NewProgress(),
		simulated: widgets.NewFact("Simulated time"), elapsed: widgets.NewFact("Elapsed"), cost: widgets.NewFact("Cost so far"), schedule: widgets.NewFact("Schedule"),
		saved: widgets.NewFact("Checkpoints"), events: widgets.NewFact("Events"), results: widgets.NewFact("Results"),
	}
	h.name = container.New(inline{h.title}, h.title, h.phase, h.exact, h.past)
	h.bar = container.New(&leftRight{least: 24}, h.name, o.buttons)
	h.content = widgets.NewPanel("", container.NewVBox(
		h.bar,
		h.state,
		h.why,
		o.notice,
		container.New(weighted{2, 1}, h.run, h.cycle),
		container.New(&rows{ems: 8, weights: weighted{7, 4, 9, 8, 9, 5, 8}}, h.simulated, h.elapsed, h.cost, h.schedule, h.saved, h.events, h.results),
		h.away,
	))
	return h
}

func (h *header) begin(job *Job) {
	h.title.Set(job.Title, widgets.Neutral)
	h.name.Refresh()
}

// draw shows a feed, and reports whether the height changes.
func (h *header) draw(job *Job, f *feed, desk Desk) (changed bool) {
	s := f.snap
	h.badges(f)
	if f.past {
		h.state.Set(asOf(f), widgets.Accent)
	} else {
		tone := widgets.Quiet
		if s.Phase == engine.Paused || s.Phase == engine.Draining {
			tone = widgets.Neutral
		}
		h.state.Set(state(job, s), tone)
	}
	h.run.Set(done(s))
	h.cycle.Set(cycle(s))
	h.simulated.SetValue(s.SimTime.Format("Mon 2 Jan 15:04"), widgets.Neutral)
	h.elapsed.SetValue(engine.FormatDuration(elapsed(s)), widgets.Neutral)
	h.cost.SetValue(cost(s))
	h.schedule.SetValue(schedule(job, s))
	h.saved.SetValue(saved(s), widgets.Neutral)
	events := engine.FormatCount(s.Events)
	if f.past {
		events += " in its cycle"
	}
	h.events.SetValue(events, widgets.Neutral)
	why, explained := failure(f), h.why.Visible()
	h.why.Say(why, widgets.Bad)
	where, away := results(job, desk)
	tone, visible := widgets.Neutral, h.away.Visible()
	if away != "" {
		tone = widgets.Warning
	}
	h.results.SetValue(where, tone)
	h.away.Say(away, tone)
	return visible != h.away.Visible() || explained != h.why.Visible()
}

// elapsed returns the elapsed time, in whole seconds while the run is in progress.
func elapsed(s *engine.Snapshot) time.Duration {
	if s.Phase == engine.Ended {
		return s.Elapsed
	}
	return s.Elapsed.Truncate(time.Second)
}

// badges shows the badges and lays them out again if a text has changed.
func (h *header) badges(f *feed) {
	word, tone := phase(f.snap)
	exact, sure := exactness(f.snap)
	past := ""
	if f.past {
		past = "in the history"
	}
	moved := h.phase.Text() != word || h.exact.Text() != exact || h.past.Text() != past
	h.phase.Set(word, tone)
	h.exact.Set(exact, sure)
	h.past.Set(past, widgets.Accent)
	if moved {
		h.name.Refresh()
	}
}

// results returns where the results are stored and why they are not sent, or "" if they are.
func results(job *Job, desk Desk) (where, away string) {
	if job.Remote == "" {
		return "on this machine", ""
	}
	text, healthy := desk.RemoteState()
	switch {
	case text == "":
		return "here and in " + job.Remote, ""
	case healthy:
		return text, ""
	default:
		return "kept here", text
	}
}
