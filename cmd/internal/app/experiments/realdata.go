package experiments

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/measure"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/validation"
	"github.com/throng-sim/throng/storage"
)

// distancesOf compares a run with real data, by column.
func distancesOf(ctx context.Context, store storage.Reader, against *validation.Against, r *measure.Run) ([]findings.Distance, error) {
	memory, persona := against.Needs()
	values, err := against.Collect(r.Sessions(), func() (end validation.Ending, err error) {
		if persona { // whose attributes may depend on parameters of the run
			record, err := store.Run(ctx, r.ID)
			if err != nil {
				return end, err
			}
			s, err := scenario.Restore(record.Source)
			if err != nil {
				return end, err
			}
			end.Persona = s.Program(record.Settings.Seed).Persona
		}
		if memory {
			end.Memory, err = r.Memory()
		}
		return end, err
	})
	if err != nil {
		return nil, fmt.Errorf("compare run %s with real data: %w", r.ID, err)
	}
	result := against.Compare(values)
	all := make([]findings.Distance, len(result.Rows))
	for i := range result.Rows {
		all[i] = result.Rows[i].Distance()
	}
	return all, nil
}

// realData describes the real data; nil if there is none.
func realData(e *experiment.Experiment) *findings.RealData {
	a := e.Against
	if a == nil {
		return nil
	}
	d := &findings.RealData{File: a.File, Digest: a.Digest, Shared: e.Of.Shared()}
	for i := range a.Measures {
		m := &a.Measures[i]
		d.Columns = append(d.Columns, findings.RealColumn{Name: m.Column, Figure: m.Figure, Numbers: m.Kind == validation.Number})
	}
	return d
}
