package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestSwitches is how settings that are on or off can be given.
func TestSwitches(t *testing.T) {
	for line, want := range map[string]map[string]string{
		"run shopping":                                         {},
		"run shopping --sequential-steps":                      {"sequential-steps": "on"},
		"run --sequential-steps shopping":                      {"sequential-steps": "on"},
		"run --sequential --metrics off shopping":              {"sequential": "on", "metrics": "off"},
		"run --metrics=no --simulation-mode shopping --seed 3": {"metrics": "no", "simulation-mode": "on", "seed": "3"},
		"run --metrics=maybe shopping":                         {"metrics": "maybe"},
		"run shopping --adaptive":                              {"governor": "adaptive"},
		"run --no-adaptive shopping":                           {"governor": "manual"},
		"run --governor latency shopping":                      {"governor": "latency"},
	} {
		var c cli
		parser, err := kong.New(&c, explained())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(strings.Fields(line)); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := c.Run.into(texts(c.Run.settingFlags, c.Run.newFlags)); !maps.Equal(got, want) || c.Run.File != "shopping" {
			t.Errorf("%s: %v of %q, want %v", line, got, c.Run.File, want)
		}
	}
}

func TestGovernorsExcludeEachOther(t *testing.T) {
	if code, _, stderr := ctl(t, "run", "shopping", "--data", t.TempDir(), "--adaptive", "--governor", "manual"); code != exitUsage {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
