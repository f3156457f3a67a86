package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// windowRows measure the window: its drawing and its start.
func windowRows() []row {
	return []row{{
		name: "11",
		what: "The window on Live charts, beside a run of a million agents that keeps every worker busy (Xvfb, software GL)",
		sides: []side{
			{name: "Throng", prepare: window, run: beside},
		},
		shown: []string{"ms a call waits, p99", "ms a call waits, median", "% of a core"},
		ratios: []ratio{
			{name: "ms that a queued call waits, p99", must: 50, aim: 20, less: true, of: plain("ms a call waits, p99")},
			{name: "% of a core that drawing takes", must: 15, aim: 10, less: true, of: plain("% of a core")},
		},
	}}
}

// window builds the program that is driven.
func window(ctx context.Context, e env) (string, error) {
	_, err := e.program(ctx)
	return "", err
}

// watched is how long a window is measured.
const watched = 10 * time.Second

// beside measures Live's charts while a run goes on: what drawing takes, and how long calls wait for the UI goroutine.
func beside(ctx context.Context, e env) (figures, error) {
	d, err := openDesktop(ctx, e.dir, 1280, 800)
	if err != nil {
		return nil, err
	}
	defer d.close()
	scenario, err := million(e.dir)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(e.dir, "settings.json"), []byte(`{"rehearsal": "none"}`), 0o600); err != nil {
		return nil, err
	}
	if err := d.start(ctx, filepath.Join(e.tools, "throng"), e.dir, scenario); err != nil {
		return nil, err
	}
	known := func() bool {
		return slices.ContainsFunc(d.shown, func(p part) bool { return strings.Contains(p.Text, "1,000,000 shoppers") })
	}
	if err := d.until(ctx, "the scenario", known); err != nil {
		return nil, err
	}
	if err := d.click(ctx, "Launch"); err != nil {
		return nil, err
	}
	if err := d.until(ctx, "the run", func() bool { return d.find("running") != nil }); err != nil {
		return nil, err
	}
	if err := d.click(ctx, "Charts"); err != nil {
		return nil, err
	}
	select { // until it is drawn, and has read what it shows
	case <-time.After(2 * time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return d.watch(ctx, watched)
}

// watch measures the window for a while.
func (d *desktop) watch(ctx context.Context, length time.Duration) (figures, error) {
	began := time.Now()
	before, err := d.drawing()
	if err != nil {
		return nil, err
	}
	var waits []time.Duration
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for time.Since(began) < length {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if err := d.feel(ctx); err != nil {
			return nil, err
		}
		waits = append(waits, d.vitals.waited)
		if d.vitals.waited > 10*time.Millisecond {
			fmt.Fprintln(os.Stderr, "DBG", time.Since(began), d.vitals.waited)
		}
	}
	after, err := d.drawing()
	if err != nil {
		return nil, err
	}
	slices.Sort(waits)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	return figures{
		"ms a call waits, p99": ms(waits[len(waits)*99/100]), "ms a call waits, median": ms(waits[len(waits)/2]),
		"% of a core": 100 * (after - before).Seconds() / time.Since(began).Seconds(),
	}, nil
}

// million writes the built-in shoppers as a file with a million of them, and returns its path.
func million(dir string) (string, error) {
	for _, name := range []string{"shopping.yaml", "shopping.star"} {
		text, err := os.ReadFile(filepath.Join("assets", "scenarios", name))
		if err != nil {
			return "", err
		}
		many := strings.Replace(string(text), "default: 372", fmt.Sprint("default: ", 1_000_000), 1)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(many), 0o600); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "shopping.yaml"), nil
}
