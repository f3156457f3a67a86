package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/logs"
)

// TestLogOfARun checks that the log of a run is in the data folder or at --log-file, and that other commands write no log.
func TestLogOfARun(t *testing.T) {
	data, own := t.TempDir(), filepath.Join(t.TempDir(), "own.log")
	small := []string{"run", "shopping", "--data", data, "--set", "agents=5", "--mock-latency", "none"}
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
		if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first.Msg != "run started" || first.Run == "" || first.Settings["max-concurrent"] != "50" {
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
		t.Error("listing runs created a log")
	}
	if code, _, stderr := ctl(t, "runs", "--data", other, "--log-file", filepath.Join(own, "below")); code != exitUsage || !strings.Contains(stderr, "log-file") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestLogLevelIsASetting checks that throngctl settings saves and shows the level, that --debug overrides it, and that the
// log of a run has it.
func TestLogLevelIsASetting(t *testing.T) {
	data := t.TempDir()
	settings := func(args ...string) string {
		t.Helper()
		code, out, stderr := ctl(t, append([]string{"settings", "--data", data}, args...)...)
		if code != exitDone {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
		return strings.Join(strings.Fields(regexp.MustCompile(`(?m)^log-level .*$`).FindString(out))[:3], " ")
	}
	run := func(args ...string) (log string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "run.log")
		args = append([]string{"run", "shopping", "--data", data, "--set", "agents=5", "--mock-latency", "none", "--log-file", path}, args...)
		if code, out, stderr := ctl(t, args...); code != exitDone {
			t.Fatal(out, stderr)
		}
		return read(t, path)
	}
	for _, c := range []struct {
		args   []string
		want   string
		logged bool // that the run began
	}{
		{nil, "log-level info default", true},
		{[]string{"log-level=error"}, "log-level error saved", false},
		{[]string{"--debug"}, "log-level debug --debug", true},
		{[]string{"log-level="}, "log-level info default", true},
	} {
		if got := settings(c.args...); got != c.want {
			t.Errorf("%v: %s, want %s", c.args, got, c.want)
		}
		var flags []string
		if slices.Contains(c.args, "--debug") {
			flags = c.args
		}
		if log := run(flags...); strings.Contains(log, `"run started"`) != c.logged {
			t.Errorf("with %s: got log %q", c.want, log)
		}
	}
	code, _, stderr := ctl(t, "settings", "--data", data, "log-level=loud")
	if code != exitUsage || !strings.Contains(stderr, "error, warning, info, debug") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, out, _ := ctl(t, "settings", "--data", data, "--json"); code != exitDone || !strings.Contains(out, `"log-level"`) {
		t.Errorf("exit code %d: %s", code, out)
	}
}
