package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/view"
)

// TestWithoutAWindow checks that the terminal shows what the window shows about a finished run: a moment, findings and
// personas.
func TestWithoutAWindow(t *testing.T) {
	data := t.TempDir()
	if code, out, stderr := ctl(t, "run", "shopping", "--data", data, "--set", "agents=20", "--set", "eagerness=8", "--cycles", "3", "--seed", "7", "--mock-latency", "none"); code != exitDone {
		t.Fatal(out, stderr)
	}
	answer := func(args ...string) string {
		t.Helper()
		code, out, stderr := ctl(t, append(args, "--data", data)...)
		if code != exitDone {
			t.Errorf("%s: exit code %d: %s", args, code, stderr)
		}
		return out
	}
	var early, late view.Status
	if err := json.Unmarshal([]byte(answer("status", "--at", "0s", "--json")), &early); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(answer("status", "--at", "1h", "--json")), &late); err != nil {
		t.Fatal(err)
	}
	if early.Sessions != 0 || late.Sessions != 60 || late.Phase != "ended" {
		t.Errorf("got %d sessions initially, %d at the end, phase %s", early.Sessions, late.Sessions, late.Phase)
	}
	if code, _, stderr := ctl(t, "status", "--at", "teatime", "--data", data); code != exitUsage || !strings.Contains(stderr, "not a time") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if out := answer("check", "--after"); !strings.Contains(out, "60 of 60 sessions ended") {
		t.Error(out)
	}
	if out := answer("agents", "--where", "agent.index < 2"); out != "shopper-1\nshopper-2\n" {
		t.Errorf("%q", out)
	}
	if out := answer("timeline", "shopper-3", "--persona", "--last", "1"); !strings.Contains(out, "price_sensitivity") {
		t.Error(out)
	}
	if out := answer("calibrate", "--history"); !strings.Contains(out, "No calibrations yet") {
		t.Error(out)
	}
	answer("calibrate", "shopping", "--set", "agents=20", "--levels", "1,2", "--repeats", "1", "--duration", "50ms", "--mock-latency", "none", "--json")
	if out := answer("calibrate", "--history"); !strings.Contains(out, "Marketplace shoppers") {
		t.Error(out)
	}
}

// TestMoment checks the forms of times for --at.
func TestMoment(t *testing.T) {
	begun := time.Date(2030, 3, 1, 23, 50, 0, 5e8, time.Local)
	for text, want := range map[string]time.Time{
		"10m": begun.Add(10 * time.Minute), "23:50:00": begun.Truncate(time.Second), "00:05:00": time.Date(2030, 3, 2, 0, 5, 0, 0, time.Local),
		"2030-03-01T23:55:00": time.Date(2030, 3, 1, 23, 55, 0, 0, time.Local), "2030-03-01T22:55:00Z": time.Date(2030, 3, 1, 22, 55, 0, 0, time.UTC),
	} {
		if got, err := moment(text, begun); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
}
