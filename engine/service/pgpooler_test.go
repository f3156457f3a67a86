package service

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// clientAt returns a client of a database at an address.
func clientAt(t *testing.T, address string, limits database.Limits) *Postgres {
	t.Helper()
	d, err := database.Parse(address, "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPostgres("db", d, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// TestStatementsThroughPooler checks that three clients with many concurrent statements share the two connections of a
// pooler in transaction mode. Each statement is carried out once, with its values, and none affects another.
func TestStatementsThroughPooler(t *testing.T) {
	server := pgtest.Shared(t)
	address := server.Database(t)
	execute(t, address, "create table t (who int, n int, primary key (who, n))")
	url := server.Pooler(t, 2).URL(t, address)
	const clients, each = 3, 60
	var all sync.WaitGroup
	for who := range clients {
		p := clientAt(t, url, database.Limits{Connections: 10, Allow: func(int) int { return 1 }})
		all.Go(func() {
			row := stage{}.play(t, func(s *engine.Session) {
				s.Clock() // the first call must not be concurrent
				var calls sync.WaitGroup
				for i := range each {
					c, look := callOf(s, fmt.Sprint("write", i)), callOf(s, fmt.Sprint("read", i))
					calls.Go(func() {
						if _, err := p.Do(c, sql(t, "insert into t values ($1, $2)", fmt.Sprint(who), fmt.Sprint(i))); err != nil {
							t.Error(err)
						}
						answer, err := p.Do(look, sql(t, "select $1::int a, count(*) n from t where who = $1 and n = $2", fmt.Sprint(who), fmt.Sprint(i)))
						if err != nil || !strings.Contains(string(answer.Body), fmt.Sprintf(`{"a":%d,"n":1}`, who)) {
							t.Errorf("%v: %v", answer, err)
						}
					})
				}
				calls.Wait()
				s.Row.Outcome = engine.OK
			})
			if row.Outcome != engine.OK {
				t.Errorf("%+v", row)
			}
			if size := p.Pool().Size; size != 20 { // the pooler limits the connections
				t.Errorf("behind a pooler %d connections are allowed, want those that are configured", size)
			}
		})
	}
	all.Wait()
	if n := number(t, address, "select count(*) from t"); n != clients*each {
		t.Errorf("%d rows, want %d", n, clients*each)
	}
	p := clientAt(t, url+"?statement_timeout=100", database.Limits{NoBreaker: true})
	row, _ := p.ask(t, stage{}, sql(t, "select 1"), func(c *Call) { c.Retry.Attempts = 1 })
	if row.Outcome == engine.OK || !strings.Contains(row.Error, "leave it out of the address") {
		t.Errorf("a parameter that a pooler refuses: %+v", row)
	}
}

// TestServersLimit checks that the server ends abandoned statements, unless it has a limit of its own.
func TestServersLimit(t *testing.T) {
	server := pgtest.Shared(t)
	p, address := serverOf(t, server, database.Limits{Timeout: 20 * time.Second})
	execute(t, address, "create table t (x text)")
	for query, want := range map[string]string{
		"select current_setting('statement_timeout') x":                           `[{"x":"25s"}]`,
		"insert into t values (current_setting('statement_timeout')) returning x": `[{"x":"25s"}]`,
		"create table other as select current_setting('statement_timeout') x":     `[]`,
		"vacuum t": `[]`,
	} {
		row, body := p.ask(t, stage{}, sql(t, query), nil)
		if row.Outcome != engine.OK || !strings.Contains(body, want) {
			t.Errorf("%s: %s %+v", query, body, row)
		}
	}
	own := clientAt(t, address+"?statement_timeout=7000", database.Limits{})
	if row, body := own.ask(t, stage{}, sql(t, "select current_setting('statement_timeout') x"), nil); !strings.Contains(body, `"7s"`) {
		t.Errorf("%s %+v", body, row)
	}
}

// TestAllowedConnections checks that a client opens no more connections than its share.
func TestAllowedConnections(t *testing.T) {
	server := pgtest.Shared(t)
	var told atomic.Int64 // connections are opened concurrently
	address := server.Database(t)
	p := clientAt(t, address, database.Limits{Allow: func(free int) int { told.Store(int64(free)); return 6 }})
	if got := p.Pool(); got != (engine.Pool{Size: database.UnknownConnections}) {
		t.Errorf("before the first connection: %+v", got)
	}
	most := 0
	row := stage{}.play(t, func(s *engine.Session) {
		s.Clock()
		var calls sync.WaitGroup
		for i := range 30 {
			c := callOf(s, fmt.Sprint("step", i))
			calls.Go(func() {
				if _, err := p.Do(c, sql(t, "select pg_sleep(0.02)")); err != nil {
					t.Error(err)
				}
			})
		}
		done := make(chan struct{})
		go func() { calls.Wait(); close(done) }()
		for {
			select {
			case <-done:
				s.Row.Outcome = engine.OK
				return
			default:
				f := p.Pool()
				most = max(most, f.InUse+f.Idle)
			}
		}
	})
	if row.Outcome != engine.OK || told.Load() < 20 || told.Load() > 47 || most != 5 || p.Pool().Size != 5 {
		t.Errorf("reported %d, %d were open, want 5: %+v", told.Load(), most, p.Pool())
	}
	if _, err := p.Tune("db.connections", "3"); err != nil || p.Pool().Size != 5 {
		t.Errorf("fewer than the server has for it, with a burst: %v, %+v", err, p.Pool())
	}
	if _, err := p.Tune("db.connections", "1000"); err != nil || p.Pool().Size != 5 {
		t.Errorf("more than the server has for it: %v, %+v", err, p.Pool())
	}
}
