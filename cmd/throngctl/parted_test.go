package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestResumeWithFilesOfAnotherMoment resumes with a store and a mock log of different moments. The run must not be exact.
func TestResumeWithFilesOfAnotherMoment(t *testing.T) {
	t.Parallel()
	store := func(data string) string { return filepath.Join(data, "throng.db") }
	logs := func(data string) string { return filepath.Join(data, "mock") }
	resume := func(t *testing.T, data string) (out string) {
		out = t.TempDir()
		if code, _, stderr := ctl(t, "resume", "--data", data, "--cycles", "3", "--export", out); code != exitDone {
			t.Fatalf("resume: exit code %d\n%s", code, stderr)
		}
		return out
	}
	want := calmDay(t)
	for _, c := range []struct {
		name, says string
		part       func(t *testing.T, data string) error
	}{
		{"files of the same moment", "", func(*testing.T, string) error { return nil }},
		{"without the log", "the mock shop has no log of this run", func(_ *testing.T, data string) error {
			return os.RemoveAll(logs(data))
		}},
		{"with an older store", "the mock shop's log reaches cycle 2, but the store only cycle 1", func(t *testing.T, data string) error {
			before := read(t, store(data))
			resume(t, data)
			return os.WriteFile(store(data), []byte(before), 0o600)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := t.TempDir()
			if code, _, stderr := ctl(t, append(day(data), "--cycles", "1")...); code != exitDone {
				t.Fatalf("exit code %d\n%s", code, stderr)
			}
			if err := c.part(t, data); err != nil {
				t.Fatal(err)
			}
			out := resume(t, data)
			run := read(t, out, "run.json")
			if exact := strings.Contains(run, `"exact": true`); exact != (c.says == "") || !strings.Contains(run, c.says) {
				t.Errorf("exact: %v; want the reason %q\n%s", exact, c.says, run)
			}
			if got := (outcome{read(t, out, "sessions.csv"), read(t, out, "events.csv")}); c.says == "" && got != want {
				t.Errorf("sessions.csv %s\nevents.csv %s", difference(want.sessions, got.sessions), difference(want.events, got.events))
			}
		})
	}
}
