package main

import (
	"encoding/csv"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/enginetest/proxy"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestPushAgain sends a run, drops the schema in the database, and sends the run again. All rows must be back.
func TestPushAgain(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	url := pgtest.Shared(t).Database(t)
	data := filepath.Join(t.TempDir(), "data")
	if code, stdout, stderr := ctl(t, day(data, "--database-url", url)...); code != exitDone {
		t.Fatalf("run: code %d\n%s%s", code, stdout, stderr)
	}
	conn := pgtest.Connect(t, url)
	defer func() { _ = conn.Close(t.Context()) }()
	count := func() (sessions, events, runs int) {
		t.Helper()
		const query = `SELECT (SELECT count(*) FROM throng.sessions), (SELECT count(*) FROM throng.events), (SELECT count(*) FROM throng.runs WHERE ended IS NOT NULL)`
		if err := conn.QueryRow(t.Context(), query).Scan(&sessions, &events, &runs); err != nil {
			t.Fatal(err)
		}
		return sessions, events, runs
	}
	sessions, events, runs := count()
	if sessions != 90 || events == 0 || runs != 1 {
		t.Fatalf("initially: %d sessions, %d events, %d runs", sessions, events, runs)
	}
	if _, err := conn.Exec(t.Context(), "DROP SCHEMA throng CASCADE"); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := ctl(t, "push", "--database-url", url, "--data", data); code != exitDone {
		t.Fatalf("push: code %d\n%s%s", code, stdout, stderr)
	}
	if s, e, r := count(); s != sessions || e != events || r != runs {
		t.Errorf("again: %d sessions, %d events, %d runs; want %d, %d, %d", s, e, r, sessions, events, runs)
	}
}

// TestKilledWhileSending kills throngctl while the database has rows that it has not confirmed, and resumes. All rows must
// be there once.
func TestKilledWhileSending(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	server := pgtest.Shared(t)
	for name, at := range map[string]string{"before COPY is confirmed": "COPY ", "before COMMIT is confirmed": "COMMIT\x00"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line, direct := proxy.NewLine(t, server.Address()), server.Database(t)
			url := strings.Replace(direct, server.Address(), line.Addr().String(), 1)
			data := filepath.Join(t.TempDir(), "data")
			if code, stdout, stderr := ctl(t, day(data, "--cycles", "1", "--database-url", url)...); code != exitDone {
				t.Fatalf("the first run: code %d\n%s%s", code, stdout, stderr) // it makes the schema
			}
			line.Be(proxy.Trouble{ResetAt: [2]string{proxy.ToClient: at}})
			began := line.Connections()
			cmd, out, stderr := process(t, nil, day(data, "--database-url", url, "--mock-latency", "local", "--max-concurrent", "2")...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			conn := pgtest.Connect(t, direct)
			defer func() { _ = conn.Close(t.Context()) }()
			waitFor(t, "rows that are not confirmed", func() bool {
				var n int
				if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM throng.sessions").Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n > 30 || !strings.HasPrefix(at, "COMMIT") && line.Connections() > began+2
			})
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the run was not killed: %v\n%s%s", err, out, stderr)
			}
			line.Be(proxy.Trouble{})
			export := filepath.Join(data, "out")
			if code, stdout, stderr := ctl(t, "resume", "--data", data, "--database-url", url, "--export", export); code != exitDone {
				t.Fatalf("resume: code %d\n%s%s", code, stdout, stderr)
			}
			if _, err := conn.Exec(t.Context(), "DELETE FROM throng.sessions WHERE run = (SELECT id FROM throng.runs ORDER BY created LIMIT 1)"); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), "DELETE FROM throng.events WHERE run = (SELECT id FROM throng.runs ORDER BY created LIMIT 1)"); err != nil {
				t.Fatal(err)
			}
			for file, table := range map[string]string{"sessions.csv": "sessions", "events.csv": "events"} {
				rows, err := csv.NewReader(strings.NewReader(read(t, export, file))).ReadAll()
				if err != nil {
					t.Fatal(err)
				}
				rows = withoutSimulated(rows)
				if got := sent(t, direct, table, rows[0]); !slices.EqualFunc(got, rows[1:], slices.Equal[[]string]) {
					t.Errorf("%s: %d rows in the database, %d exported, or they differ", table, len(got), len(rows)-1)
				}
			}
		})
	}
}

// waitFor waits for a condition.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(5 * time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("timed out: %s", what)
		}
	}
}
