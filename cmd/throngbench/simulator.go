package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// simulatorRow measures the simulator of make simulate.
func simulatorRow() row {
	return row{
		name: "19", what: "The simulator of the core: runs of 50 sessions with crashes, faults, orders and a fork",
		sides:  []side{{name: "Throng", prepare: simulator, run: simulateLives}},
		shown:  []string{"lives/s", "ms/simulation", "allocations/simulation"},
		ratios: []ratio{{name: "lives a second on one core", must: 2_000, aim: 10_000, of: plain("lives/s")}},
		note:   "A life is a process of a run, from its start to its end or to its crash." + pinNote(),
	}
}

// simulator builds the tests of the core, which include the simulator.
func simulator(ctx context.Context, e env) (string, error) {
	return "", e.build(ctx, "test", "-c", "-o", filepath.Join(e.tools, "run.test"), "./engine/run")
}

func simulateLives(ctx context.Context, e env) (figures, error) {
	c := pinned(ctx, 1, filepath.Join(e.tools, "run.test"), "-test.run=^$", "-test.bench=^BenchmarkSimulation$", "-test.benchtime=3s", "-test.cpu=1", "-test.benchmem")
	c.Dir = e.dir
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		var n int
		var ns, lives, bytes, allocations float64
		_, after, _ := strings.Cut(line, "\t")
		if _, err := fmt.Sscanf(strings.Join(strings.Fields(after), " "), "%d %f ns/op %f processes/s %f B/op %f allocs/op", &n, &ns, &lives, &bytes, &allocations); err == nil {
			return figures{"lives/s": lives, "ms/simulation": ns / 1e6, "allocations/simulation": allocations}, nil
		}
	}
	return nil, errors.New("no figures in " + string(out))
}
