package main

import (
	"bytes"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestFollow follows the metrics of a run in another process until it ends.
func TestFollow(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cmd, stdout, _ := slowRun(t, data)
	live := filepath.Join(t.TempDir(), "live.csv")
	followed := make(chan int, 1)
	var said string
	go func() {
		code, _, stderr := ctl(t, "export", "--what", "metrics", "--follow", "-o", live, "--data", data)
		said = stderr
		followed <- code
	}()
	waitFor(t, "rows before the run is over", func() bool {
		text, err := os.ReadFile(live)
		return err == nil && bytes.Count(text, []byte("\n")) >= 3
	})
	if code, out, stderr := ctl(t, "stop", "--now", "--data", data); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	if _, err := io.Copy(io.Discard, stdout); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // interrupted
	if code := <-followed; code != exitDone || !strings.Contains(said, "is no longer in progress: stopped") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	rows, err := csv.NewReader(strings.NewReader(read(t, live))).ReadAll()
	if err != nil || len(rows) < 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if _, all, _ := ctl(t, "export", "--what", "metrics", "--data", data); all != read(t, live) {
		t.Errorf("the followed rows differ from the exported ones:\n%s\n%s", read(t, live), all)
	}
}

// TestExportFormats checks which data can be exported in which format.
func TestExportFormats(t *testing.T) {
	data, out := t.TempDir(), t.TempDir()
	if code, stdout, stderr := ctl(t, day(data)...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	for args, want := range map[string]string{
		"--what events --follow": "only metrics can be followed",
		"--follow":               "only metrics can be followed",
		"--what metrics --follow --format parquet":   "cannot be read before it is complete",
		"--what run --format parquet":                "run has only one format",
		"--what memory --format jsonl":               "memory has only one format",
		"--what sessions --format xml":               "must be one of",
		"--what sessions --format parquet -o " + out: "",
	} {
		code, _, stderr := ctl(t, append([]string{"export", "--data", data}, strings.Fields(args)...)...)
		if code == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d\n%s", args, code, stderr)
		}
	}
	if code, lines, stderr := ctl(t, "export", "--data", data, "--what", "sessions", "--format", "jsonl"); code != exitDone || strings.Count(lines, "\n") != 90 || !strings.HasPrefix(lines, `{"cycle":0,"agent_index":0,"agent":"`) {
		t.Errorf("exit code %d\n%.300s%s", code, lines, stderr)
	}
	folder := filepath.Join(out, "all")
	if code, _, stderr := ctl(t, "export", "--data", data, "--format", "parquet", "-o", folder); code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	file := []byte(read(t, folder, "sessions.parquet"))
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil || f.NumRows() != 90 {
		t.Errorf("%v, %v", f, err)
	}
	if code, lines, _ := ctl(t, "export", "--data", data, "--what", "metrics", "--follow"); code != exitDone || !strings.HasPrefix(lines, "timestamp,") {
		t.Errorf("following a finished run: exit code %d\n%s", code, lines)
	}
}

// TestAttributesAreExported checks that the file of agents has the attributes of the agents that are in the run, in the order of the
// population, without secrets, and that a survey has the agents who were asked.
func TestAttributesAreExported(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	file, questions := filepath.Join(dir, "few.yaml"), filepath.Join(dir, "questions.yaml")
	for path, text := range map[string]string{
		file: `
title: Few
clock: {cycles: 1}
population:
  rows: [{id: ann, town: Bern, agent: spy}, {id: bo, age: 30}, {id: cy, town: "=Rome", age: 4.5}]
  attributes: {double: "${agent.index * 2}", login: "${dict(user=agent.id, password='hidden')}", api_key: hidden, broken: "${10 // (1 - agent.index)}"}
services: {model: {kind: llm, provider: mock}}
chain go: {step say: {kind: emit, event: said, data: {x: 1}}}
`,
		questions: "questions: {well: {ask: Well?, answer: [good, bad]}}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want(t, exitDone, "", []string{"run", file, "--data", data, "--no-dashboard", "--filter", "agent.id != 'cy'"}, "finished")
	want(t, exitDone, "", []string{"survey", questions, "--agents", "agent.id == 'ann'", "--data", data}, "1 of 1")
	const head = "agent_index,agent,town,attribute_agent,age,double,login,api_key,broken\n"
	const ann = "0,ann,Bern,spy,,0,\"{\"\"user\"\":\"\"ann\"\",\"\"password\"\":\"\"…\"\"}\",…,10\n"
	const bo = "1,bo,,,30,2,\"{\"\"user\"\":\"\"bo\"\",\"\"password\"\":\"\"…\"\"}\",…,\n"
	if _, got, stderr := ctl(t, "export", "--what", "agents", "--data", data); got != head+ann+bo {
		t.Errorf("got\n%s%swant\n%s", got, stderr, head+ann+bo)
	}
	folder := filepath.Join(dir, "out")
	want(t, exitDone, "", []string{"export", "Survey: Few", "-o", folder, "--data", data}, "exported to")
	if got := read(t, filepath.Join(folder, "agents.csv")); got != head+ann {
		t.Errorf("the survey has\n%swant\n%s", got, head+ann)
	}
}
