package experiments

import (
	"context"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/view"
)

// Forecast is what the runs that are missing will take, all together. A run whose beginning another one shares counts as a whole.
type Forecast struct {
	Runs     int             `json:"runs"`
	Length   engine.Estimate `json:"length_seconds"` // with as many runs at the same time as the file says
	Requests engine.Estimate `json:"requests"`
	Tokens   engine.Estimate `json:"tokens"` // input and output of models
	Cost     engine.Estimate `json:"cost_usd"`
	Disk     engine.Estimate `json:"disk_bytes"`
}

// String describes the runs that are left.
func (f Forecast) String() string {
	return engine.Counted(int64(f.Runs), "run", "runs") + " to do: " + view.WorkSummary(f.Length, f.Requests, f.Tokens, f.Cost, f.Disk)
}

// mostForecasts is the number of points whose runs are forecast. The others count as their mean.
const mostForecasts = 8

// Forecast forecasts the missing runs from earlier runs that resemble them, else from guesses. It sends no requests.
func (x *Experiment) Forecast(ctx context.Context, s *Status) (Forecast, error) {
	var f Forecast
	missing := map[int]int{} // runs by point
	var points []int
	for _, r := range s.Runs {
		if r.Point < 0 || !r.State.Missing() {
			continue
		}
		if missing[r.Point]++; missing[r.Point] == 1 {
			points = append(points, r.Point)
		}
		f.Runs++
	}
	counted := 0
	zero := engine.Exactly(0, engine.Measured)
	f.Length, f.Requests, f.Tokens, f.Cost, f.Disk = zero, zero, zero, zero, zero
	for i := 0; i < len(points); i += max(len(points)/mostForecasts, 1) {
		one, err := x.forecast(ctx, s.Of(points[i], 0))
		if err != nil {
			return f, err
		}
		n := missing[points[i]]
		counted += n
		for _, figure := range []struct {
			sum *engine.Estimate
			of  engine.Estimate
		}{{&f.Length, one.Length}, {&f.Requests, one.Requests}, {&f.Tokens, one.Input.Plus(one.Output)}, {&f.Cost, one.Cost}, {&f.Disk, one.Disk}} {
			*figure.sum = figure.sum.Plus(figure.of.Scale(float64(n)))
		}
	}
	if counted > 0 {
		for _, sum := range []*engine.Estimate{&f.Length, &f.Requests, &f.Tokens, &f.Cost, &f.Disk} {
			*sum = sum.Scale(float64(f.Runs) / float64(counted))
		}
		f.Length = f.Length.Scale(1 / float64(min(x.Parallel, f.Runs)))
	}
	return f, nil
}

// forecast forecasts one run.
func (x *Experiment) forecast(ctx context.Context, r *Run) (engine.Forecast, error) {
	settings, err := x.settings(&r.Run)
	if err != nil {
		return engine.Forecast{}, err
	}
	setup, err := x.Setup(r.Values)
	if err != nil {
		return engine.Forecast{}, err
	}
	s, err := setup.Scenario()
	if err != nil {
		return engine.Forecast{}, err
	}
	l := app.Launch{Services: app.Services{Scenario: s, Settings: settings, Data: x.app.Store().Dir()}}.Forecaster()
	return l.Forecast(x.app.EarlierRuns().Find(ctx, l), app.Workload{Agents: s.Agents, Sessions: run.Planned(&settings, s.Agents, nil, 0)}), nil
}
