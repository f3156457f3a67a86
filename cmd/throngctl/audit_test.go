package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// auditedLater are the stores whose runs are audited at the end of a test.
var auditedLater sync.Map

// auditAfter audits every run in the store of a command line at the end of the test: no test may leave a figure that
// disagrees with its journal.
func auditAfter(t *testing.T, args []string) {
	t.Helper()
	i := slices.Index(args, "--data")
	if i < 0 || i+1 == len(args) || !slices.Contains([]string{"run", "resume", "delete"}, args[0]) {
		return
	}
	data := args[i+1]
	if args[0] == "delete" { // the folders are removed later
		auditStore(t, data)
		return
	}
	if _, known := auditedLater.LoadOrStore(data, true); known {
		return
	}
	t.Cleanup(func() {
		auditedLater.Delete(data)
		auditStore(t, data)
	})
}

// auditStore audits the runs of a folder if it has a store.
func auditStore(t *testing.T, data string) {
	t.Helper()
	if !sqlite.Exists(data) {
		return
	}
	store, err := sqlite.Open(data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Errorf("audit of the test's stores: %v", err)
		return
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	auditAll(t, store)
}

// auditAll audits the runs of a store, except fetched runs and runs in progress.
func auditAll(t *testing.T, store *sqlite.Store) {
	t.Helper()
	ctx := context.Background() // the test's context is done
	runs, err := store.Runs(ctx)
	if err != nil {
		t.Error(err)
	}
	for _, r := range runs {
		report, err := review.Audit(ctx, store, r.ID)
		if _, refused := errors.AsType[*engine.FieldError](err); refused {
			continue
		}
		if err != nil {
			t.Errorf("audit of the test's stores: %v", err)
			continue
		}
		for _, f := range report.Figures {
			if f.Differ > 0 {
				t.Errorf("run %s, %s: %s: recorded %s, recomputed %s (%d of %d differ) %s", r.ID, f.Group, f.Name, f.Recorded, f.Recomputed, f.Differ, f.Values, f.Where)
			}
		}
	}
}

// TestAudit damages the figures of a run, in the store and in its export. The audit names each of them.
func TestAudit(t *testing.T) {
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	if code, stdout, stderr := ctl(t, day(data, "--export", out)...); code != exitDone {
		t.Fatalf("run: exit code %d\n%s%s", code, stdout, stderr)
	}
	audits := func(want int, says string, args ...string) {
		t.Helper()
		code, stdout, stderr := ctl(t, append([]string{"audit", "--data", data}, args...)...)
		if code != want || !strings.Contains(stdout+stderr, says) {
			t.Errorf("audit %v: exit code %d, want %d and %q\n%s%s", args, code, want, says, stdout, stderr)
		}
	}
	audits(exitDone, "all equal")
	audits(exitDone, "totals: latency p95", "--all")
	audits(exitDone, "files against the store", "--export", out)
	audits(exitUsage, "nowhere", "--export", filepath.Join(out, "nowhere"))
	audits(exitUsage, "no-such-run", "no-such-run")

	db, err := sql.Open("sqlite3", filepath.Join(data, "throng.db"))
	if err != nil {
		t.Fatal(err)
	}
	damage := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []struct{ says, damage, mend string }{
		{"the run: sessions done", `UPDATE runs SET done = done + 1`, `UPDATE runs SET done = done - 1`},
		{"the run: events counted during the run", `UPDATE runs SET events = events - 1`, `UPDATE runs SET events = events + 1`},
		{"the run: cycle", `UPDATE runs SET cycle = cycle + 1`, `UPDATE runs SET cycle = cycle - 1`},
		{"the journal: sessions of each cycle", `UPDATE barriers SET active = active + 1 WHERE cycle = 1`, `UPDATE barriers SET active = active - 1 WHERE cycle = 1`},
		{"the journal: sessions so far at each barrier", `UPDATE barriers SET sessions = 1 WHERE cycle = 1`, `UPDATE barriers SET sessions = 60 WHERE cycle = 1`},
		{"peaks: time in cycles", `UPDATE barriers SET took = took + 1 WHERE cycle = 0`, `UPDATE barriers SET took = took - 1 WHERE cycle = 0`},
		{"totals: sessions ok", `DELETE FROM sessions WHERE pos = (SELECT max(pos) FROM sessions)`, ``},
	} {
		damage(d.damage)
		audits(exitFailed, d.says)
		damage(d.mend)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Replace(read(t, out, "sessions.csv"), ",ok,", ",failed,", 1)
	if err := os.WriteFile(filepath.Join(out, "sessions.csv"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	audits(exitFailed, "files: sessions failed", "--export", out)
	elsewhere := t.TempDir()
	code, stdout, stderr := ctl(t, "audit", "--data", elsewhere, "--export", out)
	if code != exitFailed || !strings.Contains(stderr, "is not in the store") {
		t.Errorf("audit of an export alone: exit code %d\n%s%s", code, stdout, stderr)
	}
	if err := os.RemoveAll(data); err != nil { // the damage is intended
		t.Fatal(err)
	}
}

// TestAuditOfMemory checks that the audit finds damaged memory of agents, which has no figures.
func TestAuditOfMemory(t *testing.T) {
	data := t.TempDir()
	if code, _, stderr := ctl(t, "run", "world", "--data", data, "--cycles", "2", "--mock-latency", "none"); code != exitDone {
		t.Fatalf("run: exit code %d\n%s", code, stderr)
	}
	db, err := sql.Open("sqlite3", filepath.Join(data, "throng.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `UPDATE checkpoint_memory SET data = substr(data, 1, length(data) - 9)`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := ctl(t, "audit", "--data", data)
	if code != exitFailed || !strings.Contains(stderr, "a part of it cannot be read") || strings.Contains(stdout, "all equal") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if err := os.RemoveAll(data); err != nil { // the damage is intended
		t.Fatal(err)
	}
}
