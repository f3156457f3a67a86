package live

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/timeline"
	"github.com/throng-sim/throng/ui/internal/turn"
)

// sessions shows the sessions of an agent: a timeline of one session, and the exchanges of one step.
type sessions struct {
	agents   *agents
	content  *fyne.Container
	halves   *fyne.Container // the timeline and the text below it
	choice   *widget.Select
	why      *form.Note
	timeline *timeline.Timeline
	scroll   *container.Scroll // of the timeline
	facts    *form.Note
	asked    *widget.Label

	all   []engine.AgentTurn
	doing *engine.Activity // what the session in progress is doing; nil if none
	place *engine.Place    // the chosen session; nil is the newest
	path  string           // the chosen step
	quiet bool             // the choice is set by the program
}

func newSessions(a *agents) *sessions {
	s := &sessions{agents: a, why: form.NewNote(""), facts: form.NewNote(""), timeline: timeline.New(), asked: selectable(fyne.TextWrapBreak)}
	s.asked.TextStyle.Monospace = true
	s.choice = widget.NewSelect(nil, func(string) { s.choose() })
	s.choice.PlaceHolder = "No sessions"
	s.timeline.OnSelected = func(bar int) {
		s.path = s.stepPath(bar)
		s.showStep()
	}
	s.timeline.OnHovered = s.sayFacts
	s.timeline.OnEscape = a.close
	s.timeline.OnReveal = s.reveal
	s.scroll = container.NewVScroll(s.timeline)
	s.why.Lines, s.facts.Lines = 2, 2
	below := container.NewBorder(s.facts, nil, nil, nil, container.NewVScroll(form.NewCompact(s.asked)))
	s.halves = container.New(leading{s.timeline}, s.scroll, below)
	s.content = container.NewBorder(s.why, nil, nil, nil, s.halves)
	return s
}

// forget drops the sessions and the choice.
func (s *sessions) forget() { s.all, s.place, s.path = nil, nil, "" }

// show shows the sessions of an agent and keeps the user's choice.
func (s *sessions) show(v *engine.AgentView) {
	s.all, s.doing = s.until(v), v.Activity
	titles := make([]string, len(s.all))
	for i := range s.all {
		titles[i] = turn.Title(&s.all[i])
	}
	s.quiet = true
	if !slices.Equal(s.choice.Options, titles) {
		s.choice.SetOptions(titles)
	}
	if at := s.index(); at < 0 {
		s.choice.ClearSelected()
	} else if s.choice.SelectedIndex() != at {
		s.choice.SetSelectedIndex(at)
	}
	s.quiet = false
	s.showSession()
}

// until returns the sessions that had started by the shown moment.
func (s *sessions) until(v *engine.AgentView) []engine.AgentTurn {
	m := &s.agents.shown
	all := slices.Clone(v.Sessions)
	if !m.live && !m.at.IsZero() {
		all = slices.DeleteFunc(all, func(t engine.AgentTurn) bool { return t.Started.After(m.at) })
	}
	for i := range all {
		if all[i].Outcome == engine.Unfinished {
			all[i] = turn.Ongoing(all[i], v.Activity, m.at)
		}
	}
	return all
}

// index returns the index of the shown session, or -1.
func (s *sessions) index() int {
	if s.place != nil {
		if i := slices.IndexFunc(s.all, func(t engine.AgentTurn) bool { return t.Place == *s.place }); i >= 0 {
			return i
		}
	}
	return min(0, len(s.all)-1)
}

// turn returns the shown session, or nil.
func (s *sessions) turn() *engine.AgentTurn {
	if i := s.index(); i >= 0 {
		return &s.all[i]
	}
	return nil
}

// choose handles the user's choice of a session. Choosing the newest one follows the newest.
func (s *sessions) choose() {
	i := s.choice.SelectedIndex()
	if s.quiet || i < 0 || i >= len(s.all) {
		return
	}
	s.place = nil
	if i > 0 {
		place := s.all[i].Place
		s.place = &place
	}
	s.showSession()
}

func (s *sessions) showSession() {
	t := s.turn()
	if t == nil {
		s.why.SetText("Sessions appear here after the agent's first session starts.")
		see(s.why, true)
		s.timeline.Set(timeline.Session{})
		s.facts.SetText("")
		set(s.asked, "")
		return
	}
	s.why.SetText(turn.Why(t))
	see(s.why, s.why.Text() != "")
	var doing *engine.Activity
	if t.Outcome == engine.Unfinished {
		doing = s.doing
	}
	s.timeline.Set(turn.Timeline(t, doing))
	s.timeline.Select(s.step())
	s.showStep()
	s.content.Refresh()
	s.halves.Refresh()
}

// step returns the bar of the chosen step, or of the step that failed the session, or -1.
func (s *sessions) step() int {
	t := s.turn()
	path := s.path
	switch {
	case path != "":
	case t.Outcome == engine.Unfinished && s.doing != nil:
		path = s.doing.Path
	case t.Outcome != engine.OK:
		path = t.Path
	}
	return slices.IndexFunc(t.Steps, func(r engine.StepRecord) bool { return r.Path == path && path != "" })
}

func (s *sessions) stepPath(bar int) string {
	if t := s.turn(); t != nil && bar >= 0 && bar < len(t.Steps) {
		return t.Steps[bar].Path
	}
	return ""
}

// sayFacts shows the figures of a step, or of the chosen one.
func (s *sessions) sayFacts(bar int) {
	if bar < 0 {
		bar = s.timeline.Selected()
	}
	if path := s.stepPath(bar); path != "" {
		t := s.turn()
		says := turn.Facts(&t.Steps[bar])
		if d := s.doing; t.Outcome == engine.Unfinished && d != nil && d.Path == path {
			says = "in progress"
			if d.ThrottledBy != "" {
				says = "throttled: " + d.ThrottledBy
			}
		}
		s.facts.Say(path + ": " + says)
	} else if s.turn() != nil {
		s.facts.SetText("Choose a step to see its requests and answers.")
	}
}

func (s *sessions) showStep() {
	bar := s.timeline.Selected()
	s.sayFacts(bar)
	path := s.stepPath(bar)
	if path == "" {
		set(s.asked, "")
		return
	}
	t := s.turn()
	text := turn.Exchanges(t, path)
	if text == "" && t.Steps[bar].Attempts > 0 {
		text = "No exchanges were recorded. Watch the agent to record them from its next step on."
	}
	set(s.asked, text)
}

// reveal scrolls to show a range of heights of the timeline.
func (s *sessions) reveal(top, bottom float32) {
	to := s.scroll.Offset
	to.Y = max(min(to.Y, top), bottom-s.scroll.Size().Height)
	if to != s.scroll.Offset {
		s.scroll.ScrollToOffset(to)
	}
}

// leading lays out two objects: the first at the height of its scrolled content, up to a share of the total, and the second in the rest.
type leading struct{ of fyne.CanvasObject }

// mostLeading is the maximum share of the first object.
const mostLeading = 0.58

// MinSize implements [fyne.Layout].
func (l leading) MinSize(objects []fyne.CanvasObject) fyne.Size {
	first, second := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(max(first.Width, second.Width, l.of.MinSize().Width), first.Height+second.Height)
}

// Layout implements [fyne.Layout].
func (l leading) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	high := min(l.of.MinSize().Height, mostLeading*size.Height)
	gap := theme.Padding()
	objects[0].Resize(fyne.NewSize(size.Width, high))
	objects[0].Move(fyne.NewPos(0, 0))
	objects[1].Resize(fyne.NewSize(size.Width, max(size.Height-high-gap, 0)))
	objects[1].Move(fyne.NewPos(0, high+gap))
}
