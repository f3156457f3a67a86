package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// windowRows measure drawing and start of the window.
func windowRows() []row {
	return []row{{
		name: "11",
		what: "The window on Live charts, during a run of a million agents that keeps every worker busy (Xvfb, software GL)",
		sides: []side{
			{name: "Throng", prepare: window, run: duringRun},
		},
		shown: []string{"ms a call waits, p99", "ms a call waits, median", "% of a core"},
		ratios: []ratio{
			{name: "ms that a queued call waits, p99", must: 50, aim: 20, less: true, of: plain("ms a call waits, p99")},
			{name: "% of a core that drawing takes", must: 15, aim: 10, less: true, of: plain("% of a core")},
		},
	}, {
		name: "11b",
		what: "One chart of 3 series and 3,600 rows, redrawn",
		sides: []side{
			{name: "Throng", prepare: drawn, run: draw},
		},
		shown: []string{"ms", "allocations"},
		ratios: []ratio{
			{name: "ms a chart", must: 1.5, less: true, of: plain("ms")},
			{name: "allocations a frame", must: 0.5, less: true, of: plain("allocations")},
		},
	}, {
		name: "12",
		what: "Process to first frame, with a store of 1,000 runs and 10 million sessions",
		sides: []side{
			{name: "Throng", prepare: bigWindow, run: firstFrame},
		},
		shown: []string{"s", "s cold", "s until it can launch"},
		ratios: []ratio{
			{name: "s to the first frame", must: 1.5, aim: 0.7, less: true, of: plain("s")},
			{name: "s, with nothing of it in memory", must: 1.5, aim: 0.7, less: true, of: plain("s cold")},
		},
		note: "Cold: the program and the store are removed from the page cache.",
	}}
}

// drawn builds the benchmarks of the charts.
func drawn(ctx context.Context, e env) (string, error) {
	return "", e.build(ctx, "test", "-c", "-o", filepath.Join(e.tools, "chart.test"), "./ui/internal/chart")
}

// draw runs the benchmark of a chart several times and parses its output: nanoseconds, bytes and allocations per drawing.
// The fastest run counts: on an idle machine nothing interrupts a drawing.
func draw(ctx context.Context, e env) (figures, error) {
	c := exec.CommandContext(ctx, filepath.Join(e.tools, "chart.test"), "-test.run=^$", "-test.bench=^BenchmarkDraw$/^series=3$/^rows=3600$/^scale=1$", "-test.benchtime=100x", "-test.count=5")
	c.Dir = e.dir
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	f := figures{}
	for line := range strings.Lines(string(out)) {
		var n int
		var ns, bytes, allocations float64
		_, after, _ := strings.Cut(line, "\t")
		if _, err := fmt.Sscanf(strings.Join(strings.Fields(after), " "), "%d %f ns/op %f B/op %f allocs/op", &n, &ns, &bytes, &allocations); err == nil && (f["ms"] == 0 || ns/1e6 < f["ms"]) {
			f["ms"], f["allocations"] = ns/1e6, allocations
		}
	}
	if len(f) == 0 {
		return nil, fmt.Errorf("no figures in %q", out)
	}
	return f, nil
}

// bigWindow builds the program to drive, and a big store.
func bigWindow(ctx context.Context, e env) (string, error) {
	if _, err := e.program(ctx); err != nil {
		return "", err
	}
	_, err := bigStore(ctx, e)
	return "", err
}

// firstFrame measures the time from the start of the process to the first frame, with a cold and then with a warm page
// cache.
func firstFrame(ctx context.Context, e env) (figures, error) {
	data, err := bigStore(ctx, e)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(e.tools, "throng")
	d, err := openDesktop(ctx, e.dir, 1280, 800)
	if err != nil {
		return nil, err
	}
	defer d.close()
	f := figures{}
	for _, name := range []string{"s cold", "s"} {
		if name == "s cold" {
			if err := forget(program, data); err != nil {
				return nil, err
			}
		}
		if err := d.start(ctx, program, data); err != nil {
			return nil, err
		}
		f[name], f["s until it can launch"] = d.vitals.painted.Sub(d.began).Seconds(), time.Since(d.began).Seconds()
		if err := d.quit(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// forget removes files and folders from the page cache.
func forget(paths ...string) error {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(path string, entry os.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			return errors.Join(drop(f), f.Close())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// window builds the program to drive.
func window(ctx context.Context, e env) (string, error) {
	_, err := e.program(ctx)
	return "", err
}

// watched is how long a window is measured.
const watched = 10 * time.Second

// duringRun measures the charts of Live during a run: CPU time of drawing, and how long calls wait for the UI goroutine.
func duringRun(ctx context.Context, e env) (figures, error) {
	d, err := openDesktop(ctx, e.dir, 1280, 800)
	if err != nil {
		return nil, err
	}
	defer d.close()
	scenario, err := million(e.dir)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(e.dir, "settings.json"), []byte(`{"mock": "none"}`), 0o600); err != nil {
		return nil, err
	}
	if err := d.start(ctx, filepath.Join(e.tools, "throng"), e.dir, scenario); err != nil {
		return nil, err
	}
	known := func() bool {
		return slices.ContainsFunc(d.shown, func(p object) bool { return strings.Contains(p.Text, "1,000,000 shoppers") })
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
	if err := d.click(ctx, "Overview"); err != nil {
		return nil, err
	}
	select { // until the window is drawn and has its data
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
	waits, err := d.waits(ctx, 50*time.Millisecond, length)
	if err != nil {
		return nil, err
	}
	after, err := d.drawing()
	if err != nil {
		return nil, err
	}
	f := figures{"% of a core": 100 * (after - before).Seconds() / time.Since(began).Seconds()}
	f.addWaits(waits)
	return f, nil
}

// waits queues a call now and then, and returns how long each waited, sorted.
func (d *desktop) waits(ctx context.Context, every, length time.Duration) (waits []time.Duration, err error) {
	began, tick := time.Now(), time.NewTicker(every)
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
	}
	slices.Sort(waits)
	return waits, nil
}

// addWaits adds the figures of sorted waits.
func (f figures) addWaits(waits []time.Duration) {
	for name, at := range map[string]int{"worst": len(waits) - 1, "p99": len(waits) * 99 / 100, "median": len(waits) / 2} {
		f["ms a call waits, "+name] = waits[at].Seconds() * 1e3
	}
}

// million writes the built-in shoppers as a file with a million of them, and returns its path.
func million(dir string) (string, error) {
	for _, name := range []string{"shopping.yaml", "shopping.star"} {
		text, err := os.ReadFile(filepath.Join("assets", "scenarios", name))
		if err != nil {
			return "", err
		}
		many := strings.Replace(string(text), "default: 372", "default: 1000000", 1)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(many), 0o600); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "shopping.yaml"), nil
}
