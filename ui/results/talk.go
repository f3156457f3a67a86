package results

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/eventlist"
	"github.com/throng-sim/throng/ui/internal/transcript"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
	"github.com/throng-sim/throng/ui/study"
)

// Source reads the transcript and the events of a run.
type Source interface {
	transcript.Source
	Events(ctx context.Context, q view.EventQuery) (view.Events, error)
}

// The tabs of the screen.
const (
	summaryTab = iota
	transcriptTab
	eventsTab
	realDataTab
	voicesTab
	rulesTab
	surveysTab
)

// talk is the transcript and the events of the chosen run, and the choice between them and the summary.
type talk struct {
	screen  *Screen
	choice  *widgets.Segments
	pane    *transcript.Pane
	events  *eventlist.Pane
	real    *study.RealData // nil without a desk for studies, like the others
	voices  *study.Voices
	rules   *study.Rules
	surveys *study.Surveys
	content *fyne.Container
	run     engine.RunID // whose transcript is open
}

func newTalk(s *Screen) *talk {
	t := &talk{screen: s, pane: transcript.New(), events: eventlist.New(s.win, time.Now)}
	tabs := []string{"Summary", "Transcript", "Events"}
	t.pane.OnOpened = t.open
	t.content = container.NewStack(widgets.NewPanel("", t.pane.Content), t.events.Content)
	if s.studies != nil {
		tabs = append(tabs, "Real data", "Voices", "Rules", "Surveys")
		t.real, t.voices, t.rules = study.NewRealData(s.studies, s.win), study.NewVoices(s.studies, s.win), study.NewRules(s.studies, s.win)
		t.surveys = study.NewSurveys(s.studies, s.win, func(run engine.RunID) { s.to.Ask(run) })
		t.content.Objects = append(t.content.Objects, t.real.Content, t.voices.Content, t.rules.Content, t.surveys.Content)
	}
	t.choice = widgets.NewSegments(tabs, func(int) { t.draw() })
	t.content.Hide()
	return t
}

// draw shows the chosen tab, and opens the transcript and the events of the chosen run.
func (t *talk) draw() {
	s := t.screen
	chosen := t.choice.Chosen()
	on := chosen != summaryTab && s.chosen != "" && len(s.runs) > 0
	see(t.content, on)
	if on {
		s.scroll.Hide()
	} else if len(s.runs) > 0 {
		s.scroll.Show()
	}
	if !on {
		return
	}
	for i, tab := range t.content.Objects {
		see(tab, i == chosen-transcriptTab)
	}
	r := s.run()
	if chosen >= realDataTab {
		t.study(chosen, r)
		return
	}
	if t.run != s.chosen {
		t.read()
	}
	running := r != nil && r.InProgress
	if chosen == eventsTab {
		t.events.Draw(time.Time{}, running)
	} else {
		t.pane.Draw(running)
	}
}

// study shows a run in a tab for studies.
func (t *talk) study(tab int, r *engine.RunRecord) {
	switch {
	case r == nil:
	case tab == realDataTab:
		t.real.Show(r)
	case tab == voicesTab:
		t.voices.Show(r)
	case tab == rulesTab:
		t.rules.Show(r)
	case tab == surveysTab:
		t.surveys.Offer(t.screen.to.Ask != nil)
		t.surveys.Show(r)
	}
}

// see shows or hides an object.
func see(o fyne.CanvasObject, on bool) {
	switch {
	case o.Visible() == on:
	case on:
		o.Show()
	default:
		o.Hide()
	}
}

// read opens the transcript and the events of the chosen run.
func (t *talk) read() {
	run := t.screen.chosen
	t.run = run
	t.pane.Open(nil)
	t.events.Open(nil)
	async.Work(func() (Source, error) { return t.screen.desk.Speakers(context.Background(), run) }, func(of Source, err error) {
		switch {
		case t.run != run:
		case err != nil:
			t.screen.trouble.Say("Cannot read the transcript and the events. "+words.Trouble(err), widgets.Bad)
		default:
			t.pane.Open(of)
			t.events.Open(of.Events)
			t.draw()
		}
	})
}

// open shows a line with the prompt that it answers.
func (t *talk) open(l view.Line) {
	win := t.screen.win
	body := container.NewVBox(words.NewParagraph(win, l.Sentence()))
	if l.Prompt != "" {
		body.Add(widgets.NewHeading("Prompt"))
		body.Add(words.NewParagraph(win, l.Prompt))
	}
	widgets.Tell(win, l.ID+", "+l.Step, container.NewVScroll(body))
}
