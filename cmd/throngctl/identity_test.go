package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

const inserters = `title: Visitors who leave a row
population: {count: 400}
services:
  db: {kind: postgres, url: "secret:THRONG_TEST_DB", limits: {connections: 5, burst: 2}}
chain visit:
  step write:
    kind: sql
    service: db
    query: insert into visits (id, agent) values ($1, $2) on conflict (id) do nothing
    args: ["${session.uuid}", "${agent.id}"]
    repeats: harmless
  step told: {kind: emit, event: visited, data: {session: "${session.uuid}", rows: "${steps.write.count}"}}
`

// TestRunsDoNotCollide checks that two runs with the same seed write separate rows into one table, that their results are
// identical even though the rows have session IDs, and that a trial writes no row of a run.
func TestRunsDoNotCollide(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	server := pgtest.Shared(t)
	address := place(t, server, server.Database(t), "collide")
	t.Setenv("THRONG_TEST_DB", address)
	file := write(t, filepath.Join(t.TempDir(), "inserters.yaml"), inserters)
	if code, stdout, stderr := ctl(t, "try", file, "--data", filepath.Join(t.TempDir(), "data"), "--seed", "7"); code != exitDone {
		t.Fatalf("try: code %d\n%s%s", code, stdout, stderr)
	}
	var events string
	for i, want := range []int{401, 801} {
		data := filepath.Join(t.TempDir(), "data")
		code, stdout, stderr := ctl(t, "run", file, "--data", data, "--seed", "7", "--max-concurrent", "20", "--no-dashboard", "--export", filepath.Join(data, "out"))
		if code != exitDone {
			t.Fatalf("run %d: code %d\n%s%s", i, code, stdout, stderr)
		}
		if _, n := visits(t, address); n != want {
			t.Errorf("after run %d there are %d rows, want %d", i, n, want)
		}
		got := read(t, data, "out", "sessions.csv") + read(t, data, "out", "events.csv")
		if i > 0 && got != events {
			t.Error("the results of two runs with one seed differ")
		}
		if events = got; strings.Count(events, ",1\n") != 400 {
			t.Errorf("%d sessions wrote a row", strings.Count(events, ",1\n"))
		}
	}
}
