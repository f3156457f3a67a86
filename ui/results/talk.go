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
)

// talk is the transcript and the events of the chosen run, and the choice between them and the summary.
type talk struct {
	screen  *Screen
	choice  *widgets.Segments
	pane    *transcript.Pane
	events  *eventlist.Pane
	content *fyne.Container
	run     engine.RunID // whose transcript is open
}

func newTalk(s *Screen) *talk {
	t := &talk{screen: s, pane: transcript.New(), events: eventlist.New(s.win, time.Now)}
	t.choice = widgets.NewSegments([]string{"Summary", "Transcript", "Events"}, func(int) { t.draw() })
	t.pane.OnOpened = t.open
	t.content = container.NewStack(widgets.NewPanel("", t.pane.Content), t.events.Content)
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
	if t.run != s.chosen {
		t.read()
	}
	r := s.run()
	running := r != nil && r.InProgress
	if chosen == eventsTab {
		t.events.Draw(time.Time{}, running)
	} else {
		t.pane.Draw(running)
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
