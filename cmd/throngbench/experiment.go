package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/storage/sqlite"
)

// emptyExperiment has runs of one agent that does nothing.
const emptyExperiment = `
title: Nothing
scenario: nothing.yaml
vary: {params.n: [%s]}
replicates: {seeds: %d}
measures: [acted]
settings: {cycles: 1}
parallel: 1
`

const nothingDone = `
title: Nothing
parameters: {n: {default: 0}}
population: {count: 1}
acted: done
chain c:
  step s: {kind: emit, event: done}
`

// experimentRow measures what an experiment adds to each of its runs.
func experimentRow() row {
	const points, seeds = 10, 50
	return row{
		name: "15", what: fmt.Sprintf("An experiment of %d empty runs, one after the other", points*seeds),
		sides: []side{{name: "Throng", run: func(ctx context.Context, e env) (figures, error) { return emptyRuns(ctx, e, points, seeds) }}},
		shown: []string{"ms/run", "ms/run, p99", "CPU ms/run", "KB/run", "ms to plan", "ms to measure", "peak MB"},
		ratios: []ratio{
			{name: "ms a run, from its start to its end in the store", must: 20, aim: 5, less: true, of: plain("ms/run")},
		},
		note: "Each run is durable in the store at its end, as every run is.",
	}
}

// openExperiment opens an experiment with a scenario in a file of that name, and a store of its own.
func openExperiment(dir, name, scenario, text string) (a *app.App, x *experiments.Experiment, err error) {
	file, data := filepath.Join(dir, "bench.experiment.yaml"), filepath.Join(dir, "data")
	err = errors.Join(os.WriteFile(file, []byte(text), 0o600), os.WriteFile(filepath.Join(dir, name), []byte(scenario), 0o600), os.MkdirAll(data, 0o700))
	if err != nil {
		return nil, nil, err
	}
	if a, err = app.Open(app.Options{Data: data, Store: sqlite.Options{Logger: slog.New(slog.DiscardHandler)}}); err != nil {
		return nil, nil, err
	}
	if x, err = experiments.Open(a, file, experiments.Options{Trusted: true}); err != nil {
		return nil, nil, errors.Join(err, a.Close())
	}
	return a, x, nil
}

// emptyRuns executes an experiment to its end, and measures it as the table of its results does.
func emptyRuns(ctx context.Context, e env, points, seeds int) (f figures, err error) {
	values := make([]string, points)
	for i := range values {
		values[i] = fmt.Sprint(i)
	}
	a, x, err := openExperiment(e.dir, "nothing.yaml", nothingDone, fmt.Sprintf(emptyExperiment, strings.Join(values, ", "), seeds))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	t, n := trial{dir: e.dir}, points*seeds
	empty, err := t.bytes(ctx)
	if err != nil {
		return nil, err
	}
	if f, err = timeRuns(ctx, x, n); err != nil {
		return nil, err
	}
	bytes, err := t.bytes(ctx)
	if err != nil {
		return nil, err
	}
	f["KB/run"] = (bytes - empty) / float64(n) / 1e3
	f["ms to measure"] = milliseconds(func() error {
		s, err := x.Status(ctx)
		if err != nil {
			return err
		}
		_, err = x.Table(ctx, s)
		return err
	}, &err)
	f["peak MB"] = ownPeak()
	return f, err
}

// timeRuns executes the n runs of an experiment.
func timeRuns(ctx context.Context, x *experiments.Experiment, n int) (figures, error) {
	var planned time.Time
	var ends []time.Time
	began, used := time.Now(), ownTime()
	_, wait := x.Execute(ctx, experiments.Events{
		Planned: func(*experiments.Status) {
			if planned.IsZero() {
				planned = time.Now()
			}
		},
		Changed: func(_ *experiments.Status, r *experiments.Run) {
			if r.State == experiments.Done {
				ends = append(ends, time.Now())
			}
		},
	})
	if err := wait(); err != nil {
		return nil, err
	}
	if len(ends) != n {
		return nil, fmt.Errorf("%d of %d runs are done", len(ends), n)
	}
	f := figures{
		"ms/run": time.Since(planned).Seconds() * 1e3 / float64(n), "CPU ms/run": (ownTime() - used).Seconds() * 1e3 / float64(n),
		"ms to plan": planned.Sub(began).Seconds() * 1e3,
	}
	took := make([]float64, n)
	for i, end := range ends {
		took[i], planned = end.Sub(planned).Seconds()*1e3, end
	}
	slices.Sort(took)
	f["ms/run, p99"] = took[n*99/100]
	return f, nil
}
