package review

import (
	"context"

	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/voices"
)

const (
	// linesPage is how many lines of the transcript are read in one step, and mostPages how many steps are made: of runs with millions
	// of sessions, it takes seconds to read a page.
	linesPage = 2000
	mostPages = 10
)

// Voices measures how different the answers of models are that a run has kept.
func Voices(ctx context.Context, people *history.Agents) (*voices.Crowd, error) {
	var c voices.Collector
	q := view.TranscriptQuery{Agent: -1, Cycle: -1, Most: linesPage}
	for pages := 1; ; pages++ {
		page, err := people.Transcript(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page.Lines {
			if l := &page.Lines[i]; l.Kind == view.SaidLine && l.Text != "" {
				c.Add(voices.Answer{Agent: l.Agent, Step: engine.StepName(l.Step), Text: l.Text})
			}
		}
		if page.More && pages < mostPages && people.Record.Settings.KeepContent > 0 {
			q.From = page.Next
			continue
		}
		crowd, err := c.Crowd(people.Program.Persona)
		if err != nil {
			return nil, err
		}
		crowd.Note = page.Note
		if page.More && crowd.Note == "" {
			crowd.Note = "Only the first answers of the run are compared."
		}
		return crowd, nil
	}
}
