package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func hide(text string) string { return strings.ReplaceAll(text, "hunter2", "…") }

// TestNoSecrets checks that no part of a line has secrets.
func TestNoSecrets(t *testing.T) {
	path := FileIn(t.TempDir(), "throngctl")
	log, closer, err := Open(Options{File: path, Redact: hide, Level: slog.LevelDebug})
	if err != nil {
		t.Fatal(err)
	}
	log = log.With("url", "postgres://me:hunter2@db")
	log.Debug("signing in with hunter2", "error", errors.New("hunter2 is wrong"), "list", []string{"hunter2"}, slog.Group("of", "token", "hunter2"), "n", 3)
	if err := closer.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || bytes.Contains(text, []byte("hunter2")) || bytes.Count(text, []byte("…")) != 5 {
		t.Errorf("%v: %s", err, text)
	}
	var line map[string]any
	if err := json.Unmarshal(text, &line); err != nil || line["level"] != "DEBUG" || line["n"] != 3.0 || line["error"] != "… is wrong" {
		t.Errorf("%v: %v", err, line)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestLogIsBounded checks that old files are removed.
func TestLogIsBounded(t *testing.T) {
	dir := t.TempDir()
	log, closer, err := Open(Options{File: filepath.Join(dir, "a.log")})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 1<<20)
	for range 2*mostMegabytes + 5 {
		log.Info(long)
	}
	if err := closer.Close(); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "a*.log"))
	if err != nil || len(found) < 2 {
		t.Fatalf("%v, %v", found, err)
	}
	for _, f := range found {
		if info, err := os.Stat(f); err != nil || info.Size() > mostMegabytes<<20 {
			t.Errorf("%s has %d bytes, %v", f, info.Size(), err)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "file")
	if err := os.WriteFile(below, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(Options{File: filepath.Join(below, "a.log")}); err == nil {
		t.Error("the log was written to a file")
	}
	later := FileIn(dir, "b")
	log, closer, err := Open(Options{File: later, Later: true})
	if err != nil {
		t.Fatal(err)
	}
	log.Debug("below the level")
	if _, err := os.Stat(later); err == nil {
		t.Error("the file exists before its first line")
	}
	log.Info("begun")
	if text, err := os.ReadFile(later); err != nil || !strings.Contains(string(text), "begun") {
		t.Errorf("%s, %v", text, err)
	}
	if err := closer.Close(); err != nil {
		t.Error(err)
	}
}

func TestLast(t *testing.T) {
	path := FileIn(t.TempDir(), "throng")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	line := func(at, msg string) string { return `{"time":"` + at + `","level":"INFO","msg":"` + msg + `"}` }
	two, three := line("2026-03-01T10:00:01Z", "two"), line("2026-03-01T10:00:02.5+01:00", "three")
	text := strings.Join([]string{"half a line", line("2026-03-01T10:00:00Z", "one"), two, three, line("2026-03-01T11:00:00Z", "later"), ""}, "\n")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	until := time.Date(2026, 3, 1, 10, 30, 0, 0, time.UTC)
	if got := Last(path, 2, until); !slices.Equal(got, []string{two, three}) {
		t.Errorf("got %q", got)
	}
	if got := Last(path+".none", 2, until); got != nil {
		t.Errorf("without a file: got %q", got)
	}
}

// TestOfRun checks that the lines of one run are merged from several files by time, that only the newest are returned, and that files
// that cannot be read are skipped unless all fail.
func TestOfRun(t *testing.T) {
	dir := t.TempDir()
	window, terminal := filepath.Join(dir, "window.log"), filepath.Join(dir, "terminal.log")
	write := func(path string, lines ...string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := func(second int, run, level, text, more string) string {
		return fmt.Sprintf(`{"time":"2026-11-01T12:00:%02d.5Z","level":%q,"msg":%q,"run":%q%s}`, second, level, text, run, more)
	}
	write(window, line(1, "a", "INFO", "started", `,"agents":372,"limit":50`), line(2, "b", "INFO", "started", ""), `no JSON, "run":"a"`, line(9, "a", "WARN", "slow", ""))
	write(terminal, line(5, "a", "ERROR", "failed", `,"error":"disk full"`), line(6, "ab", "INFO", "another run", ""))
	all, err := OfRun("a", 10, window, filepath.Join(dir, "missing.log"), terminal)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range all {
		got = append(got, fmt.Sprintf("%s %s %s (%s)", l.At.Format("05.0"), l.Level, l.Text, l.More))
	}
	if text, want := strings.Join(got, "; "), "01.5 INFO started (agents 372, limit 50); 05.5 ERROR failed (error disk full); 09.5 WARN slow ()"; text != want {
		t.Errorf("got %s, want %s", text, want)
	}
	if all, err = OfRun("a", 1, window, terminal); err != nil || len(all) != 1 || all[0].Text != "slow" {
		t.Errorf("the newest line: %+v, %v", all, err)
	}
	if _, err = OfRun("a", 1, filepath.Join(dir, "missing.log")); err == nil {
		t.Error("no file could be read, and there is no error")
	}
	write(window, line(1, "a", "INFO", "before", ""), line(2, "a", "WARN", strings.Repeat("x", 2<<20), ""), line(3, "a", "INFO", "after", ""))
	if all, err = OfRun("a", 10, window); err != nil || len(all) != 3 || len(all[1].Text) != 2<<20 || all[2].Text != "after" {
		t.Errorf("with a line of 2 MB: %d lines, %v", len(all), err)
	}
	long := append(slices.Repeat([]string{line(3, "b", "INFO", strings.Repeat("x", 1000), "")}, 5000), line(8, "a", "INFO", "the end", ""))
	write(window, append([]string{line(1, "a", "INFO", "too far back", "")}, long...)...)
	if all, err = OfRun("a", 10, window); err != nil || len(all) != 1 || all[0].Text != "the end" {
		t.Errorf("of a long file: %+v, %v", all, err)
	}
}
