package experiment_test

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/experiment"
)

// TestExtend adds seeds, levels and measures to files of different styles. All other bytes stay.
func TestExtend(t *testing.T) {
	for _, c := range []struct {
		name      string
		was, want string
		changes   experiment.Changes
	}{
		{
			"all of it", "# why\nscenario: x\nvary:\n  params.n: [1, 2] # so\n  params.t:\n    - \"a\" # first\n    - b\nreplicates: {seeds: 3}\nmeasures: [acted]\n",
			"# why\nscenario: x\nvary:\n  params.n: [1, 2, 3, 0.5] # so\n  params.t:\n    - \"a\" # first\n    - b\n    - \"7\"\nreplicates: {seeds: 5}\nmeasures: [acted, cost]\n",
			experiment.Changes{Seeds: 2, Levels: []experiment.Level{{Factor: "params.n", Value: "3"}, {Factor: "params.n", Value: "0.5"}, {Factor: "params.t", Value: "7"}}, Measures: []string{"cost"}},
		},
		{"seeds of a file without", "scenario: x\n", "scenario: x\nreplicates: {seeds: 12}\n", experiment.Changes{Seeds: 2}},
		{"seeds as a number", "scenario: x\nreplicates: 4 # so\n", "scenario: x\nreplicates: 5 # so\n", experiment.Changes{Seeds: 1}},
		{"seeds in a list", "scenario: x\nreplicates: [7, 3]\n", "scenario: x\nreplicates: [7, 3, 8, 9]\n", experiment.Changes{Seeds: 2}},
		{"levels with a cycle", "scenario: x\nvary: {params.n: {at: 2, levels: [true]}}\n", "scenario: x\nvary: {params.n: {at: 2, levels: [true, false]}}\n", experiment.Changes{Levels: []experiment.Level{{Factor: "params.n", Value: "false"}}}},
		{"measures of a file without", "scenario: x\n", "scenario: x\nmeasures: [error_rate, cost]\n", experiment.Changes{Measures: []string{"cost"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := plainRead(t, c.was).Extend("e.yaml", []byte(c.was), c.changes)
			if err != nil || string(got) != c.want {
				t.Fatalf("got %q, %v; want %q", got, err, c.want)
			}
			plainRead(t, string(got))
		})
	}
}

func TestExtendRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		changes experiment.Changes
		want    string
	}{
		"an unknown factor": {"scenario: x\nvary: {params.n: [1]}\n", experiment.Changes{Levels: []experiment.Level{{Factor: "params.m", Value: "1"}}}, "factors: params.n"},
		"a known level":     {"scenario: x\nvary: {params.n: [1]}\n", experiment.Changes{Levels: []experiment.Level{{Factor: "params.n", Value: "1"}}}, "already"},
		"a range":           {"scenario: x\nvary: {params.n: {from: 0, to: 1, step: 0.5}}\n", experiment.Changes{Levels: []experiment.Level{{Factor: "params.n", Value: "7"}}}, "over a range"},
		"listed points":     {"scenario: x\ndesign: {points: [{params.n: 1}]}\n", experiment.Changes{Levels: []experiment.Level{{Factor: "params.n", Value: "7"}}}, "lists its points"},
		"fewer seeds":       {"scenario: x\n", experiment.Changes{Seeds: -1}, "cannot be removed"},
		"a known measure":   {"scenario: x\nmeasures: [cost]\n", experiment.Changes{Measures: []string{"cost"}}, "already"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := plainRead(t, c.text).Extend("e.yaml", []byte(c.text), c.changes); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it became %q, %v", got, err)
			}
		})
	}
}

// plainRead reads an experiment without its scenario.
func plainRead(t *testing.T, text string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Read("e.experiment.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
