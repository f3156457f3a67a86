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

// many runs concurrent statements in one session, with a single attempt each, and returns their records and errors.
func many(t *testing.T, p *Postgres, n int, query string, meanwhile func()) (records []engine.StepRecord, failed []error) {
	t.Helper()
	records, failed = make([]engine.StepRecord, n), make([]error, n)
	stage{}.play(t, func(s *engine.Session) {
		s.Clock()
		var calls sync.WaitGroup
		for i := range n {
			c := callOf(s, fmt.Sprint("step", i))
			c.Retry.Attempts = 1
			calls.Go(func() {
				_, failed[i] = p.Do(c, sql(t, query))
				records[i] = c.Record
			})
		}
		meanwhile()
		calls.Wait()
		s.Row.Outcome = engine.OK
	})
	return records, failed
}

// TestFullPoolerIsWaitedFor checks that statements wait, without using attempts, for a pooler that accepts no more
// clients, at first none at all, and that all are executed.
func TestFullPoolerIsWaitedFor(t *testing.T) {
	server := pgtest.Shared(t)
	for _, free := range []int{0, 2} {
		t.Run(fmt.Sprint(free, " free"), func(t *testing.T) {
			url := server.Pooler(t, 2, "max_client_conn = 4").URL(t, server.Database(t)) + "?sslmode=disable" // otherwise each connection counts twice
			var others []func()
			for range 4 - free {
				conn := pgtest.Connect(t, url)
				others = append(others, func() { _ = conn.Close(t.Context()) })
			}
			p := clientAt(t, url, database.Limits{Connections: 20, Burst: 5, Timeout: 5 * time.Second})
			records, failed := many(t, p, 25, "select pg_sleep(0.05)", func() {
				until(t, "the pooler refuses connections", func() bool { return p.State(time.Now()).RateWhy != "" })
				for _, leave := range others {
					leave()
				}
			})
			held := 0
			for i := range records {
				if failed[i] != nil || records[i].Attempts != 1 {
					t.Errorf("%v after %d attempts", failed[i], records[i].Attempts)
				}
				if w := records[i].Waits; w != nil && w[engine.ThrottledBySlots] > 0 {
					held++
				}
			}
			if held < 15 || p.State(time.Now()).Failures != 0 {
				t.Errorf("%d waited; %+v", held, p.State(time.Now()))
			}
			moves := p.Moves()
			if len(moves) == 0 || moves[0].What != "db connections" || moves[0].Old != "25" || !strings.Contains(moves[0].Why, "max_client_conn") {
				t.Errorf("%+v", moves)
			}
		})
	}
}

// TestFullServerIsWaitedFor checks that statements wait for a server without free connections, and fail if the limits
// set a maximum wait.
func TestFullServerIsWaitedFor(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{MaxConnections: 8})
	address := server.Database(t)
	var leave []func()
	for range 8 {
		conn := pgtest.Connect(t, address)
		leave = append(leave, func() { _ = conn.Close(t.Context()) })
	}
	impatient := clientAt(t, address, database.Limits{Wait: 50 * time.Millisecond})
	_, failed := many(t, impatient, 1, "select 1", func() {})
	if failed[0] == nil || !strings.Contains(failed[0].Error(), "max_connections") || !strings.Contains(failed[0].Error(), "no connection was free in time") {
		t.Errorf("%v", failed[0])
	}
	p := clientAt(t, address, database.Limits{})
	records, failed := many(t, p, 3, "select 1", func() {
		until(t, "the server refuses connections", func() bool { return p.State(time.Now()).RateWhy != "" })
		for _, one := range leave {
			one()
		}
	})
	for i := range records {
		if failed[i] != nil || records[i].Attempts != 1 {
			t.Errorf("%v after %d attempts", failed[i], records[i].Attempts)
		}
	}
}

// TestIdleConnectionsAreGivenBack checks that idle connections beyond the recent maximum are closed.
func TestIdleConnectionsAreGivenBack(t *testing.T) {
	p, address := serverOf(t, pgtest.Shared(t), database.Limits{Connections: 12, Burst: 3})
	atOnce := func(n int) {
		lock := pgtest.Connect(t, address)
		if _, err := lock.Exec(t.Context(), "select pg_advisory_lock(7)"); err != nil {
			t.Fatal(err)
		}
		many(t, p, n, "select pg_advisory_xact_lock_shared(7)", func() {
			until(t, "all are at work", func() bool { return p.Pool().InUse == n })
			_ = lock.Close(t.Context())
		})
	}
	atOnce(15)
	p.GiveBack()
	if n := p.Open(); n < 15 {
		t.Errorf("%d are open, but 15 were in use recently", n)
	}
	atOnce(4)
	p.GiveBack()
	until(t, "4 are open, which were in use of late", func() bool { return p.Open() == 4 })
	if _, failed := many(t, p, 15, "select 1", func() {}); failed[0] != nil {
		t.Error(failed[0])
	}
}

// TestShareCountsOthers checks that a pool keeps to its share of the connections that other clients leave, as these
// come and go.
func TestShareCountsOthers(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{MaxConnections: 30})
	address := server.Database(t)
	var leave []func()
	for range 17 {
		conn := pgtest.Connect(t, address)
		leave = append(leave, func() { _ = conn.Close(t.Context()) })
	}
	p := clientAt(t, address, database.Limits{Allow: func(free int) int { return free }})
	many(t, p, 1, "select 1", func() {})
	size := func() int {
		c, err := p.Clients(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.Share(c, p.Open())
		return p.Pool().Size
	}
	// 3 of 30 are kept for superusers, and one is for questions.
	if n := p.Pool().Size; n != 9 {
		t.Errorf("next to 17 others %d are allowed, want 9", n)
	}
	for _, one := range leave[:10] {
		one()
	}
	until(t, "the pool may have more", func() bool { return size() == 19 })
	many(t, p, 19, "select pg_sleep(0.1)", func() {})
	for range 3 {
		pgtest.Connect(t, address)
	}
	if n := size(); n != 16 {
		t.Errorf("next to 10 others %d are allowed, want 16", n)
	}
	until(t, "idle connections are closed", func() bool { return p.Open() <= 17 })
}
