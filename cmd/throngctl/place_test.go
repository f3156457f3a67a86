package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
)

// TestExportIsLookedAtBefore checks that an export folder that cannot be created is an error before the run, not at its
// end.
func TestExportIsLookedAtBefore(t *testing.T) {
	dir := t.TempDir()
	data, taken := filepath.Join(dir, "data"), filepath.Join(dir, "taken")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{taken, filepath.Join(taken, "results"), "/proc/throng/results"} {
		code, _, stderr := ctl(t, "run", "shopping", "--data", data, "--cycles", "1", "--set", "agents=2", "--export", out)
		if code != exitUsage || !strings.Contains(stderr, "throngctl: export: ") || !strings.Contains(stderr, "nothing was started") {
			t.Errorf("%s: %d\n%s", out, code, stderr)
		}
	}
	if _, runs, _ := ctl(t, "runs", "--data", data); strings.Contains(runs, "shoppers") {
		t.Errorf("a run was started\n%s", runs)
	}
	deep := filepath.Join(dir, "a", "b")
	if err := file.CheckFolder(deep); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(deep)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the check left a folder: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".throng-*")); err != nil || len(left) > 0 {
		t.Errorf("the check left %v, %v", left, err)
	}
	if code, _, stderr := ctl(t, "run", "shopping", "--data", data, "--cycles", "1", "--set", "agents=2", "--export", deep); code != exitDone {
		t.Errorf("%d\n%s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(deep, reportName)); err != nil {
		t.Error(err)
	}
	t.Run("files", func(t *testing.T) { writtenFiles(t, data, dir) })
}

// writtenFiles checks -o: a dash means standard output, and errors name the given file.
func writtenFiles(t *testing.T, data, dir string) {
	t.Chdir(t.TempDir())
	_, want, _ := ctl(t, "export", "--data", data, "--what", "sessions")
	if _, got, _ := ctl(t, "export", "--data", data, "--what", "sessions", "-o", "-"); got != want || got == "" {
		t.Errorf("-o - printed %q, want %q", got, want)
	}
	if _, err := os.Stat("-"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("-o - has written a file: %v", err)
	}
	nowhere := filepath.Join(dir, "nowhere", "page.html")
	for _, c := range []struct {
		says string
		args []string
	}{
		{"out: --what all writes several files", []string{"export", "-o", "-"}},
		{dir + ": is a folder", []string{"report", "-o", dir}},
		{dir + ": is a folder", []string{"export", "--what", "events", "-o", dir}},
		{nowhere + " cannot be written: no such file or directory", []string{"report", "-o", nowhere}},
	} {
		if code, _, stderr := ctl(t, append(c.args, "--data", data)...); code == exitDone || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: %d, %q, want %q", c.args, code, stderr, c.says)
		}
	}
}
