package experiments

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/measure"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/validation"
)

// distances compares a run with the real data, by column.
func (x *Experiment) distances(ctx context.Context, r *measure.Run) ([]findings.Distance, error) {
	memory, persona := x.Against.Needs()
	values, err := x.Against.Collect(r.Sessions(), func() (end validation.Ending, err error) {
		if persona { // whose attributes may depend on parameters of the run
			record, err := x.app.Store().Run(ctx, r.ID)
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
	result := x.Against.Compare(values)
	all := make([]findings.Distance, len(result.Rows))
	for i := range result.Rows {
		all[i] = result.Rows[i].Distance()
	}
	return all, nil
}

// realData describes the real data; nil if there is none.
func (x *Experiment) realData() *findings.RealData {
	a := x.Against
	if a == nil {
		return nil
	}
	d := &findings.RealData{File: a.File, Digest: a.Digest, Shared: x.Of.Shared()}
	for i := range a.Measures {
		m := &a.Measures[i]
		d.Columns = append(d.Columns, findings.RealColumn{Name: m.Column, Figure: m.Figure, Numbers: m.Kind == validation.Number})
	}
	return d
}
