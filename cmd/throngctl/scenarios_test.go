package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestScenarios lists the built-in scenarios, shows each and copies it. Existing files are not replaced.
func TestScenarios(t *testing.T) {
	code, out, stderr := ctl(t, "scenarios")
	if code != exitDone || strings.Count(out, "\n") != 5 || !strings.Contains(out, "shopping") || !strings.Contains(out, "Marketplace shoppers") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, name := range []string{"shopping", "conversation", "world", "analysis", "study"} {
		dir := filepath.Join(t.TempDir(), "mine")
		code, out, stderr = ctl(t, "scenarios", name, "--copy", dir)
		if code != exitDone || !strings.Contains(out, "throngctl validate ") {
			t.Fatalf("%s: exit code %d\n%s%s", name, code, out, stderr)
		}
		_, file, _ := strings.Cut(strings.TrimSpace(out), "throngctl validate ")
		_, plan, _ := ctl(t, "validate", name)
		code, own, stderr := ctl(t, "validate", file)
		if code != exitDone || own != plan || plan == "" {
			t.Errorf("the copy of %s differs: exit code %d\n%s%s\n%s", name, code, own, stderr, plan)
		}
		code, shown, _ := ctl(t, "scenarios", name)
		if text := read(t, file); code != exitDone || !strings.Contains(shown, text) {
			t.Errorf("%s is shown as\n%s", name, shown)
		}
		write(t, file, "mine")
		code, _, stderr = ctl(t, "scenarios", name, "--copy", dir)
		if code != exitUsage || !strings.Contains(stderr, "already exists") || read(t, file) != "mine" {
			t.Errorf("again: exit code %d\n%s", code, stderr)
		}
	}
	for _, wrong := range [][]string{{"scenarios", "shoping"}, {"scenarios", "--copy", t.TempDir()}} {
		if code, _, stderr := ctl(t, wrong...); code != exitUsage || !strings.Contains(stderr, "shopping") {
			t.Errorf("%q: exit code %d\n%s", wrong, code, stderr)
		}
	}
}
