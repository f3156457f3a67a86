// Package surveys asks the agents of runs questions: a survey is a fork that executes a questionnaire for one cycle.
package surveys

import (
	"context"
	"errors"
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/engine/survey/questionnaire"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Launch prepares a survey among the agents of a run, with their memory at the start of a cycle: the newest checkpoint of that cycle, or
// of the run. A survey stands for the run that it was among. Mistakes of the user are *engine.FieldError values.
func Launch(ctx context.Context, store *sqlite.Store, data string, q survey.Order, o app.Order) (app.Launch, error) {
	r, err := subject(ctx, store, q.Run)
	if err != nil {
		return app.Launch{}, err
	}
	number, err := checkpoint(ctx, store, r.ID, q.Cycle)
	if err != nil {
		return app.Launch{}, err
	}
	p, err := app.FindParent(ctx, store, data, r.ID, number)
	if err != nil {
		return app.Launch{}, err
	}
	src, err := q.Survey.Scenario(p.Record.Source, p.Record.Title)
	if err != nil {
		return app.Launch{}, err
	}
	asking, err := scenario.Reread(src, p.Given())
	if err != nil {
		if err := questionnaire.Check(q, p.Record.Source, p.Given()); err != nil {
			return app.Launch{}, err
		}
		return app.Launch{}, fmt.Errorf("the questions do not fit the run: %w", err)
	}
	l, err := p.With(asking, o)
	if err != nil {
		return app.Launch{}, err
	}
	l.Settings.Cycles = p.Point.Cycle + 1
	l.Settings.Agents, l.Settings.Filter = nil, q.Agents
	if _, err := l.Scenario.Program(l.Settings.Seed).Active(ctx, &l.Settings); err != nil {
		if none, ok := errors.AsType[*engine.FieldError](err); ok {
			return app.Launch{}, &engine.FieldError{Field: "agents", Problem: none.Problem, Hint: none.Hint}
		}
	}
	return l, nil
}

// subject returns a run or, of a survey, the run that it was among.
func subject(ctx context.Context, store *sqlite.Store, run engine.RunID) (engine.RunRecord, error) {
	r, err := store.Run(ctx, run)
	if err == nil && r.Parent != "" && survey.Of(r.Source) != nil {
		return store.Run(ctx, r.Parent)
	}
	return r, err
}

// Subject describes the run whose agents can be asked: a run itself or, of a survey, the run that it was among.
func Subject(ctx context.Context, store *sqlite.Store, run engine.RunID) (*survey.Subject, error) {
	r, err := subject(ctx, store, run)
	if err != nil {
		return nil, err
	}
	s, err := scenario.Restore(r.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario stored with run %s: %w", r.ID, err)
	}
	of := &survey.Subject{Run: r.ID, Title: r.DisplayName()}
	all, err := store.Checkpoints(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	for _, c := range all { // newest first
		if n := len(of.Moments); n == 0 || of.Moments[n-1].Cycle != c.Cycle {
			of.Moments = append(of.Moments, survey.Moment{Cycle: c.Cycle, At: s.Clock.At(c.Cycle)})
		}
	}
	facts, err := s.Program(r.Settings.Seed).Persona(0)
	if err != nil {
		return nil, fmt.Errorf("the agents of run %s: %w", r.ID, err)
	}
	for _, f := range facts {
		of.Attributes = append(of.Attributes, f.Name)
	}
	for _, service := range s.Services {
		if service.Kind == "llm" {
			of.Models = append(of.Models, service.Name)
		}
	}
	return of, nil
}

// List returns the surveys among the agents of a run or, of a survey, those among the same agents; newest first.
func List(ctx context.Context, store *sqlite.Store, run engine.RunID) ([]engine.RunRecord, error) {
	of, err := subject(ctx, store, run)
	if err != nil {
		return nil, err
	}
	all, err := store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var found []engine.RunRecord
	for i := range all {
		if all[i].Parent != of.ID || all[i].Fetched != nil {
			continue
		}
		r, err := store.Run(ctx, all[i].ID) // with its files
		if err != nil {
			return nil, err
		}
		if survey.Of(r.Source) != nil {
			found = append(found, r)
		}
	}
	return found, nil
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
		if cycle == survey.Newest || c.Cycle == cycle {
			return c.Number, nil
		}
		if !cycles[c.Cycle] {
			cycles[c.Cycle] = true
			list = fmt.Sprintf(" %d%s", c.Cycle, list)
		}
	}
	if cycle == survey.Newest {
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
