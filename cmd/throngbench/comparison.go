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

// comparedSeeds is how many runs each of the two compared setups has.
const comparedSeeds = 25

// comparedMarket is a market of a day, whose runs differ in the price and in their seeds.
const comparedMarket = `
title: Market
parameters: {price: {default: 3}}
population: {count: 372, attributes: {budget: "${uniform(1, 10)}"}}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 24}
acted: bought
chain shop:
  step look: {kind: emit, event: seen, data: {offer: "${params.price + uniform(0, 4)}"}}
  step buy: {kind: emit, event: bought, when: "agent.budget > params.price + uniform(0, 4)", data: {paid: "${params.price}"}}
  step keep: {kind: remember, set: {visits: "${session.cycle + 1}"}}
`

const comparedExperiment = `
title: Prices
scenario: market.yaml
vary: {params.price: [3, 5]}
replicates: {seeds: %d}
measures: [acted]
settings: {cycles: 24}
parallel: 2
`

// comparisonRow measures the Compare screen with many runs.
func comparisonRow() row {
	return row{
		name:  "24",
		what:  fmt.Sprintf("The window compares %d runs: two setups with %d seeds each, of %d sessions (Xvfb, software GL)", 2*comparedSeeds, comparedSeeds, shoppers*dayCycles),
		sides: []side{{name: "Throng", prepare: window, run: compareInWindow}},
		shown: []string{"ms to show two runs", "ms to show all", "ms a call waits, worst", "ms a call waits, p99", "ms a call waits, median"},
		ratios: []ratio{
			{name: "ms until all are shown", less: true, of: plain("ms to show all")},
			{name: "ms that a queued call waits meanwhile, p99", must: 50, aim: 20, less: true, of: plain("ms a call waits, p99")},
		},
		note: "The bounds are those of row 11. The times until something is shown have a resolution of 20 ms and the time of reading the window in them. " +
			"Calls are queued every 10 ms while the comparison is made and shown again.",
	}
}

// executeExperiment executes an experiment to its end in a data folder.
func executeExperiment(ctx context.Context, dir, data, name, text string) (err error) {
	file := filepath.Join(dir, "prices.experiment.yaml")
	for path, text := range map[string]string{file: text, filepath.Join(dir, name): comparedMarket} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	a, err := app.Open(app.Options{Data: data, Store: sqlite.Options{Logger: slog.New(slog.DiscardHandler)}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	x, err := experiments.Open(a, file, experiments.Options{Trusted: true})
	if err != nil {
		return err
	}
	_, wait := x.Execute(ctx, experiments.Events{})
	return wait()
}

// compareInWindow shows the two newest runs in Compare, and then all seeds of their setups.
func compareInWindow(ctx context.Context, e env) (figures, error) {
	data := filepath.Join(e.dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	if err := executeExperiment(ctx, e.dir, data, "market.yaml", fmt.Sprintf(comparedExperiment, comparedSeeds)); err != nil {
		return nil, err
	}
	d, err := openDesktop(ctx, e.dir, 1280, 800)
	if err != nil {
		return nil, err
	}
	defer d.close()
	if err := d.start(ctx, filepath.Join(e.tools, "throng"), data); err != nil {
		return nil, err
	}
	f := figures{}
	says := func(text string) bool {
		return slices.ContainsFunc(d.shown, func(o object) bool { return strings.Contains(o.Text, text) })
	}
	compared := func() bool { return says("which all runs have completed") }
	all := func() bool { return compared() && says(fmt.Sprintf("%d seeds", comparedSeeds)) }
	for _, pass := range []struct {
		click, figure string
		holds         func() bool
	}{
		{"Compare", "ms to show two runs", compared},
		{"All seeds", "ms to show all", all},
		{"All seeds", "", func() bool { return compared() && !all() }},
	} {
		if err := d.click(ctx, pass.click); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := d.until(ctx, "what "+pass.click+" leads to", pass.holds); err != nil {
			return nil, err
		}
		if pass.figure != "" {
			f[pass.figure] = time.Since(began).Seconds() * 1e3
		}
	}
	if err := d.click(ctx, "All seeds"); err != nil {
		return nil, err
	}
	const long = 3 * time.Second // than the comparison takes
	waits, err := d.waits(ctx, 10*time.Millisecond, long)
	if err != nil {
		return nil, err
	}
	if err := d.until(ctx, "all seeds again", all); err != nil {
		return nil, err
	}
	f.addWaits(waits)
	return f, d.quit()
}
