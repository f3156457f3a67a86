package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
)

// TestExperimentAgainstRealData finds the point that real data was made with, in the terminal: half of the people toss heads.
func TestExperimentAgainstRealData(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"coin.yaml":            "title: Coin\nparameters: {bias: {default: 0.5}}\npopulation: {count: 40}\nacted: heads\nchain toss: {step toss: {kind: emit, event: heads, data: {}, when: chance(params.bias)}}\n",
		"fit.experiment.yaml":  "title: Fit\nscenario: coin.yaml\nvary: {params.bias: [0.1, 0.5, 0.9]}\nreplicates: {seeds: 12}\nmeasures: [acted]\nsettings: {cycles: 1}\nvalidate_against: {file: real.csv, measures: {tossed: acted}}\n",
		"bare.experiment.yaml": "title: Bare\nscenario: coin.yaml\nmeasures: [acted]\nsettings: {cycles: 1}\nreplicates: {seeds: 1}\n",
		"real.csv":             "tossed\n" + strings.Repeat("0\n1\n", 100),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, stderr := ctl(t, append(args, "--data", filepath.Join(dir, "data"))...)
		if code != want {
			t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, out, stderr)
		}
		return out + stderr
	}
	if out := run(0, "validate", "fit.experiment.yaml"); !strings.Contains(out, "real data  real.csv: tossed=acted\n") {
		t.Errorf("validate: %s", out)
	}
	run(0, "experiment", "run", "fit.experiment.yaml")
	out := run(0, "experiment", "compare", "fit.experiment.yaml")
	for _, want := range []string{"- bias=0.5 is nearest to real.csv, by more than chance against each of the 2 other points", "distance from real.csv (SHA-256 ", "RUNS THAT DIFFER", "12 of 12"} {
		if !strings.Contains(out, want) {
			t.Errorf("compare lacks %q:\n%s", want, out)
		}
	}
	var effects answer.Effects
	if err := json.Unmarshal([]byte(run(0, "experiment", "compare", "fit.experiment.yaml", "--json")), &effects); err != nil {
		t.Fatal(err)
	}
	if d := effects.RealData; d == nil || d.Nearest != 2 || !d.Clear || len(d.Points) != 3 || d.Points[0].Rank != "farther" || d.Points[0].Farther == nil || d.Points[1].Farther != nil ||
		d.Columns[0].Points[2].Figures["mean_difference"].Mean < 0.3 || *d.Columns[0].Points[2].Differ != 12 {
		t.Errorf("as JSON: %+v", d)
	}
	if out := run(0, "experiment", "export", "fit.experiment.yaml", "--real"); strings.Count(out, "\n") != 7 || !strings.Contains(out, "Fit,tossed,acted,2,0.5,12,") {
		t.Errorf("export: %s", out)
	}
	run(0, "experiment", "run", "bare.experiment.yaml")
	if out := run(2, "experiment", "export", "bare.experiment.yaml", "--real"); !strings.Contains(out, "names no real data") {
		t.Errorf("export without real data: %s", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "real.csv"), []byte("tosed\n0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(2, "experiment", "run", "fit.experiment.yaml"); !strings.Contains(out, "fit.experiment.yaml:7:") || !strings.Contains(out, "did you mean `tosed`?") {
		t.Errorf("a missing column: %s", out)
	}
}
