package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// forkable is a scenario that runs slowly enough to be interrupted.
const forkable = `title: Forkable
parameters: {shops: 3, pause: 0.0}
clock: {cycle: 1h, cycles: 4}
population: {count: 6, id: "walker-${agent.index}"}
services:
  shop: {kind: http, url: "mock:shop"}
chain walk:
  step look: {kind: http, service: shop, get: /api/products/search, query: {query: Produce, limit: "${params.shops}"}}
  step remember: {kind: remember, set: {walks: "${get(agent.memory, 'walks', 0) + 1}"}}
  step rest: {kind: wait, for: "${params.pause}"}
  step tell: {kind: emit, event: walked, data: "${agent.memory}"}
`

// TestForkFromTheCommandLine checks that a fork reports its differences, is listed with its parent, and that invalid forks
// are rejected with the valid choices.
func TestForkFromTheCommandLine(t *testing.T) {
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "walk.yaml")
	if err := os.WriteFile(file, []byte(forkable), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := ctl(t, "fork", "--data", data); code != exitUsage || !strings.Contains(stderr, errNoRun.Error()) {
		t.Errorf("without a run: exit code %d\n%s%s", code, out, stderr)
	}
	code, out, stderr := ctl(t, "run", file, "--data", data, "--no-dashboard", "--mock-latency", "none", "--checkpoint-interval", "0.001", "--keep-checkpoints", "1000", "--set", "pause=0.05")
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	parent := regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)[1]
	_, list, _ := ctl(t, "checkpoints", parent, "--data", data)
	number := ""
	for line := range strings.SplitSeq(list, "\n") {
		if f := strings.Fields(line); len(f) > 3 && f[3] == "2" {
			number = f[0]
		}
	}
	if number == "" {
		t.Fatalf("no checkpoint at the start of cycle 2:\n%s", list)
	}
	for want, args := range map[string][]string{
		"has no checkpoint 99999 (there are 1 (cycle ":    {"--checkpoint", "99999"},
		"is at the start of cycle 2, and the fork has 2":  {"--checkpoint", number, "--cycles", "2"},
		"the scenario has no such parameter":              {"--set", "shop=5"},
		"no such file or built-in scenario: nowhere.yaml": {"--file", "nowhere.yaml"},
		"more than one scenario file":                     {file, "--file", file},
	} {
		if code, out, stderr := ctl(t, append([]string{"fork", parent, "--data", data}, args...)...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, want %q\n%s%s", args, code, want, out, stderr)
		}
	}
	other := strings.Replace(forkable, "'walks', 0) + 1", "'walks', 0) + 10", 1)
	if err := os.WriteFile(file, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr = ctl(t, "fork", parent, file, "--checkpoint", number, "--data", data, "--no-dashboard", "--seed", "2", "--set", "shops=5", "--retries", "3", "--filter", "agent.index < 4", "--export", filepath.Join(data, "out"))
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, want := range []string{
		"fork of " + parent + " at the start of cycle 2 (checkpoint " + number + ")\n", "file walk.yaml changed\n", "parameter shops 3 → 5\n", "seed 1 → 2\n", "retries 5 → 3\n", "filter none → agent.index < 4\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(out, "pause") {
		t.Errorf("the parent's own parameter is listed as different:\n%s", out)
	}
	events := read(t, data, "out", "events.csv")
	if strings.Count(events, ",12\n") != 4 || strings.Count(events, ",22\n") != 4 || strings.Count(events, "\n") != 9 {
		t.Errorf("four agents remember two walks of the parent, and ten for each of their own:\n%s", events)
	}
	if manifest := read(t, data, "out", "run.json"); strings.Contains(manifest, filepath.Dir(file)) {
		t.Error("run.json has the path of the file")
	}
	if _, out, _ := ctl(t, "runs", "--data", data); !strings.Contains(out, "  continues run "+parent+" from ") {
		t.Errorf("the runs do not name the parent:\n%s", out)
	}
}

// TestForkOfAShortRun forks a run that finished before a checkpoint was due: it has the one at its end, and the fork needs another cycle.
func TestForkOfAShortRun(t *testing.T) {
	data := t.TempDir()
	if code, out, stderr := ctl(t, day(data, "--cycles", "1")...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, _ := ctl(t, "checkpoints", "--data", data); code != exitDone || !strings.Contains(out, "at the end") || strings.Count(out, "\n") != 2 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if code, _, stderr := ctl(t, "fork", "--data", data); code != exitUsage || !strings.Contains(stderr, "is at the start of cycle 1, and the fork has 1") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if code, out, stderr := ctl(t, "fork", "--cycles", "2", "--data", data); code != exitDone || !strings.Contains(out, "2 of 2 cycles done") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}

// TestResumeOfAChangedScenario checks that a run of a changed scenario is not resumed, and that the error has both ways to
// continue. Irrelevant changes and a missing file are reported.
func TestResumeOfAChangedScenario(t *testing.T) {
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "walk.yaml")
	write := func(old, with string) {
		if err := os.WriteFile(file, []byte(strings.Replace(forkable, old, with, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("", "")
	// Each budget is used up before the run ends.
	code, out, stderr := ctl(t, "run", file, "--data", data, "--no-dashboard", "--mock-latency", "none", "--max-requests", "8", "--max-concurrent", "1", "--governor", "manual")
	run := regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)
	if code != exitFailed || run == nil {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	resume := func(requests string, more ...string) (int, string, string) {
		return ctl(t, append([]string{"resume", "--data", data, "--no-dashboard", "--max-requests", requests}, more...)...)
	}
	write("+ 1", "+ 2")
	code, out, stderr = resume("20")
	for _, want := range []string{
		"walk.yaml:9: chain walk, step remember, set, walks", "throngctl resume " + run[1] + " --as-it-was", "throngctl fork " + run[1] + " --checkpoint ", "--file " + file,
	} {
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("exit code %d, want %q\n%s%s", code, want, out, stderr)
		}
	}
	write("chain walk:", "chain walk")
	if code, out, stderr = resume("20"); code != exitUsage || !strings.Contains(stderr, "can no longer be read") || strings.Contains(stderr, "fork") {
		t.Errorf("an invalid file: exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr = resume("12", "--as-it-was"); code != exitFailed || !strings.Contains(out, "resuming run "+run[1]) {
		t.Errorf("with --as-it-was: exit code %d\n%s%s", code, out, stderr)
	}
	write("title: Forkable", "# a remark\ntitle: Other")
	if code, out, stderr = resume("16"); code != exitFailed || !strings.Contains(stderr, "has changed, but not in a way that matters") {
		t.Errorf("with a remark: exit code %d\n%s%s", code, out, stderr)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	code, out, stderr = resume("0", "--export", filepath.Join(data, "out"))
	if code != exitDone || !strings.Contains(stderr, "walk.yaml no longer exists") {
		t.Errorf("without the file: exit code %d\n%s%s", code, out, stderr)
	}
	if events := read(t, data, "out", "events.csv"); strings.Count(events, ",4\n") != 6 {
		t.Errorf("the run did not continue unchanged:\n%s", events)
	}
}
