package review

import (
	"context"
	"fmt"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/compare"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
)

// Comparison compares two or more runs over the cycles that all of them have completed.
type Comparison struct {
	Runs     []engine.RunRecord
	From, To int    // cycles; To is exclusive
	Paired   []bool // for each run but the first, whether its agents are those of the first
	Samples  []*compare.Sample
	Rows     []compare.Row
	// Differences lists, for each run but the first, its differences from the first, for example "seed 1 → 2".
	Differences [][]string
}

// Compare compares runs with the first one. A zero to means all cycles that all runs have completed. Mistakes are
// *engine.FieldError values.
func Compare(ctx context.Context, store storage.Reader, ids []engine.RunID, from, to int) (*Comparison, error) {
	if len(ids) < 2 {
		return nil, &engine.FieldError{Problem: "nothing to compare", Hint: "name two or more runs"}
	}
	c := &Comparison{}
	var first *scenario.Scenario
	for i, id := range ids {
		record, err := store.Run(ctx, id)
		if err != nil {
			return nil, err
		}
		if err := CheckHere(&record); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(c.Runs, func(r engine.RunRecord) bool { return r.ID == record.ID }) {
			return nil, &engine.FieldError{Problem: fmt.Sprintf("%s is named twice", record.ID), Hint: "name two or more different runs"}
		}
		s, err := scenario.Restore(record.Source)
		if err != nil {
			return nil, fmt.Errorf("the scenario stored with run %s: %w", record.ID, err)
		}
		c.Runs = append(c.Runs, record)
		if i == 0 {
			first = s
			continue
		}
		c.Paired = append(c.Paired, s.Agents == first.Agents && record.Settings.Seed == c.Runs[0].Settings.Seed)
		c.Differences = append(c.Differences, Differences(Inputs{&first.Source, &c.Runs[0].Settings}, Inputs{&s.Source, &record.Settings}))
	}
	if err := c.choose(from, to); err != nil {
		return nil, err
	}
	for i := range c.Runs {
		s, err := sample(ctx, store, c.Runs[i].ID, c.From, c.To)
		if err != nil {
			return nil, err
		}
		c.Samples = append(c.Samples, s)
	}
	c.Rows = compare.Table(c.Samples, c.Paired)
	return c, nil
}

// choose selects the cycles to compare.
func (c *Comparison) choose(from, to int) error {
	c.From, c.To = compare.Common(c.Runs)
	if c.From >= c.To {
		return &engine.FieldError{Problem: "no cycle is completed by all of them", Hint: "a fork has only the cycles from its checkpoint on"}
	}
	if from < 0 || to < 0 || to > 0 && from >= to || from >= c.To || to > 0 && to <= c.From {
		return &engine.FieldError{
			Field: "cycles", Problem: fmt.Sprintf("%d to %d are not completed by all runs", from, to-1), Hint: fmt.Sprintf("choose from %d to %d", c.From, c.To-1),
		}
	}
	c.From = max(c.From, from)
	if to > 0 {
		c.To = min(c.To, to)
	}
	return nil
}

func sample(ctx context.Context, store storage.Reader, run engine.RunID, from, to int) (*compare.Sample, error) {
	s := &compare.Sample{}
	for row, err := range store.Sessions(ctx, run, from, to) {
		if err != nil {
			return nil, fmt.Errorf("sessions of run %s: %w", run, err)
		}
		s.Add(row)
	}
	s.Close()
	return s, nil
}
