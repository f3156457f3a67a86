package report

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/outcomes"
	"github.com/throng-sim/throng/engine/seconds"
	"github.com/throng-sim/throng/engine/view"
)

// Details returns what a report shows in addition to the record and the totals of a run.
func Details(ctx context.Context, src Source, run engine.RunID, extras Extras) (*view.Details, error) {
	r, err := src.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	t, err := src.Totals(ctx, run)
	if err != nil {
		return nil, err
	}
	d := &view.Details{Population: extras.Population, Steps: stepLines(&t, extras.Calls), Services: view.ServiceTable(&t, extras.Calls)}
	if d.Outcomes, err = extras.outcomes(ctx, src, run); err != nil {
		return nil, err
	}
	var over overTime
	for m, err := range seconds.Shown(src.Metrics(ctx, run, time.Time{})) {
		if err != nil {
			return nil, err
		}
		over.see(m)
	}
	d.Charts = over.shown()
	barriers, err := src.Barriers(ctx, run)
	if err != nil {
		return nil, err
	}
	d.Cycles, d.EarlierCycles = view.CycleTable(barriers)
	if d.Origin, err = origin(ctx, src, &r); err != nil {
		return nil, err
	}
	var p page
	if err := p.made(&r, &t); err != nil {
		return nil, err
	}
	d.Facts, d.Settings, d.Parameters = p.Facts, p.Settings, p.Params
	for _, f := range p.Files {
		d.Files = append(d.Files, view.File(f))
	}
	return d, nil
}

// stepLines returns the steps of a run.
func stepLines(t *engine.Totals, calls map[string]view.StepCall) []view.StepLine {
	return view.StepLines(t.ByStep.Figures(), calls, t.Peaks.Elapsed)
}

// outcomes sums up what the sessions of a run emitted.
func (e *Extras) outcomes(ctx context.Context, src Source, run engine.RunID) (*outcomes.Outcomes, error) {
	c := outcomes.Collector{Clock: e.Clock, Acted: e.Acted, Persona: e.Persona}
	for s, err := range src.Sessions(ctx, run, 0, 0) {
		if err != nil {
			return nil, err
		}
		c.Add(s)
	}
	return c.Outcomes()
}
