package faults

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestReconcileSees changes rows in the database by hand and checks that every difference is counted.
func TestReconcileSees(t *testing.T) {
	s := Open(t, Options{Server: pgtest.Shared(t)})
	s.speed(100)
	s.Checkpoint()
	s.Finish()
	whole := s.Reconcile()
	if whole.Written < 200 || whole != (Counts{Written: whole.Written, There: whole.Written}) {
		t.Fatalf("initially: %+v", whole)
	}
	const agent = " WHERE (cycle, agent_index) = (0, 2)"
	for _, tt := range []struct {
		what, do, undo string
		want           Counts // differences: in addition to Written, and There relative to it
	}{
		{
			"an event is missing", "CREATE TABLE gone AS SELECT * FROM throng.events" + agent + " AND sequence = 1; DELETE FROM throng.events" + agent + " AND sequence = 1",
			"INSERT INTO throng.events SELECT * FROM gone",
			Counts{There: -1, Missing: 1},
		},
		{
			"a session is another", "UPDATE throng.sessions SET outcome = 'failed'" + agent,
			"UPDATE throng.sessions SET outcome = 'ok'" + agent,
			Counts{Different: 1},
		},
		{
			"a session is there twice", "ALTER TABLE throng.sessions DROP CONSTRAINT sessions_pkey CASCADE; INSERT INTO throng.sessions SELECT * FROM throng.sessions" + agent,
			"DELETE FROM throng.sessions a USING throng.sessions b WHERE a.ctid > b.ctid AND (a.cycle, a.agent_index) = (b.cycle, b.agent_index)",
			Counts{There: 1, Different: 1, Doubled: 1},
		},
		{"the run is another", "UPDATE throng.runs SET done = done + 1", "UPDATE throng.runs SET done = done - 1", Counts{Different: 1}},
		{"a checkpoint is missing", "DELETE FROM throng.checkpoints WHERE number = 1", "", Counts{There: -1, Missing: 1}},
	} {
		s.execAll(tt.do)
		got := s.Reconcile()
		tt.want.Written, tt.want.There = whole.Written, whole.Written+tt.want.There
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.what, got, tt.want)
		}
		s.execAll(tt.undo)
	}
}

// execAll runs statements.
func (s *Site) execAll(statements string) {
	s.t.Helper()
	for statement := range strings.SplitSeq(statements, "; ") {
		if statement != "" {
			s.Exec(statement)
		}
	}
}

// TestLeaksAreFound checks that a secret is found in any file, also if it is escaped.
func TestLeaksAreFound(t *testing.T) {
	for text, n := range map[string]int{
		"nothing": 0, "x" + pgtest.Password + "x": 1, "x" + url.QueryEscape(pgtest.Password): 1, "postgres://a:" + url.PathEscape(pgtest.Password) + "@h": 1,
	} {
		s := &Site{t: t, Data: t.TempDir()}
		folder := filepath.Join(s.Data, "a", "b")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "file"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if files := s.Leaks(pgtest.Password); len(files) != n {
			t.Errorf("%q: found in %v", text, files)
		}
	}
}
