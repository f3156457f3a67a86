package results

import (
	"context"

	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/transcript"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Source reads the transcript of a run.
type Source = transcript.Source

// The tabs of the screen.
const (
	summaryTab = iota
	transcriptTab
)

// talk is the transcript of the chosen run, and the choice between it and the summary.
type talk struct {
	screen  *Screen
	choice  *widgets.Segments
	pane    *transcript.Pane
	content *widgets.Panel
	run     engine.RunID // whose transcript is open
}

func newTalk(s *Screen) *talk {
	t := &talk{screen: s, pane: transcript.New()}
	t.choice = widgets.NewSegments([]string{"Summary", "Transcript"}, func(int) { t.draw() })
	t.pane.OnOpened = t.open
	t.content = widgets.NewPanel("", t.pane.Content)
	t.content.Hide()
	return t
}

// draw shows the chosen tab, and opens the transcript of the chosen run.
func (t *talk) draw() {
	s := t.screen
	on := t.choice.Chosen() == transcriptTab && s.chosen != "" && len(s.runs) > 0
	if t.content.Visible() != on {
		if on {
			t.content.Show()
		} else {
			t.content.Hide()
		}
	}
	if on {
		s.scroll.Hide()
	} else if len(s.runs) > 0 {
		s.scroll.Show()
	}
	if !on {
		return
	}
	if t.run != s.chosen {
		t.read()
	}
	r := s.run()
	t.pane.Draw(r != nil && r.InProgress)
}

// read opens the transcript of the chosen run.
func (t *talk) read() {
	run := t.screen.chosen
	t.run = run
	t.pane.Open(nil)
	async.Work(func() (Source, error) { return t.screen.desk.Speakers(context.Background(), run) }, func(of Source, err error) {
		switch {
		case t.run != run:
		case err != nil:
			t.screen.trouble.Say("Cannot read the transcript. "+words.Trouble(err), widgets.Bad)
		default:
			t.pane.Open(of)
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
