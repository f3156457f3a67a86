package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
)

// TestSwitches checks all forms of flags for settings that are on or off.
func TestSwitches(t *testing.T) {
	for line, want := range map[string]map[string]string{
		"run shopping":                                         {},
		"run shopping --sequential-steps":                      {"sequential-steps": "on"},
		"run --sequential-steps shopping":                      {"sequential-steps": "on"},
		"run --sequential --metrics off shopping":              {"sequential": "on", "metrics": "off"},
		"run --metrics=no --simulation-mode shopping --seed 3": {"metrics": "no", "simulation-mode": "on", "seed": "3"},
		"run --metrics=maybe shopping":                         {"metrics": "maybe"},
		"run --metrics FALSE --sequential True shopping":       {"metrics": "FALSE", "sequential": "True"},
		"run shopping --adaptive":                              {"governor": "adaptive"},
		"run --no-adaptive shopping":                           {"governor": "manual"},
		"run --governor latency shopping":                      {"governor": "latency"},
	} {
		var c cli
		parser, err := flags.NewParser(&c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(strings.Fields(line)); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := c.Run.Into(flags.Given(c.Run.Settings.Plugins, c.Run.Fixed.Plugins)); !maps.Equal(got, want) || c.Run.File != "shopping" {
			t.Errorf("%s: got %v of %q, want %v", line, got, c.Run.File, want)
		}
	}
}

func TestGovernorsExcludeEachOther(t *testing.T) {
	if code, _, stderr := ctl(t, "run", "shopping", "--data", t.TempDir(), "--adaptive", "--governor", "manual"); code != exitUsage {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestEmptyFlags checks that a flag without a value, for example from an unset variable, is an error. Otherwise, a run
// could have no budget.
func TestEmptyFlags(t *testing.T) {
	data := t.TempDir()
	t.Setenv("THRONG_DATA", "")
	for _, args := range [][]string{{"--budget", ""}, {"--budget="}, {"--max-concurrent", ""}, {"--seed="}, {"--export", ""}, {"--data", ""}, {"--sequential="}} {
		name, _, _ := strings.Cut(args[0], "=")
		want := name + ": has no value (give it a value, or leave it out)"
		all := append([]string{"run", "shopping", "--cycles", "1", "--set", "agents=2"}, args...)
		if name != "--data" {
			all = append(all, "--data", data)
		}
		if code, out, stderr := ctl(t, all...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, want %q in\n%s%s", args, code, want, out, stderr)
		}
	}
	if code, out, stderr := ctl(t, "runs", "--data", data, "--json"); code != exitDone || strings.TrimSpace(out) != "[]" {
		t.Errorf("exit code %d: runs are %s%s", code, out, stderr)
	}
}
