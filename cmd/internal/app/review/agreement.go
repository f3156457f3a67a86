package review

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/agreement"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/suggest"
	"github.com/throng-sim/throng/engine/surrogate"
	"github.com/throng-sim/throng/storage"
)

// Agreement measures how often models and rules answered the same in a run, also while it is in progress.
func Agreement(ctx context.Context, store storage.Reader, run engine.RunID) (*agreement.Result, error) {
	var c agreement.Collector
	for row, err := range store.Sessions(ctx, run, 0, 0) {
		if err != nil {
			return nil, fmt.Errorf("sessions of run %s: %w", run, err)
		}
		c.Add(row)
	}
	return c.Result(), nil
}

// Learn learns a rule from the answers of a model to a step of a run. Mistakes are *engine.FieldError values.
func Learn(ctx context.Context, store storage.Reader, record *engine.RunRecord, o surrogate.Options) (*surrogate.Rule, error) {
	if err := CheckHere(record); err != nil {
		return nil, err
	}
	s, err := scenario.Restore(record.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario stored with run %s: %w", record.ID, err)
	}
	persona := s.Program(record.Settings.Seed).Persona
	l := surrogate.NewCollector(o.Step, func(agent int) (map[string]string, error) {
		facts, err := persona(agent)
		known := make(map[string]string, len(facts))
		for _, f := range facts {
			known[f.Name] = f.Value
		}
		return known, err
	}, s.Clock.At)
	steps := map[string]bool{}
	for row, err := range store.Sessions(ctx, record.ID, 0, 0) {
		if err != nil {
			return nil, fmt.Errorf("sessions of run %s: %w", record.ID, err)
		}
		for i := range row.Steps {
			p := row.Steps[i].Decision
			if p == nil || len(p.Model) == 0 {
				continue
			}
			name := engine.StepName(row.Steps[i].Path)
			steps[name] = true
			if name != o.Step {
				continue
			}
			if err := l.Add(row.Agent, row.Cycle, p); err != nil {
				return nil, fmt.Errorf("agent %d: %w", row.Agent, err)
			}
		}
	}
	if !steps[o.Step] {
		return nil, unlearned(o.Step, slices.Sorted(maps.Keys(steps)))
	}
	o.Run = string(record.ID)
	r, err := surrogate.Learn(l.All, o)
	if m, ok := errors.AsType[*surrogate.Mistake](err); ok {
		return nil, &engine.FieldError{Field: "step", Problem: m.Problem, Hint: m.Hint}
	}
	return r, err
}

// unlearned is the error for a step without answers from which a rule can be learned.
func unlearned(step string, steps []string) error {
	if len(steps) == 0 {
		return &engine.FieldError{
			Field: "step", Problem: "no model answered with a truth value, a number or a choice in this run",
			Hint: "`answer` in the scenario says what a model answers; answers of private steps are not stored",
		}
	}
	g := suggest.NewGuess(step, steps, "there are "+strings.Join(steps, ", "))
	return &engine.FieldError{Field: "step", Problem: "the step " + step + " has no answers to learn from", Hint: g.Hint}
}
