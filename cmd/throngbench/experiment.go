package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
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

// emptyRuns executes an experiment to its end, and measures it as the table of its results does.
func emptyRuns(ctx context.Context, e env, points, seeds int) (f figures, err error) {
	values := ""
	for i := range points {
		values += fmt.Sprintf("%d, ", i)
	}
	file := filepath.Join(e.dir, "nothing.experiment.yaml")
	for path, text := range map[string]string{file: fmt.Sprintf(emptyExperiment, values, seeds), filepath.Join(e.dir, "nothing.yaml"): nothingDone} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	t := trial{dir: e.dir}
	data := filepath.Join(e.dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	a, err := app.Open(app.Options{Data: data, Store: sqlite.Options{Logger: slog.New(slog.DiscardHandler)}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	empty, err := t.bytes(ctx)
	if err != nil {
		return nil, err
	}
	x, err := experiments.Open(a, file, experiments.Options{Trusted: true})
	if err != nil {
		return nil, err
	}
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
	n := points * seeds
	if len(ends) != n {
		return nil, fmt.Errorf("%d of %d runs are done", len(ends), n)
	}
	f = figures{
		"ms/run": time.Since(planned).Seconds() * 1e3 / float64(n), "CPU ms/run": (ownTime() - used).Seconds() * 1e3 / float64(n),
		"ms to plan": planned.Sub(began).Seconds() * 1e3,
	}
	took := make([]float64, n)
	for i, end := range ends {
		took[i], planned = end.Sub(planned).Seconds()*1e3, end
	}
	slices.Sort(took)
	f["ms/run, p99"] = took[n*99/100]
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
