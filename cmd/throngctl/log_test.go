package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/logs"
)

// TestLogOfARun: what happened is in the data folder or where it is wanted, and no other command makes a log.
func TestLogOfARun(t *testing.T) {
	data, own := t.TempDir(), filepath.Join(t.TempDir(), "own.log")
	small := []string{"run", "shopping", "--data", data, "--set", "agents=5", "--rehearsal", "none"}
	if code, out, stderr := ctl(t, small...); code != exitDone {
		t.Fatal(out, stderr)
	}
	if code, out, stderr := ctl(t, append(small, "--log-file", own, "--debug")...); code != exitDone {
		t.Fatal(out, stderr)
	}
	for _, path := range []string{logs.FileIn(data, "throngctl"), own} {
		lines := strings.Split(strings.TrimSpace(read(t, path)), "\n")
		var first, last struct {
			Msg, Run, Ending string
			Settings         map[string]string
		}
		if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first.Msg != "begun" || first.Run == "" || first.Settings["max-concurrent"] != "50" {
			t.Errorf("%v: %s", err, lines[0])
		}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Msg != "ended" || last.Run != first.Run || last.Ending != "finished" {
			t.Errorf("%v: %s", err, lines[len(lines)-1])
		}
	}
	other := t.TempDir()
	if code, _, stderr := ctl(t, "runs", "--data", other); code != exitDone {
		t.Fatal(stderr)
	}
	if _, err := os.Stat(filepath.Join(other, "logs")); err == nil {
		t.Error("a list of runs makes a log")
	}
	if code, _, stderr := ctl(t, "runs", "--data", other, "--log-file", filepath.Join(own, "below")); code != exitUsage || !strings.Contains(stderr, "log-file") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
