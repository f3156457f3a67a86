package service

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestRenewOfStatements checks that a statement that reads is sent again on another connection, and that one that
// changes something continues.
func TestRenewOfStatements(t *testing.T) {
	p, address := serverOf(t, pgtest.Shared(t), database.Limits{})
	execute(t, address, "create table t (x int)")
	lock := pgtest.Connect(t, address)
	defer func() { _ = lock.Close(t.Context()) }()
	exec := func(q string) {
		if _, err := lock.Exec(t.Context(), q); err != nil {
			t.Error(err)
		}
	}
	exec("select pg_advisory_lock(7)")
	waiting := func(query string) string {
		return fmt.Sprintf("select coalesce(max(pid), 0) from pg_stat_activity where wait_event = 'advisory' and query like '%s%%' and datname = current_database()", query)
	}
	row := stage{}.play(t, func(s *engine.Session) {
		reads, writes := callOf(s, "reads"), callOf(s, "writes")
		var group sync.WaitGroup
		for c, query := range map[*Call]string{reads: "select pg_advisory_xact_lock_shared(7)", writes: "insert into t select 1 from pg_advisory_xact_lock_shared(7)"} {
			group.Go(func() {
				if _, err := p.Do(c, sql(t, query)); err != nil {
					t.Error(err)
				}
			})
		}
		var reader, writer int
		until(t, "both wait", func() bool {
			reader, writer = number(t, address, waiting("select")), number(t, address, waiting("insert"))
			return reader > 0 && writer > 0
		})
		p.Renew()
		until(t, "another connection waits", func() bool { n := number(t, address, waiting("select")); return n > 0 && n != reader })
		if n := number(t, address, waiting("insert")); n != writer {
			t.Errorf("the changing statement is on connection %d, was on %d", n, writer)
		}
		exec("select pg_advisory_unlock(7)")
		group.Wait()
		s.Row.Steps = []engine.StepRecord{reads.Record, writes.Record}
		s.Row.Outcome = engine.OK
	})
	for _, step := range row.Steps {
		if step.Attempts != 1 || step.Label != engine.Fresh {
			t.Errorf("%+v", step)
		}
	}
	if n := number(t, address, "select count(*) from t"); n != 1 {
		t.Errorf("%d rows", n)
	}
}

// TestLostServer checks that statements wait for an unavailable server. None of them fails, and none counts too often.
func TestLostServer(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	p, _ := serverOf(t, server, database.Limits{})
	if row, _ := p.ask(t, stage{}, sql(t, "select 1"), nil); row.Outcome != engine.OK {
		t.Fatal(row.Error)
	}
	server.Stop(t)
	hurry(p.breaker)
	const all = 40
	row := stage{}.play(t, func(s *engine.Session) {
		var group sync.WaitGroup
		calls := make([]*Call, all)
		for i := range all {
			calls[i] = callOf(s, fmt.Sprint("step", i))
			calls[i].Retry = engine.Retry{Attempts: 5, Wait: 20 * time.Millisecond, Max: 20 * time.Millisecond}
			group.Go(func() {
				if _, err := p.Do(calls[i], sql(t, "select 1")); err != nil {
					calls[i].Record.Class = engine.Network
				}
			})
		}
		until(t, "the breaker is open", func() bool { s := p.State(time.Now()); return s.Breaker != engine.BreakerClosed && s.Waiting > 0 })
		if s := p.State(time.Now()); s.Failures < 10 || !strings.Contains(s.BreakerWhy, "nothing answers at") && !strings.Contains(s.BreakerWhy, "closed the connection") {
			t.Errorf("%+v", s)
		}
		server.Start(t)
		group.Wait()
		for _, c := range calls {
			s.Row.Steps = append(s.Row.Steps, c.Record)
		}
		s.Row.Outcome = engine.OK
	})
	failed := 0
	for _, step := range row.Steps {
		if step.Attempts > 5 {
			t.Errorf("%+v", step)
		}
		if step.Class != engine.NoError {
			failed++
		}
	}
	if failed > 5 { // whose attempts were used up before the breaker opened
		t.Errorf("%d of %d failed", failed, all)
	}
	if s := p.State(time.Now()); s.Breaker != engine.BreakerClosed || s.InFlight != 0 || s.Waiting != 0 {
		t.Errorf("in the end %+v", s)
	}
}

// TestClients counts the server's clients while all connections of the pool are in use.
func TestClients(t *testing.T) {
	p, address := serverOf(t, pgtest.New(t, pgtest.Options{MaxConnections: 30}), database.Limits{Connections: 1, Burst: -1})
	lock := pgtest.Connect(t, address)
	if _, err := lock.Exec(t.Context(), "select pg_advisory_lock(1)"); err != nil {
		t.Fatal(err)
	}
	stage{}.play(t, func(s *engine.Session) {
		c, done := callOf(s, "step"), make(chan error)
		go func() {
			_, err := p.Do(c, sql(t, "select pg_advisory_xact_lock_shared(1)"))
			done <- err
		}()
		until(t, "the statement has the only connection", func() bool { return p.Open() == 1 })
		until(t, "three clients: the lock, the statement, and who counts them", func() bool {
			c, err := p.Clients(t.Context())
			return c.All == 3 && c.Max == 30 && !c.Pooled && err == nil
		})
		if err := lock.Close(t.Context()); err != nil {
			t.Error(err)
		}
		end(s, c, <-done)
	})
}

// TestConnectionsOfPools raises and lowers the number of concurrent statements.
func TestConnectionsOfPools(t *testing.T) {
	p, address := serverOf(t, pgtest.Shared(t), database.Limits{Connections: 1, Burst: -1})
	lock := pgtest.Connect(t, address)
	if _, err := lock.Exec(t.Context(), "select pg_advisory_lock(1)"); err != nil {
		t.Fatal(err)
	}
	stage{}.play(t, func(s *engine.Session) {
		var running sync.WaitGroup
		for i := range 6 {
			c := callOf(s, fmt.Sprint("step", i))
			running.Go(func() {
				if _, err := p.Do(c, sql(t, "select pg_advisory_xact_lock_shared(1)")); err != nil {
					t.Error(err)
				}
			})
		}
		at := func(n int) func() bool {
			return func() bool { s := p.State(time.Now()); return s.InFlight == n && s.Waiting == 6-n && p.Open() == n }
		}
		until(t, "one at work", at(1))
		tune(t, p, "db.connections", "4")
		until(t, "four at work", at(4))
		if err := lock.Close(t.Context()); err != nil {
			t.Error(err)
		}
		running.Wait()
		tune(t, p, "db.connections", "1")
		until(t, "what is idle and too many is closed", func() bool { return p.Open() <= 2 })
		s.Row.Outcome = engine.OK
	})
}
