package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/visible"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// escapes are characters that affect a terminal or mislead its reader: they clear the screen, change the title, fill the
// clipboard, show a link, reverse the text direction, and overwrite the current and the next line.
const escapes = "a\x1b[2J\x1b]0;owned\x07\x1b]52;c;cm0=\x07\x1b]8;;http://evil.example\x1b\\b\u009b31m\u202egnp\u2066\r\x08\x7fc"

// forged is the start of a line that imitates Throng's own.
const forged = "FORGED"

// hostile returns a scenario with escapes in every text that it can have.
func hostile(t *testing.T, url string) string {
	t.Helper()
	quote := func(text string) string {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(quoted)
	}
	evil := quote(escapes + "\n" + forged)
	rows := "[{id: " + quote("ann"+escapes) + ", mood: " + evil + "}, {id: " + quote("=1+1"+escapes) + ", mood: " + evil + "}]"
	return fmt.Sprintf(`title: %[1]s
about: %[1]s
parameters:
  word: {default: %[1]s, title: %[1]s, about: %[1]s}
population: {rows: %[2]s}
services:
  shop: {kind: http, url: %[3]s}
chain c:
  step look: {kind: http, service: shop, get: /look}
  step keep: {kind: emit, event: told, data: {text: "${steps.look.text}", word: "${params.word}"}}
  step note: {kind: remember, note: "${steps.look.text}"}
  step lost: {kind: http, service: shop, get: "/lost", query: {word: "${params.word}"}}
`, evil, rows, url)
}

// tidyOutput returns what is wrong with the output of a command.
func tidyOutput(text string) string {
	if visible.Text(text) != text || !utf8.ValidString(text) {
		return "it has what a terminal obeys"
	}
	return ""
}

// TestAttackOnTheTerminal checks that no text of a scenario or a backend controls a terminal, in all output and files of
// throngctl, and that JSON output stays valid and keeps the text.
func TestAttackOnTheTerminal(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Evil", "a\u202eb")
		if r.URL.Path == "/lost" {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write([]byte(escapes + "\n" + forged + "\xff\x9b2J"))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"text": escapes + "\n" + forged})
	}))
	t.Cleanup(backend.Close)
	dir, data := t.TempDir(), t.TempDir()
	file := write(t, filepath.Join(dir, "hostile.yaml"), hostile(t, backend.URL))
	out := filepath.Join(dir, "out")
	program := func(stdout string) {
		t.Helper()
		for d := json.NewDecoder(strings.NewReader(stdout)); d.More(); {
			var any any
			if err := d.Decode(&any); err != nil {
				t.Errorf("not JSON: %v\n%q", err, stdout)
				return
			}
		}
	}
	seen := 0
	for _, args := range [][]string{
		{"validate", file},
		{"validate", file, "--json"},
		{"try", file},
		{"try", file, "--json"},
		{"check", file},
		{"run", file, "--cycles", "2", "--breaker", "off", "--retries", "1", "--keep-share", "1", "--export", out},
		{"run", file, "--cycles", "1", "--breaker", "off", "--retries", "1", "--json"},
		{"runs"},
		{"runs", "--json"},
		{"status"},
		{"status", "--json"},
		{"agents"},
		{"agents", "--json"},
		{"timeline", "0"},
		{"timeline", "1", "--json"},
		{"checkpoints"},
		{"audit"},
		{"audit", "--json"},
		{"report", "-o", "-"},
		{"report", "-o", filepath.Join(out, "report.html")},
		{"export", "--what", "events"},
		{"export", "--what", "sessions"},
		{"export", "--what", "timings"},
		{"export", "--what", "memory"},
		{"export", "--what", "run"},
		{"export", "--what", "events", "--format", "jsonl"},
		{"set"},
		{"no\x1b[2Jsuch"},
		{"runs", "--\u202eflag"},
		{"status", "../\x1b[2J"},
		{"resume", "x\x1b]0;y\x07"},
	} {
		code, stdout, stderr := ctl(t, append(args, "--data", data)...)
		if code == exitUsage && args[0] == "run" {
			t.Fatal(stderr)
		}
		for where, text := range map[string]string{"output": stdout, "errors": stderr} {
			if wrong := tidyOutput(text); wrong != "" {
				t.Errorf("%q, %s: %s:\n%q", args, where, wrong, text)
			}
			seen += strings.Count(text, `\u001b`) + strings.Count(text, `\u202e`)
		}
		if args[len(args)-1] == "--json" {
			program(stdout)
		}
		if args[0] != "export" && args[0] != "report" && args[0] != "validate" && args[len(args)-1] != "--json" { // where texts have line breaks
			for line := range strings.Lines(stdout + stderr) {
				if strings.HasPrefix(strings.TrimSpace(line), forged) {
					t.Errorf("%q: a line is forged:\n%s%s", args, stdout, stderr)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d escapes were seen: the test proves little", seen)
	}
	for _, folder := range []string{out, filepath.Join(data, "logs")} {
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				if wrong := tidyOutput(read(t, path)); wrong != "" {
					t.Errorf("%s: %s", path, wrong)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(read(t, out, "sessions.csv")) {
		for cell := range strings.SplitSeq(line, ",") {
			if strings.HasPrefix(strings.Trim(cell, `"`), "=") {
				t.Errorf("a spreadsheet would run %q as a formula", cell)
			}
		}
	}
	_, stdout, _ := ctl(t, "export", "--what", "events", "--format", "jsonl", "--data", data)
	if first, _, _ := strings.Cut(stdout, "\n"); !strings.Contains(first, `\u202egnp`) {
		t.Errorf("the text is missing: %s", first)
	}
}

// TestAttackByTheDatabase fetches from a database with run IDs that lead out of the data folder. No files may be written.
func TestAttackByTheDatabase(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	url := pgtest.Shared(t).Database(t)
	here, around := t.TempDir(), t.TempDir()
	there := filepath.Join(around, "a", "b", "data")
	if code, _, stderr := ctl(t, "run", "shopping", "--set", "agents=3", "--cycles", "2", "--mock-latency", "none", "--data", here); code == exitUsage {
		t.Fatal(stderr)
	}
	if code, _, stderr := ctl(t, "push", "--data", here, "--database-url", url); code != exitDone {
		t.Fatal(stderr)
	}
	conn := pgtest.Connect(t, url)
	defer func() { _ = conn.Close(t.Context()) }()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("set session_replication_role = replica")
	id := ""
	if err := conn.QueryRow(t.Context(), "select id from throng.runs").Scan(&id); err != nil {
		t.Fatal(err)
	}
	for _, evil := range []string{"../../escaped", "../../../escaped", "/tmp/throng-escaped", `..\escaped`, "mock/../../escaped", "x\x1b[2J", "..", "CON"} {
		for table, column := range map[string]string{"runs": "id", "checkpoints": "run", "checkpoint_parts": "run"} {
			exec(fmt.Sprintf("update throng.%s set %s = $1 where %s = $2", table, column, column), evil, id)
		}
		id = evil
		code, stdout, stderr := ctl(t, "fetch", evil[:1], "--database-url", url, "--data", there)
		if code == exitDone || !strings.Contains(stderr, "cannot be the ID of a run") {
			t.Errorf("%q was fetched: code %d\n%s%s", evil, code, stdout, stderr)
		}
		code, stdout, stderr = ctl(t, "runs", "--database-url", url, "--data", there)
		if code != exitDone || !strings.Contains(stdout, "damaged") || tidyOutput(stdout+stderr) != "" {
			t.Errorf("%q is listed as\n%s%s", evil, stdout, stderr)
		}
		if code, _, stderr := ctl(t, "checkpoints", evil[:1], "--database-url", url, "--data", there); code == exitDone {
			t.Errorf("the checkpoints of %q are listed: %s", evil, stderr)
		}
	}
	err := filepath.WalkDir(around, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && (!strings.HasPrefix(path, there) || strings.Contains(path, "escaped")) {
			t.Errorf("%s was written", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/tmp/throng-escaped.log"); err == nil {
		t.Error("a file was written into the folder for temporary files")
	}
}

// TestRunIDsOfTheCommandLine checks that every command that takes a run ID reports an invalid one.
func TestRunIDsOfTheCommandLine(t *testing.T) {
	data := t.TempDir()
	if code, _, stderr := ctl(t, "run", "world", "--cycles", "1", "--mock-latency", "none", "--data", data); code == exitUsage {
		t.Fatal(stderr)
	}
	for _, args := range [][]string{
		{"status"}, {"resume"}, {"fork"}, {"audit"}, {"export"}, {"report"}, {"checkpoints"}, {"timeline", "0"}, {"agents"}, {"delete"}, {"restore"}, {"note"}, {"compare", "x"},
	} {
		code, stdout, stderr := ctl(t, slices.Concat(args[:1], []string{"../../x"}, args[1:], []string{"--data", data})...)
		if code == exitDone || !strings.Contains(stderr, "cannot be the ID of a run") && !strings.Contains(stderr, "no such run") && !strings.Contains(stderr, "not found") {
			t.Errorf("%q: code %d\n%s%s", args, code, stdout, stderr)
		}
	}
}
