package live

import (
	"context"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/transcript"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// talk is the transcript of the run.
type talk struct {
	content fyne.CanvasObject
	pane    *transcript.Pane
	screen  *Screen
	phase   engine.Phase
}

func newTalk(s *Screen) *talk {
	t := &talk{pane: transcript.New(), screen: s}
	t.pane.OnOpened = t.open
	t.content = widgets.NewPanel("", t.pane.Content)
	return t
}

// begin shows the transcript of a job.
func (t *talk) begin(job *Job) {
	t.phase = job.Snapshot().Phase
	if job.Transcript == nil {
		t.pane.Open(nil)
		return
	}
	t.pane.Open(speakers{job})
}

func (t *talk) draw(f *feed) {
	if f.snap.Phase == engine.Ended && t.phase != engine.Ended && !f.past {
		t.pane.Again() // the last lines
	}
	t.phase = f.snap.Phase
	t.pane.Until(f.until())
	t.pane.Draw(f.snap.Phase != engine.Ended)
}

// open shows the step of a line in the inspector.
func (t *talk) open(l view.Line) {
	if l.Agent < 0 { // a broadcast
		return
	}
	a := t.screen.agents
	t.screen.tabs.reveal("Agents")
	a.open(l.Agent)
	a.inspector.pages.openStep(engine.Place{Cycle: l.Cycle, Agent: l.Agent, Take: l.Take}, l.Step)
}

// speakers are the agents of a job as a source of transcripts.
type speakers struct{ job *Job }

var _ transcript.Source = speakers{}

func (s speakers) Agents() int {
	if s.job.Population > 0 {
		return s.job.Population
	}
	return s.job.Agents
}

func (s speakers) Name(index int) string { return s.job.Name(index) }

func (s speakers) Search(ctx context.Context, text string, most int) (found []int, more bool, err error) {
	return s.job.Find(ctx, text, most)
}

func (s speakers) Transcript(ctx context.Context, q view.TranscriptQuery) (view.Transcript, error) {
	return s.job.Transcript(ctx, q)
}
