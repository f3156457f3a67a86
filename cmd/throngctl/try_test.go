package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestTry checks that a trial shows a session step by step and creates no run.
func TestTry(t *testing.T) {
	data := t.TempDir()
	code, out, stderr := ctl(t, "try", "world", "--data", data, "--agent", "mara", "--mock-latency", "none")
	if code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	for _, want := range []string{"agent mara (index 0), chain ", "Persona", "Request to model: mock-1", "Authorization: …", "system: You are Mara", "Answer 200", "Output", "world.yaml:47", "Memory after the session", "Cost", "free"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if code, out, _ = ctl(t, "runs", "--data", data); code != exitDone || strings.Contains(out, "world") {
		t.Errorf("exit code %d, runs:\n%s", code, out)
	}
	code, out, _ = ctl(t, "try", "world", "--data", data, "--agent", "mara", "--mock-latency", "none", "--json")
	var trial struct {
		ID, Outcome string
		Persona     map[string]any
		Steps       []struct {
			Path, Status string
			Exchanges    []struct{ Answer map[string]any }
		}
	}
	err := json.Unmarshal([]byte(out), &trial)
	if code != exitDone || err != nil || trial.ID != "mara" || trial.Outcome != "ok" || trial.Persona["name"] != "Mara" || len(trial.Steps) == 0 ||
		trial.Steps[0].Status != "ok" || len(trial.Steps[0].Exchanges) == 0 || trial.Steps[0].Exchanges[0].Answer["model"] != "mock-1" {
		t.Errorf("exit code %d, %v:\n%s", code, err, out)
	}
}

// TestTryFails checks the exit codes of a failed trial and of wrong usage.
func TestTryFails(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "bad.yaml")
	write(t, file, "services: {shop: {kind: http, url: 'mock:shop'}}\nchain a: {step b: {kind: http, service: shop, get: /nothing}}\n")
	code, out, _ := ctl(t, "try", file, "--data", data)
	if code != exitFailed || !strings.Contains(out, "status 404") || !strings.Contains(out, "bad.yaml:2") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	code, _, stderr := ctl(t, "try", "shopping", "--data", data, "--agent", "eve")
	if code != exitUsage || !strings.Contains(stderr, "no such agent: eve") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
