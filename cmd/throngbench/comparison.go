package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
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

// comparedRuns executes the runs that are compared.
func comparedRuns(ctx context.Context, dir string) error {
	a, x, err := openExperiment(dir, "market.yaml", comparedMarket, fmt.Sprintf(comparedExperiment, comparedSeeds))
	if err != nil {
		return err
	}
	_, wait := x.Execute(ctx, experiments.Events{})
	return errors.Join(wait(), a.Close())
}

// compareInWindow shows the two newest runs in Compare, and then all seeds of their setups.
func compareInWindow(ctx context.Context, e env) (figures, error) {
	if err := comparedRuns(ctx, e.dir); err != nil {
		return nil, err
	}
	d, err := openDesktop(ctx, e.dir, 1280, 800)
	if err != nil {
		return nil, err
	}
	defer d.close()
	if err := d.start(ctx, filepath.Join(e.tools, "throng"), filepath.Join(e.dir, "data")); err != nil {
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
	long := time.Duration(2 * f["ms to show all"] * float64(time.Millisecond)) // enough for the same again
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
