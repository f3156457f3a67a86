package live

import (
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// header shows the run's name, state and progress, its buttons, and at most one message.
type header struct {
	content      fyne.CanvasObject
	title        *widgets.Title
	phase, exact *widgets.Badge
	past         *widgets.Badge  // shown in the history
	name         *fyne.Container // title and badges
	bar          *fyne.Container // title, badges and buttons
	state        *widgets.Line
	banner       *banner
	progress     *widgets.Progress
}

func newHeader(win fyne.Window, o *orders) *header {
	h := &header{
		title: widgets.NewTitle(theme.SizeNameSubHeadingText),
		phase: widgets.NewBadge("", widgets.Accent), exact: widgets.NewBadge("", widgets.Warning), past: widgets.NewBadge("", widgets.Accent),
		state: widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet), progress: widgets.NewProgress(),
	}
	h.banner = newBanner(win, container.New(middle{}, widgets.NewHint(h.state, simulatedHint)))
	h.banner.probe.OnTapped = func() { o.probeService(h.banner.shown.probe) }
	h.name = container.New(inline{h.title}, h.title, h.phase, h.exact, h.past)
	h.bar = container.New(&leftRight{least: 20}, h.name, o.buttons)
	h.content = widgets.NewPanel("", container.NewVBox(h.bar, h.progress, h.banner.content))
	return h
}

func (h *header) begin(job *Job) {
	h.title.Set(job.Title, widgets.Neutral)
	h.name.Refresh()
}

// draw shows a feed.
func (h *header) draw(s *Screen, f *feed) {
	h.badges(f)
	h.progress.Set(progress(f))
	if f.past {
		h.state.Set(asOf(f), widgets.Accent)
	} else {
		h.state.Set(state(s.job, f.snap), widgets.Quiet)
	}
	h.drawBanner(s)
}

// drawBanner shows the most important message, if there is any.
func (h *header) drawBanner(s *Screen) { h.banner.say(s.message()) }

// message returns what the banner says now: the result of the last order, why the run failed, its problems, or why its
// results are not sent.
func (s *Screen) message() message {
	if n := &s.orders.notice; n.fresh(s.now()) {
		return message{text: n.text, tone: n.tone}
	}
	f := s.feed
	if f == nil || s.history.feed != nil {
		return message{}
	}
	if why := failure(f); why != "" {
		first, rest, _ := strings.Cut(why, "\n")
		return message{text: first, tone: widgets.Bad, why: rest}
	}
	if f.snap.Phase == engine.Draining {
		return stopping(f.snap)
	}
	if why := workers.Waits(f.workers); why != "" && f.snap.Phase == engine.Running && !f.past {
		return message{text: words.Sentence(why) + " The run waits until one does.", tone: widgets.Warning}
	}
	if text, tone := alarm(f.snap, s.logged()); text != "" {
		m := message{text: strings.ToUpper(text[:1]) + text[1:], tone: tone, why: remedy(f.snap)}
		if away := view.Unavailable(f.snap); len(away) > 0 && !f.past {
			m.probe = away[0].Name
		}
		return m
	}
	if _, away := results(s.job, s.desk); away != "" {
		return message{text: away, tone: widgets.Warning, why: "Results are kept on this machine and sent when the database answers again. Nothing is lost."}
	}
	if p := f.snap.Phase; p == engine.Paused && f.snap.Reason != "" {
		return message{text: "Paused: " + f.snap.Reason, tone: widgets.Accent}
	}
	return message{}
}

// stopping says what a run that is stopping waits for, and how to stop now.
func stopping(s *engine.Snapshot) message {
	says := "Sessions in flight end first; Force stop cancels them."
	if last := view.WaitsFor(s); last != "" {
		says = words.Sentence(last) + " Force stop, in the Stop menu, cancels them."
	}
	return message{
		text: words.Sentence(orNoReason(s.Reason)) + " " + says, tone: widgets.Accent,
		why: "Canceled sessions run again when the run is resumed. A checkpoint is taken in any case.",
	}
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
	inexact, past := "", ""
	if f.snap.Inexact != nil {
		inexact = "inexact"
	}
	if f.past {
		past = "in the history"
	}
	moved := h.phase.Text() != word || h.exact.Text() != inexact || h.past.Text() != past
	h.phase.Set(word, tone)
	h.exact.Set(inexact, widgets.Warning)
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

// progress returns the progress of a run, as text and as a share.
func progress(f *feed) (left, right string, share float64) {
	s := f.snap
	left = view.DoneIn(s).WithCycles(s.Cycle, s.Cycles)
	right = view.SharePercent(s)
	switch rest := view.TimeLeft(s); {
	case f.past:
	case workers.Waits(f.workers) != "" && s.Phase == engine.Running:
		right += ", waits for a worker"
	case rest != "":
		right += ", " + rest
	case s.Phase == engine.Paused || s.Phase == engine.Draining: // the banner takes the place of the line with the elapsed time
		right += ", " + engine.FormatDuration(elapsed(s)) + " elapsed"
	}
	return left, right, view.Share(s)
}
