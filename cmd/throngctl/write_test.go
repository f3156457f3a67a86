package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/engine/mock"
)

// town returns a run of testdata/harbour.yaml, whose population a model writes.
func town(data string, more ...string) []string {
	return append([]string{"run", filepath.Join("testdata", "harbour.yaml"), "--data", data, "--mock-latency", "none", "--no-dashboard"}, more...)
}

// agentsOf returns the agents line of validate.
func agentsOf(t *testing.T, data string) string {
	t.Helper()
	code, out, stderr := ctl(t, "validate", filepath.Join("testdata", "harbour.yaml"), "--data", data)
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, "agents"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// TestWrittenPopulation checks the output and exports of a run whose population a model writes.
func TestWrittenPopulation(t *testing.T) {
	data := t.TempDir()
	if got, want := agentsOf(t, data), "12, written by model (0 kept, 12 to be written)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	code, out, stderr := ctl(t, town(data, "--export", filepath.Join(data, "out"))...)
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, want := range []string{"writing personas 0/12\n", "writing personas 12/12\n", "12 personas written by model; 12 requests, "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if got, want := agentsOf(t, data), "12, written by model (12 kept, 0 to be written)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	personas := read(t, data, "out", "population.jsonl")
	if _, got, _ := ctl(t, "export", "--data", data, "--what", "population"); got != personas || strings.Count(got, "\n") != 12 {
		t.Errorf("exported\n%s\nwant\n%s", got, personas)
	}
	code, out, _ = ctl(t, town(data, "--cycles", "1")...)
	if code != exitDone || !strings.Contains(out, "12 personas written by model, all of them earlier\n") || strings.Contains(out, "writing") {
		t.Errorf("again: exit code %d\n%s", code, out)
	}
	plain := t.TempDir()
	ctl(t, people(plain, "--cycles", "1")...)
	if code, _, stderr := ctl(t, "export", "--data", plain, "--what", "population"); code != exitUsage || !strings.Contains(stderr, "no generated population") {
		t.Errorf("another population: exit code %d: %s", code, stderr)
	}
}

// TestKilledWhileWriting kills the program during a request for personas, interrupts it during another, then continues.
func TestKilledWhileWriting(t *testing.T) {
	whole := t.TempDir()
	if code, out, stderr := ctl(t, town(whole, "--export", whole)...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	data := t.TempDir()
	cmd, stdout, errs := process(t, []string{killEnv + "=request:6"}, town(data, "--max-llm-calls", "1")...)
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed: %v\n%s%s", err, stdout, errs)
	}
	if kept := strings.Count(read(t, data, "populations", "harbour.jsonl"), "\n"); kept != 5 {
		t.Errorf("%d are stored after 5 answers", kept)
	}

	signals := make(chan os.Signal, 1)
	var requests atomic.Int64
	var out, stderr bytes.Buffer
	code := execute(town(data, "--max-llm-calls", "1"), &terminal{
		in: strings.NewReader(""), out: &out, err: &stderr, signals: signals,
		hooks: hooks{trusts: true, onRequest: func(mock.Request) {
			if requests.Add(1) == 3 {
				signals <- os.Interrupt
			}
		}},
	})
	after := strings.Count(read(t, data, "populations", "harbour.jsonl"), "\n")
	switch says := fmt.Sprintf("%d of 12 personas are written and stored; launch the scenario again", after); {
	case after == 12: // finished before it handled the signal
	case code != exitInterrupted || !strings.Contains(stderr.String(), says) || !strings.Contains(stderr.String(), "it was stopped"):
		t.Errorf("exit code %d, want %q in\n%s%s", code, says, &out, &stderr)
	}

	requests.Store(0)
	code = execute(town(data, "--export", data), &terminal{
		in: strings.NewReader(""), out: &out, err: &stderr, hooks: hooks{trusts: true, onRequest: func(mock.Request) { requests.Add(1) }},
	})
	if code != exitDone || requests.Load() != int64(12-after) {
		t.Errorf("exit code %d after %d requests for %d personas\n%s%s", code, requests.Load(), 12-after, &out, &stderr)
	}
	for _, name := range []string{"population.jsonl", "sessions.csv", "events.csv"} {
		if got, want := read(t, data, name), read(t, whole, name); got != want {
			t.Errorf("%s differs\n%s", name, difference(want, got))
		}
	}
}

// TestResumeNeedsNoNewPersonas kills a run with a written population, removes the stored population, and resumes the
// run without model calls for personas.
func TestResumeNeedsNoNewPersonas(t *testing.T) {
	whole := t.TempDir()
	if code, out, stderr := ctl(t, town(whole, "--export", whole, "--cycles", "6")...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	data := t.TempDir()
	cmd, stdout, errs := process(t, []string{killEnv + "=commit:4"}, town(data, "--cycles", "6", "--max-concurrent", "1")...)
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed: %v\n%s%s", err, stdout, errs)
	}
	if err := os.RemoveAll(filepath.Join(data, "populations")); err != nil {
		t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	var requests atomic.Int64
	code := execute([]string{"resume", "--data", data, "--export", data, "--no-dashboard"}, &terminal{
		in: strings.NewReader(""), out: &out, err: &stderr, hooks: hooks{trusts: true, onRequest: func(mock.Request) { requests.Add(1) }},
	})
	if code != exitDone || requests.Load() > 0 || strings.Contains(out.String(), "written by") {
		t.Fatalf("exit code %d, %d requests\n%s%s", code, requests.Load(), &out, &stderr)
	}
	for _, name := range []string{"population.jsonl", "sessions.csv", "events.csv"} {
		if got, want := read(t, data, name), read(t, whole, name); got != want {
			t.Errorf("%s differs\n%s", name, difference(want, got))
		}
	}
}

// TestGuideWrittenPopulation runs the guide's example of a population that a model writes.
func TestGuideWrittenPopulation(t *testing.T) {
	for part := range strings.SplitSeq(page(t, "scenario"), "```yaml\n") {
		text, _, _ := strings.Cut(part, "```")
		if !strings.Contains(text, "  write:\n") {
			continue
		}
		dir := t.TempDir()
		text += "chain c: {step a: {kind: emit, event: e, data: \"${agent.occupation}\"}}\n"
		if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, stderr := ctl(t, "run", filepath.Join(dir, "s.yaml"), "--data", dir, "--cycles", "1", "--mock-latency", "none", "--no-dashboard")
		if code != exitDone || !strings.Contains(out, "24 personas written by model") {
			t.Fatalf("exit code %d\n%s%s", code, out, stderr)
		}
		return
	}
	t.Fatal("the guide has no written population")
}
