//go:build unix

package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// strainedRun runs agents that each send two requests, and returns run.json.
func strainedRun(t *testing.T, server *httptest.Server, agents int, step string, prepare func(cmd *exec.Cmd), started func(p int), more ...string) (run, out string) {
	t.Helper()
	return strained(t, fmt.Sprintf(`title: Strain
population: {count: %d}
services:
  files: {kind: http, url: %q}
chain ask:
  step one: {kind: http, service: files, get: /one%s}
  step two: {kind: http, service: files, get: /two%s}
`, agents, server.URL, step, step), prepare, started, more...)
}

// strained runs a scenario in its own process, and returns run.json.
func strained(t *testing.T, text string, prepare func(cmd *exec.Cmd), started func(p int), more ...string) (run, out string) {
	t.Helper()
	file := scenarioFile(t, text)
	data := filepath.Join(t.TempDir(), "data")
	args := append([]string{"run", file, "--data", data, "--governor", "manual", "--no-dashboard", "--keep-awake=off"}, more...)
	cmd, stdout, stderr := process(t, nil, args...)
	if prepare != nil {
		prepare(cmd)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if started != nil {
		started(cmd.Process.Pid)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	out = filepath.Join(t.TempDir(), "out")
	if code, stdout, stderr := ctl(t, "export", "--data", data, "-o", out); code != exitDone {
		t.Fatalf("export: code %d\n%s%s", code, stdout, stderr)
	}
	return read(t, out, "run.json"), stdout.String() + stderr.String()
}

// TestStoppedProcessFailsNoSession stops the process during its requests, as Ctrl+Z does, several times and for longer than
// their timeout. No session may fail.
func TestStoppedProcessFailsNoSession(t *testing.T) {
	t.Parallel()
	const limit, stops = 600 * time.Millisecond, 3
	var asked atomic.Int64
	due := make(chan struct{}, stops)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n := asked.Add(1); n%8 == 4 && n <= 8*stops {
			due <- struct{}{}
		}
		late := time.NewTimer(100 * time.Millisecond)
		<-late.C
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(server.Close)
	run, out := strainedRun(t, server, 20, ", timeout: 0.6, retry: {attempts: 1}", nil, func(p int) {
		for range stops {
			<-due
			if err := syscall.Kill(p, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			over := time.NewTimer(2 * limit)
			<-over.C
			if err := syscall.Kill(p, syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		}
	}, "--max-concurrent", "4")
	if !strings.Contains(run, `"exact": true`) || !strings.Contains(run, `"ok": 20`) {
		t.Errorf("stopped %d times, and a session failed:\n%s\n%s", stops, out, run)
	}
}

// strainedDB is the variable with the database of strainedSQL.
const strainedDB = "STRAINED_DB"

// strainedSQL returns a scenario whose agents execute two statements of 100 ms each. The timeout of each is in seconds.
func strainedSQL(agents, connections, timeout int) string {
	return fmt.Sprintf(`title: Strain
population: {count: %[1]d}
services:
  db: {kind: postgres, url: secret:STRAINED_DB, limits: {connections: %[2]d}}
chain ask:
  step one: {kind: sql, service: db, query: "select pg_sleep(0.1)", timeout: %[3]d, retry: {attempts: 1}}
  step two: {kind: sql, service: db, query: "select pg_sleep(0.1)", timeout: %[3]d, retry: {attempts: 1}}
`, agents, connections, timeout)
}

// TestStoppedProcessFailsNoStatement does the same as TestStoppedProcessFailsNoSession with a database.
func TestStoppedProcessFailsNoStatement(t *testing.T) {
	t.Parallel()
	database := pgtest.Shared(t).Database(t)
	conn := pgtest.Connect(t, database)
	defer func() { _ = conn.Close(context.Background()) }()
	run, out := strained(t, strainedSQL(40, 4, 1), func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, strainedDB+"="+database) }, func(p int) {
		for range 2 {
			for asked := 0; asked == 0; {
				if err := conn.QueryRow(t.Context(), "select count(*) from pg_stat_activity where datname = current_database() and query like 'select pg_sleep(0.1)%' and state = 'active'").Scan(&asked); err != nil {
					t.Fatal(err)
				}
			}
			if err := syscall.Kill(p, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			over := time.NewTimer(2 * time.Second)
			<-over.C
			if err := syscall.Kill(p, syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		}
	}, "--max-concurrent", "4")
	if !strings.Contains(run, `"exact": true`) || !strings.Contains(run, `"ok": 40`) {
		t.Errorf("sessions failed while the process was stopped:\n%s\n%s", out, run)
	}
}

// TestTooManyOpenFilesForStatements does the same as TestTooManyOpenFiles with a database.
func TestTooManyOpenFilesForStatements(t *testing.T) {
	t.Parallel()
	database := pgtest.Shared(t).Database(t)
	run, out := strained(t, strainedSQL(60, 60, 10), func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, strainedDB+"="+database)
		cmd.Args = append([]string{"sh", "-c", `ulimit -n 40; exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
	}, nil, "--max-concurrent", "60", "--retries", "1")
	if !strings.Contains(run, `"exact": true`) || !strings.Contains(run, `"ok": 60`) || !strings.Contains(out, "too many open files (the limit is 40)") {
		t.Errorf("a session failed, or none waited:\n%s\n%s", out, run)
	}
}

// TestDamagedSchemaEndsTheRun removes a table of the store during a run. The run ends with what happened, what was stored
// and what to do. The data folder is in the environment because stores in --data are audited.
func TestDamagedSchemaEndsTheRun(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 20 {
			close(reached)
		}
		if asked.Load() >= 20 {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(server.Close)
	data := filepath.Join(t.TempDir(), "data")
	file := scenarioFile(t, fmt.Sprintf("title: Damaged\npopulation: {count: 100}\nservices:\n  s: {kind: http, url: %q}\nchain c:\n  step one: {kind: http, service: s, get: /}\n", server.URL))
	cmd, stdout, stderr := process(t, []string{"THRONG_DATA=" + data}, "run", file, "--no-dashboard", "--keep-awake=off", "--max-concurrent", "4")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-reached
	db, err := sql.Open("sqlite3", filepath.Join(data, "throng.db")+"?_busy_timeout=20000")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "ALTER TABLE sessions RENAME TO lost"); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	close(release)
	err = cmd.Wait()
	said := stdout.String() + stderr.String()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitFailed {
		t.Errorf("ended with %v\n%s", err, said)
	}
	for _, want := range []string{"the store is damaged: no such table: sessions", "All rows before are kept: restore a backup of "} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
}

// TestTooManyOpenFiles runs with a limit of open files that is too low for the sessions. Sessions wait, none fails, and a
// note says what to do.
func TestTooManyOpenFiles(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		late := time.NewTimer(50 * time.Millisecond)
		<-late.C
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(server.Close)
	run, out := strainedRun(t, server, 150, "", func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"sh", "-c", `ulimit -n 64; exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
	}, nil, "--max-concurrent", "150", "--retries", "1")
	if !strings.Contains(run, `"exact": true`) || !strings.Contains(run, `"ok": 150`) || !strings.Contains(run, `"files":`) {
		t.Errorf("a session failed, or none waited:\n%s\n%s", out, run)
	}
	if !strings.Contains(out, "too many open files (the limit is 64)") || !strings.Contains(out, "ulimit -n") {
		t.Errorf("the output does not say what to do:\n%s", out)
	}
}

// TestLargeAnswersShareOneBudget sends two large answers to each session. Sessions wait for memory, also while others wait,
// and none fails if the budget is sufficient for one. If not, sessions fail, and the process continues.
func TestLargeAnswersShareOneBudget(t *testing.T) {
	t.Parallel()
	const length, agents = 1 << 20, 40
	text := []byte(`{"text":"` + strings.Repeat("x", length) + `"}`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/one" {
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	run, out := strainedRun(t, server, agents, ", timeout: 60", nil, nil, "--max-concurrent", fmt.Sprint(agents), "--memory-budget", "70MB", "--keep-share", "0")
	if !strings.Contains(run, `"exact": true`) || !strings.Contains(run, fmt.Sprintf(`"ok": %d`, agents)) || !strings.Contains(run, `"memory":`) {
		t.Errorf("a session failed, or none waited:\n%s\n%s", out, run)
	}
	file := scenarioFile(t, fmt.Sprintf("title: Large\npopulation: {count: 4}\nservices:\n  files: {kind: http, url: %q}\nchain ask:\n  step one: {kind: http, service: files, get: /one}\n", server.URL))
	code, stdout, stderr := ctl(t, "run", file, "--data", filepath.Join(t.TempDir(), "data"), "--no-dashboard", "--memory-budget", "3MB", "--keep-awake=off")
	if code != exitFailed || !strings.Contains(stdout+stderr, "this step needs 4.2 MB more") {
		t.Errorf("an answer that is larger than the budget: code %d\n%s%s", code, stdout, stderr)
	}
}

// TestMemoriesShareOneBudget checks that sessions fail with advice if agents store more memory than the budget.
func TestMemoriesShareOneBudget(t *testing.T) {
	t.Parallel()
	file := scenarioFile(t, `title: Memories
population: {count: 40}
chain much:
  step much: {kind: remember, set: {text: "${'x' * 1000000}"}}
`)
	data := filepath.Join(t.TempDir(), "data")
	code, stdout, stderr := ctl(t, "run", file, "--data", data, "--no-dashboard", "--memory-budget", "20MB", "--keep-awake=off")
	out := filepath.Join(t.TempDir(), "out")
	if exported, text, errs := ctl(t, "export", "--data", data, "-o", out); exported != exitDone {
		t.Fatalf("export: %d\n%s%s", exported, text, errs)
	}
	run := read(t, out, "run.json")
	if code == exitDone && strings.Contains(run, `"exact": true`) {
		t.Errorf("40 MB fit into a budget of 20 MB:\n%s%s", stdout, stderr)
	}
	if !strings.Contains(run, "memory budget was used up") {
		t.Errorf("no reason for the inexact result:\n%s", run)
	}
}

// TestAuditOfARunWithoutSessions checks that the audit of a run that was interrupted before its first session ended finds
// no difference.
func TestAuditOfARunWithoutSessions(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	file := scenarioFile(t, fmt.Sprintf("title: Empty\npopulation: {count: 1}\nservices:\n  s: {kind: http, url: %q}\nchain c:\n  step one: {kind: http, service: s, get: /}\n", server.URL))
	data, signals := t.TempDir(), make(chan os.Signal, 2) // both may arrive before the run is shown
	go func() {
		<-reached
		for range 2 {
			signals <- os.Interrupt
		}
	}()
	var stdout, stderr bytes.Buffer
	code := execute([]string{"run", file, "--data", data, "--no-dashboard", "--keep-awake=off"},
		&terminal{in: strings.NewReader(""), out: &stdout, err: &stderr, signals: signals, hooks: hooks{trusts: true}})
	if code == exitDone || strings.Contains(stdout.String(), "1 ok") {
		t.Fatalf("code %d\n%s%s", code, &stdout, &stderr)
	}
	if code, out, errs := ctl(t, "audit", "--data", data); code != exitDone || !strings.Contains(out, "all equal") {
		t.Errorf("audit: code %d\n%s%s", code, out, errs)
	}
}
