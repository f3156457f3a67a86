package faults

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest/proxy"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// clerks is a scenario that writes to a database: once with a key, so that a repeated write is visible and harmless, and
// once without a key, which must not be repeated.
const clerks = `
title: Clerks
population: {count: 60}
services:
  db: {kind: postgres, url: "secret:DB", limits: {connections: 6, burst: 2, timeout: 2s}}
chain work:
  step look: {kind: sql, service: db, query: "select name from places where id = $1", args: ["${agent.index % 5}"], on_error: continue}
  step keyed:
    kind: sql
    service: db
    query: "insert into keyed values ($1, 1) on conflict (id) do update set times = keyed.times + 1 returning id"
    args: ["${session.uuid}"]
    on_error: continue
  step once: {kind: sql, service: db, query: "insert into once values ($1)", args: ["${session.uuid}"], repeats: never, on_error: continue}
  step told: {kind: emit, event: told, data: {agent: "${agent.index}"}}
`

// writes is the result of one kind of statement.
type writes struct {
	done, notDone, unknown int // by the status of the step: executed, not executed, unknown
	rows, twice            int // in the database, and of those, executed more than once
	troubled               int // steps of any kind that were affected
}

// TestStatementsUnderFaults writes while connections fail in every way. A statement with a key is executed at least once
// for every session that reports success, one without a key is never repeated, and unknown results are labeled.
func TestStatementsUnderFaults(t *testing.T) {
	shared := pgtest.Shared(t)
	var mu sync.Mutex
	lines := []string{
		"| Fault of `sql` steps | lasted | sessions | with a key: done, not done, not known | rows | repeated, all labeled | without: done, not done, not known | rows | twice |",
		"|---|---|---|---|---|---|---|---|---|",
	}
	t.Run("all", func(t *testing.T) {
		for _, f := range []Fault{
			{Name: "cut in the middle of statements", Begin: onLine(proxy.Trouble{ResetAfter: [2]int64{proxy.ToServer: 2500}})},
			{Name: "answers of writes lost", Begin: onLine(proxy.Trouble{ResetAt: [2]string{proxy.ToClient: "INSERT 0 1"}})},
			{Name: "half-open: answers are held", Begin: onLine(proxy.Trouble{Hold: [2]bool{proxy.ToClient: true}})},
			{Name: "half-open: statements are held", Begin: onLine(proxy.Trouble{Hold: [2]bool{proxy.ToServer: true}})},
			{Name: "connections cut and refused", Begin: Line[0].Begin},
			restarted("immediate"), restarted("fast"),
		} {
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				server := shared
				if strings.HasPrefix(f.Name, "server") {
					server = pgtest.New(t, pgtest.Options{})
				}
				line := underFault(t, &f, server)
				mu.Lock()
				lines = append(lines, line)
				mu.Unlock()
			})
		}
	})
	t.Logf("\n%s", strings.Join(lines, "\n"))
}

func underFault(t *testing.T, f *Fault, server *pgtest.Server) (line string) {
	t.Helper()
	s := Open(t, Options{Server: server, Scenario: clerks, Before: func(s *Site) {
		s.Exec("CREATE TABLE places AS SELECT i id, 'place ' || i name FROM generate_series(0, 4) i",
			"CREATE TABLE keyed (id uuid PRIMARY KEY, times int)", "CREATE TABLE once (id uuid)",
			"GRANT ALL ON places, keyed, once TO "+s.User)
	}})
	s.speed(100)
	began := time.Now()
	failed := s.failures()
	end := f.Begin(s)
	s.Until("statements are affected", func() bool { return s.failures() > failed })
	s.wait(length(t) - time.Since(began))
	end()
	lasted := time.Since(began)
	s.speed(100)
	s.Finish()
	if c := s.Reconcile(); c.Missing != 0 || c.Different != 0 || c.Doubled != 0 {
		t.Errorf("the results: %+v", c)
	}
	keyed, once := s.writes("keyed", "keyed"), s.writes("once", "once")
	if once.twice != 0 {
		t.Errorf("a statement that must not be repeated was repeated %d times", once.twice)
	}
	if keyed.troubled+once.troubled == 0 {
		t.Errorf("no statement was affected: %+v, %+v", keyed, once)
	}
	if files := s.Leaks(pgtest.Password); len(files) > 0 {
		t.Errorf("the password is in %v", files)
	}
	return fmt.Sprintf("| %s | %s | %d | %d, %d, %d | %d | %d | %d, %d, %d | %d | %d |", f.Name, short(lasted), s.done(),
		keyed.done, keyed.notDone, keyed.unknown, keyed.rows, keyed.twice, once.done, once.notDone, once.unknown, once.rows, once.twice)
}

// failures returns the number of attempts that failed because of the server.
func (s *Site) failures() (n int64) {
	for _, one := range s.Job.Run.Snapshot().Services {
		n += one.Failures
	}
	return n
}

// writes compares the sessions' steps with the rows of a table.
func (s *Site) writes(step, table string) (w writes) {
	s.t.Helper()
	conn := pgtest.Connect(s.t, s.Server.URL(pgtest.User, s.Name))
	defer func() { _ = conn.Close(s.t.Context()) }()
	times := map[string]int{}
	sum := map[string]string{"keyed": "sum(times)", "once": "count(*)"}[table]
	rows, err := conn.Query(s.t.Context(), "SELECT id::text, "+sum+"::int FROM "+table+" GROUP BY id")
	s.must(err)
	for rows.Next() {
		var id string
		var n int
		s.must(rows.Scan(&id, &n))
		times[id] = n
		w.rows++
		if n > 1 {
			w.twice++
		}
	}
	s.must(rows.Err())
	seen := 0
	for row, err := range s.Store.Sessions(s.t.Context(), s.Job.Record.ID, 0, 0) {
		s.must(err)
		for i := range row.Steps {
			if suffered(&row.Steps[i]) {
				w.troubled++
			}
			if row.Steps[i].Path != step {
				continue
			}
			n := times[engine.SessionUUID(s.Job.Record.ID, row.Cycle, row.Agent)]
			if n > 0 {
				seen++
			}
			s.judge(&w, &row.Steps[i], n)
		}
	}
	if seen != w.rows {
		s.t.Errorf("%s: %d rows belong to unknown sessions", table, w.rows-seen)
	}
	return w
}

// suffered reports whether a step failed, was throttled, or was retried.
func suffered(step *engine.StepRecord) bool {
	return step.Status != engine.StepOK || step.Label >= engine.NotRepeated || step.Attempts > 1 || step.Throttled > 200*time.Millisecond
}

// judge compares one write, which was executed n times, with the status of its step.
func (s *Site) judge(w *writes, step *engine.StepRecord, n int) {
	s.t.Helper()
	uncertain := step.Label == engine.Unconfirmed || step.Label == engine.NotRepeated
	switch ok := step.Status == engine.StepOK; {
	case ok && n == 0, ok && n > 1 && !uncertain, !ok && n > 0 && !uncertain:
		s.t.Errorf("%s has status %v, %v after %d attempts, and was executed %d times", step.Path, step.Status, step.Label, step.Attempts, n)
	case ok:
		w.done++
	case uncertain:
		w.unknown++
	default:
		w.notDone++
	}
}
