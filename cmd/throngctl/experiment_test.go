package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
)

// TestExperiment writes, executes, extends and compares an experiment in the terminal.
func TestExperiment(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, stderr := ctl(t, append([]string{"experiment"}, append(args, "--data", filepath.Join(dir, "data"))...)...)
		if code != want {
			t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, out, stderr)
		}
		return out + stderr
	}
	write("coin.yaml", `
title: Coin
parameters: {bias: {default: 0.5}}
population: {count: 30}
acted: heads
chain toss: {step toss: {kind: emit, event: heads, data: {}, when: chance(params.bias)}}
`)
	if out := run(0, "new", "coin.yaml"); !strings.Contains(out, "coin.experiment.yaml") {
		t.Errorf("new: %s", out)
	}
	if out := run(2, "new", "coin.yaml"); !strings.Contains(out, "already exists") {
		t.Errorf("a second new: %s", out)
	}
	if out := run(2, "new", "coin.yaml", "-o", "other.yaml"); !strings.Contains(out, "ends in .experiment.yaml") {
		t.Errorf("new with another name: %s", out)
	}
	write("other.yaml", "title: Other\nscenario: coin.yaml\n")
	if code, _, stderr := ctl(t, "validate", "other.yaml"); code != 2 || !strings.Contains(stderr, "rename it") {
		t.Errorf("an experiment with another name is validated: %d, %s", code, stderr)
	}
	if out := run(0, "status", "coin.experiment.yaml"); !strings.Contains(out, "waiting") || !strings.Contains(out, "to do") {
		t.Errorf("status of the written file: %s", out)
	}
	const text = "title: Bias\nscenario: coin.yaml\nvary: {params.bias: [0.5, 0.9]}\nreplicates: {seeds: SEEDS}\nmeasures: [acted]\nsettings: {cycles: 2}\n"
	write("bias.experiment.yaml", strings.Replace(text, "SEEDS", "6", 1))
	if out := run(0, "run", "bias.experiment.yaml"); !strings.Contains(out, "12 runs to do") || !strings.Contains(out, "12 of 12 runs are done") {
		t.Errorf("run: %s", out)
	}
	write("bias.experiment.yaml", strings.Replace(text, "SEEDS", "12", 1))
	if out := run(0, "resume", "bias.experiment.yaml"); !strings.Contains(out, "12 runs to do") || !strings.Contains(out, "24 of 24 runs are done") {
		t.Errorf("extended: %s", out)
	}
	var effects answer.Effects
	if err := json.Unmarshal([]byte(run(0, "compare", "bias.experiment.yaml", "--json")), &effects); err != nil {
		t.Fatal(err)
	}
	if d := effects.Measures[0].Points[1].Difference; effects.Baseline != 1 || d == nil || *d.Value < 0.3 || *d.Adjusted > 0.001 || d.Interval.Low > *d.Value {
		t.Errorf("the comparison is %+v, with %+v", effects, d)
	}
	if out := run(0, "compare", "bias.experiment.yaml", "--measure", "acted", "--csv", "effects.csv"); !strings.Contains(out, "- bias=0.9 raises acted by 40.6 percentage points") || !strings.Contains(out, "the baseline") || !strings.Contains(out, "< 0.001") {
		t.Errorf("compare: %s", out)
	}
	if out := run(0, "export", "bias.experiment.yaml"); strings.Count(out, ",done,") != 24 {
		t.Errorf("export: %s", out)
	}
	testExports(t, run)
	if out := run(2, "stop", "bias.experiment.yaml"); !strings.Contains(out, "in progress") {
		t.Errorf("stop: %s", out)
	}
	checkSteering(t, dir, run)
	if out := run(2, "compare", "bias.experiment.yaml", "--measure", "actd"); !strings.Contains(out, "measures: acted") {
		t.Errorf("an unknown measure: %s", out)
	}
	write("bad.experiment.yaml", "scenario: coin.yaml\nvary: {params.bia: [1]}\nparallel: 0\n")
	if out := run(2, "run", "bad.experiment.yaml"); !strings.Contains(out, "bad.experiment.yaml:2:") || !strings.Contains(out, "2 errors; nothing was started") {
		t.Errorf("mistakes: %s", out)
	}
	if out := run(2, "run", "none.experiment.yaml"); !strings.Contains(out, "throngctl experiment new") {
		t.Errorf("no file: %s", out)
	}
}

// checkSteering extends a complete experiment and changes the order of its runs.
func checkSteering(t *testing.T, dir string, run func(want int, args ...string) string) {
	t.Helper()
	const file = "bias.experiment.yaml"
	entry := func() (e answer.ExperimentEntry) {
		t.Helper()
		var all []answer.ExperimentEntry
		if err := json.Unmarshal([]byte(run(0, "list", "--json")), &all); err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if e.File == filepath.Join(dir, file) {
				return e
			}
		}
		t.Fatalf("it is not among %+v", all)
		return e
	}
	if e := entry(); e.State != "complete" || e.Runs != 24 || e.Done != 24 || e.Title != "Bias" {
		t.Errorf("listed: %+v", e)
	}
	if out := run(2, "skip", file, "--point", "1", "--seed", "1"); !strings.Contains(out, "done already") {
		t.Errorf("skip: %s", out)
	}
	if out := run(0, "extend", file, "--seeds", "1", "--level", "params.bias=0.7", "--measure", "events.heads"); !strings.Contains(out, "experiment run") {
		t.Errorf("extend: %s", out)
	}
	if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(text), "[0.5, 0.9, 0.7]") || !strings.Contains(string(text), "seeds: 13") || !strings.Contains(string(text), "[acted, events.heads]") {
		t.Errorf("the file is\n%s, %v", text, err)
	}
	run(0, "pause", file)
	if out := run(0, "skip", file, "--point", "3"); !strings.Contains(out, "13 runs") {
		t.Errorf("skip: %s", out)
	}
	run(0, "skip", file, "--point", "3", "--seed", "13", "--undo")
	run(0, "first", file, "--seed", "13")
	var all answer.Experiment
	if err := json.Unmarshal([]byte(run(0, "status", file, "--json")), &all); err != nil {
		t.Fatal(err)
	}
	if all.Runs != (answer.ExperimentRuns{All: 39, Waiting: 3, Done: 24, Skipped: 12}) || all.PausedBy == "" {
		t.Errorf("status: %+v, paused by %q", all.Runs, all.PausedBy)
	}
	if out := run(2, "first", file, "zzz"); !strings.Contains(out, "no run zzz") {
		t.Errorf("first: %s", out)
	}
	if out := run(0, "resume", file); !strings.Contains(out, "27 of 39 runs are done, 12 skipped") {
		t.Errorf("resume: %s", out)
	}
	if e := entry(); e.State != "complete" || e.Skipped != 12 || e.PausedBy != "" {
		t.Errorf("listed: %+v", e)
	}
	i := slices.IndexFunc(all.List, func(r answer.ExperimentRun) bool { return r.State == "skipped" })
	run(0, "skip", file, all.List[i].Identity[:12], "--undo")
	run(0, "skip", file, "--point", "3", "--undo")
	run(0, "run", file)
	run(0, "forget", file)
	if out := run(0, "list"); strings.Contains(out, "Bias") {
		t.Errorf("it is not forgotten: %s", out)
	}
}

// testExports exports and reports an experiment with 24 runs, 2 points and 1 measure in all ways.
func testExports(t *testing.T, run func(want int, args ...string) string) {
	t.Helper()
	if out := run(0, "export", "bias.experiment.yaml", "--effects", "--format", "jsonl", "-o", "-"); strings.Count(out, `"measure":"acted"`) != 2 {
		t.Errorf("effects: %s", out)
	}
	run(0, "export", "bias.experiment.yaml", "--format", "parquet", "-o", "runs.parquet")
	if data, err := os.ReadFile("runs.parquet"); err != nil || !strings.HasPrefix(string(data), "PAR1") {
		t.Errorf("Parquet: %.10q, %v", data, err)
	}
	if out := run(0, "export", "bias.experiment.yaml", "--all", "-o", "all"); !strings.Contains(out, "exported to all") {
		t.Errorf("all: %s", out)
	}
	for _, name := range []string{"table.csv", "effects.csv", "bias.experiment.yaml", "README.md"} {
		if _, err := os.Stat(filepath.Join("all", name)); err != nil {
			t.Error(err)
		}
	}
	if out := run(0, "report", "bias.experiment.yaml"); !strings.Contains(out, "bias.html") {
		t.Errorf("report: %s", out)
	}
	page, err := os.ReadFile("bias.html")
	if err != nil || !strings.Contains(string(page), "bias=0.9 raises acted by 40.6 percentage points") || !strings.Contains(string(page), "throngctl experiment run bias.experiment.yaml") {
		t.Errorf("the report is %.300s, %v", page, err)
	}
	if out := run(0, "report", "bias.experiment.yaml", "-o", "-"); out != string(page) {
		t.Error("the report on standard output differs")
	}
	if out := run(0, "report", "bias.experiment.yaml", "-o", "mine.html", "--json"); !strings.Contains(out, `"done": "report of the experiment: mine.html"`) {
		t.Errorf("report --json: %s", out)
	}
	if out := run(2, "report", "bias.experiment.yaml", "-o", "-", "--json"); !strings.Contains(out, "leave out --json") {
		t.Errorf("report --json to standard output: %s", out)
	}
	if out := run(2, "export", "bias.experiment.yaml", "--all"); !strings.Contains(out, "-o DIR") {
		t.Errorf("all without a folder: %s", out)
	}
	if out := run(2, "export", "bias.experiment.yaml", "--all", "--effects", "-o", "all"); !strings.Contains(out, "leave out --effects") {
		t.Errorf("all with effects: %s", out)
	}
}
