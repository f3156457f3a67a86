package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
)

const studyYAML = `
title: A study
parameters: {people: 12}
clock: {cycles: 6}
population:
  from: panel.parquet
  columns: {id: person, gender: gender}
  where: row.age >= 18
  count: ${params.people}
  sample: {weight: weight, seed: 4, targets: {gender: {female: 60%, male: 40%}}}
services:
  shop: {kind: http, url: mock:shop, auth: {user: "${agent.id}"}}
chain ask:
  step search: {kind: http, service: shop, get: /api/products/search, query: {query: tea, limit: 1}}
  step answer: {kind: emit, event: answered, data: {gender: "${agent.gender}"}}
`

// panelist is a row of a panel with long texts.
type panelist struct {
	Person string  `parquet:"person"`
	Gender string  `parquet:"gender"`
	Age    int32   `parquet:"age"`
	Weight float64 `parquet:"weight"`
	Story  string  `parquet:"story"`
}

// paneled writes a study with a panel that is too large to be stored with a run, and returns the path of the scenario.
func paneled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var all []panelist
	for i := range 2000 {
		all = append(all, panelist{fmt.Sprint("p", i), []string{"female", "male", "male"}[i%3], int32(10 + i%50), float64(1 + i%4), strings.Repeat(fmt.Sprint(i, " "), 1200)})
	}
	panel, path := filepath.Join(dir, "panel.parquet"), filepath.Join(dir, "study.yaml")
	if err := parquet.WriteFile(panel, all); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(panel); err != nil || info.Size() < 8<<20 {
		t.Fatalf("the panel is too small: %v, %v", info, err)
	}
	if err := os.WriteFile(path, []byte(studyYAML), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestResumeWithoutThePanel kills a run whose agents were drawn from a large Parquet file, deletes the file, resumes the run, and
// compares the results with those of an uninterrupted run.
func TestResumeWithoutThePanel(t *testing.T) {
	path := paneled(t)
	whole, data := t.TempDir(), t.TempDir()
	run := func(data string, more ...string) []string {
		return append([]string{"run", path, "--data", data, "--seed", "7", "--mock-latency", "none", "--no-dashboard"}, more...)
	}
	if code, out, stderr := ctl(t, run(whole, "--export", filepath.Join(whole, "out"))...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	cmd, stdout, errs := process(t, []string{killEnv + "=request:30"}, run(data, "--max-concurrent", "2", "--checkpoint-interval", "1ms")...)
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the run was not killed: %v\n%s%s", err, stdout, errs)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := ctl(t, "resume", "--data", data, "--no-dashboard", "--export", filepath.Join(data, "out"))
	if code != exitDone {
		t.Fatalf("resume: exit code %d\n%s%s", code, out, stderr)
	}
	for _, file := range []string{"sessions.csv", "events.csv"} {
		want := read(t, whole, "out", file)
		if got := read(t, data, "out", file); got != want || strings.Count(want, "\n") != 6*12+1 {
			t.Errorf("%s differs\n%s", file, difference(want, got))
		}
	}
	if code, out, stderr = ctl(t, "fork", "--data", data, "--cycles", "8", "--no-dashboard"); code != exitDone {
		t.Errorf("fork: exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr = ctl(t, "fork", "--data", data, "--cycles", "9", "--set", "people=14", "--no-dashboard"); code != exitUsage || !strings.Contains(stderr, "other agents are to be drawn") {
		t.Errorf("fork with other agents: exit code %d\n%s%s", code, out, stderr)
	}
	report := filepath.Join(data, "report.html")
	if code, out, stderr = ctl(t, "report", "--data", data, "--out", report); code != exitDone {
		t.Fatalf("report: exit code %d\n%s%s", code, out, stderr)
	}
	if page := read(t, report); !strings.Contains(page, "<h2>Population</h2>") || !strings.Contains(page, "<td>gender female</td>") || !strings.Contains(page, "<td>60.0%</td>") {
		t.Errorf("the report does not show the population:\n%s", page[:min(len(page), 4000)])
	}
}

// TestValidateShowsTheDraw checks what validate says of a population that is drawn from a file.
func TestValidateShowsTheDraw(t *testing.T) {
	path := paneled(t)
	code, out, stderr := ctl(t, "validate", path, "--data", t.TempDir())
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, want := range []string{
		"12 of 1680 rows of panel.parquet, weighted by weight, raked to gender, seed 4", "SHA-256 ", "raked in 1 round", "share gender female", "target 60.0% ±27.7",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	code, out, stderr = ctl(t, "validate", path, "--data", t.TempDir(), "--json")
	var found answer.Scenario
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != exitDone {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, stderr)
	}
	if r := found.Population; r == nil || r.Rows != 2000 || r.Eligible != 1680 || r.Taken != 12 || len(r.Marginals) != 1 || len(r.Marginals[0].Categories) != 2 {
		t.Errorf("got %+v", r)
	}
}
