package logs

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	var also bytes.Buffer
	level := &slog.LevelVar{}
	log, file, err := Open(Options{Dir: dir, Name: "throng", Level: level, Also: &also, Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "…") }})
	if err != nil {
		t.Fatal(err)
	}
	log.Debug("not yet")
	log.Info("signed in", "with", "hunter2")
	level.Set(slog.LevelDebug)
	log.Debug("from now on")
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "throng.log")
	text, err := os.ReadFile(path)
	if err != nil || string(text) != also.String() || strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "not yet") ||
		!strings.Contains(string(text), `msg="signed in" with=…`) || !strings.Contains(string(text), "from now on") {
		t.Errorf("logged %q, %q, %v", text, &also, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

// TestRotation logs more than a file may hold.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	log, file, err := Open(Options{Dir: dir, Name: "throngctl"})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 1<<20)
	for range 2*largest + 1 {
		log.Info(long)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "throngctl*.log"))
	if err != nil || len(names) < 2 {
		t.Fatalf("files %q, %v", names, err)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || info.Size() > (largest+1)<<20 {
			t.Errorf("%s: %v %v", name, info.Size(), err)
		}
	}
}

func TestNowhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(Options{Dir: filepath.Join(file, "logs"), Name: "throng"}); err == nil || !strings.Contains(err.Error(), "log into ") {
		t.Errorf("got %v", err)
	}
}

func TestLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "throng.log")
	text := "half a line\ntime=2026-03-01T10:00:00.000Z level=INFO msg=one\ntime=2026-03-01T10:00:01.000Z level=INFO msg=two\n" +
		"time=2026-03-01T10:00:02.000+01:00 level=INFO msg=three\ntime=2026-03-01T11:00:00.000Z level=INFO msg=later\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	until := time.Date(2026, 3, 1, 10, 30, 0, 0, time.UTC)
	got := Last(path, 2, until)
	if want := []string{"time=2026-03-01T10:00:01.000Z level=INFO msg=two", "time=2026-03-01T10:00:02.000+01:00 level=INFO msg=three"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := Last(path+".none", 2, until); got != nil {
		t.Errorf("of no file: %q", got)
	}
}
