package main

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedRun damages the record of one run in the store. The other runs are listed as before, the errors say what to
// do, and the damaged run can be deleted, restored and deleted permanently.
func TestDamagedRun(t *testing.T) {
	data := t.TempDir()
	var ids []string
	db, err := sql.Open("sqlite3", filepath.Join(data, "throng.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"analysis", "world"} {
		if code, _, stderr := ctl(t, "run", file, "--data", data, "--mock-latency", "none"); code != exitDone {
			t.Fatalf("run: exit code %d\n%s", code, stderr)
		}
		var id string
		if err := db.QueryRowContext(t.Context(), `SELECT id FROM runs ORDER BY key DESC LIMIT 1`).Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	broken, sound := ids[0], ids[1]
	t.Setenv("THRONG_DATA", data) // not by a flag, because the damage is intended
	says := func(want int, text string, args ...string) {
		t.Helper()
		code, stdout, stderr := ctl(t, args...)
		if code != want || !strings.Contains(stdout+stderr, text) {
			t.Errorf("%v: exit code %d, want %d and %q\n%s%s", args, code, want, text, stdout, stderr)
		}
	}
	for _, column := range []string{"settings", "parameters", "verdict", "files"} {
		if _, err := db.ExecContext(t.Context(), `UPDATE runs SET `+column+` = substr(`+column+`, 2) WHERE id = ?`, broken); err != nil {
			t.Fatal(err)
		}
		says(exitDone, sound, "runs")
		says(exitDone, broken, "runs")
		says(exitFailed, "a part of it cannot be read", "resume", broken)
		says(exitDone, "kept in the trash", "delete", broken, "--yes")
		says(exitDone, broken, "trash")
		says(exitDone, "", "restore", broken)
	}
	says(exitDone, "damaged", "runs")
	says(exitDone, "deleted", "delete", broken, "--now", "--yes")
	says(exitDone, "all equal", "audit", sound)
	var left int
	err = db.QueryRowContext(t.Context(), `SELECT count(*) FROM runs`).Scan(&left)
	if err := errors.Join(err, db.Close()); err != nil || left != 1 {
		t.Errorf("%d runs remain, %v, want 1", left, err)
	}
}
