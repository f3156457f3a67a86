// Package surveys asks the agents of runs questions: a survey is a fork that executes a questionnaire for one cycle.
package surveys

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Newest stands for the newest checkpoint of a run.
const Newest = -1

// Launch prepares a survey among the agents of a run, with their memory at the start of a cycle: the newest checkpoint of that cycle, or
// of the run. A survey stands for the run that it was among. Mistakes of the user are *engine.FieldError values.
func Launch(ctx context.Context, store *sqlite.Store, data string, r engine.RunRecord, cycle int, s *survey.Survey, o app.Order) (app.Launch, error) {
	run := r.ID
	if survey.Of(r.Source) != nil {
		run = r.Parent
	}
	number, err := checkpoint(ctx, store, run, cycle)
	if err != nil {
		return app.Launch{}, err
	}
	p, err := app.FindParent(ctx, store, data, run, number)
	if err != nil {
		return app.Launch{}, err
	}
	src, err := s.Scenario(p.Record.Source, p.Record.Title)
	if err != nil {
		return app.Launch{}, err
	}
	asking, err := scenario.Reread(src, p.Given())
	if err != nil {
		return app.Launch{}, fmt.Errorf("the questions do not fit the run: %w", err)
	}
	l, err := p.With(asking, o)
	if err != nil {
		return app.Launch{}, err
	}
	l.Settings.Cycles = p.Point.Cycle + 1
	return l, nil
}

// checkpoint returns the number of the newest checkpoint of a run, or of those at the start of a cycle.
func checkpoint(ctx context.Context, store *sqlite.Store, run engine.RunID, cycle int) (int, error) {
	all, err := store.Checkpoints(ctx, run)
	if err != nil {
		return 0, err
	}
	cycles := map[int]bool{}
	var list string
	for _, c := range all { // newest first
		if cycle == Newest || c.Cycle == cycle {
			return c.Number, nil
		}
		if !cycles[c.Cycle] {
			cycles[c.Cycle] = true
			list = fmt.Sprintf(" %d%s", c.Cycle, list)
		}
	}
	if cycle == Newest {
		return 0, nil // FindParent says that there are none
	}
	return 0, &engine.FieldError{Field: "at", Problem: fmt.Sprintf("%s has no checkpoint at the start of cycle %d", run, cycle), Hint: "there are checkpoints at" + list}
}

// Results counts the answers of a survey. For another run, the error is a *engine.FieldError.
func Results(ctx context.Context, store storage.Reader, run engine.RunID) (*survey.Result, error) {
	record, err := store.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	s := survey.Of(record.Source)
	if s == nil {
		return nil, &engine.FieldError{Field: "run", Problem: string(run) + " is not a survey", Hint: "throngctl survey " + string(run) + " QUESTIONS.yaml asks its agents"}
	}
	return s.Tally(store.Sessions(ctx, run, 0, 0))
}
