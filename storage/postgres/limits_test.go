package postgres

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestShareOfTheServer counts all clients: Throng uses its share of the free connections, up to the configured number.
func TestShareOfTheServer(t *testing.T) {
	for _, c := range []struct {
		f               figures
		wanted, percent int
		want            int
	}{
		{figures{Clients: 1, Max: 60, Kept: 3}, 50, 70, 39},
		{figures{Clients: 1, Max: 60, Kept: 3}, 50, 100, 50},
		{figures{Clients: 1, Max: 60, Kept: 3}, 8, 70, 8},
		{figures{Clients: 50, Max: 60, Kept: 3}, 8, 70, 5},
		{figures{Clients: 50, Max: 60, Kept: 3}, 8, 20, 1},
		{figures{Clients: 60, Max: 60, Kept: 3}, 8, 70, 1},
		{unknownFigures, 8, 70, 8},
	} {
		if got := c.f.share(c.wanted, c.percent); got != c.want {
			t.Errorf("%+v, %d wanted, %d%%: got %d, want %d", c.f, c.wanted, c.percent, got, c.want)
		}
	}
}

func TestLimitsOutOfBounds(t *testing.T) {
	for _, l := range []Limits{{Connections: -1}, {Connections: 51}, {Share: 101}, {Share: -1}, {Statement: time.Millisecond}, {Idle: -time.Second}, {Life: 48 * time.Hour}} {
		err := Config{URL: "postgres://user@localhost/db", Limits: l}.Validate()
		if _, ok := errors.AsType[*engine.FieldError](err); !ok {
			t.Errorf("%+v: got %v", l, err)
		}
	}
}

// TestServerEndsWhatHangs checks that each transaction has its limits, also through a pooler, and leaves none behind.
// Stricter limits of the server stay.
func TestServerEndsWhatHangs(t *testing.T) {
	server := pgtest.Shared(t)
	d := newDatabase(t, server)
	pooled := server.Pooler(t, 1)
	for _, url := range []string{d.url, pooled.URL(t, d.url)} {
		c := Config{URL: url}
		parsed, err := c.parse()
		must(t, err)
		conn := &database{pgtest.Connect(t, parsed.ConnString()), t, url}
		read := func() string {
			t.Helper()
			var got []string
			for _, name := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} {
				rows, err := conn.PgConn().Exec(t.Context(), "SHOW "+name).ReadAll()
				must(t, err)
				got = append(got, string(rows[0].Rows[0][0]))
			}
			return strings.Join(got, " ")
		}
		do := func(text string) {
			t.Helper()
			_, err := conn.PgConn().Exec(t.Context(), text).ReadAll()
			must(t, err)
		}
		before := read()
		do(Limits{Statement: 42 * time.Second}.begin())
		if got := read(); got != "42s 42s 42s" {
			t.Errorf("%s: in the transaction: %s", url, got)
		}
		do("ROLLBACK")
		if got := read(); got != before || before != "0 0 0" {
			t.Errorf("%s: after it: %s, before %s", url, got, before)
		}
		do("BEGIN; SET LOCAL statement_timeout = '5s'; SET LOCAL lock_timeout = '2min'")
		do(strings.TrimPrefix(Limits{Statement: 42 * time.Second}.begin(), "BEGIN;"))
		if got := read(); got != "5s 42s 42s" {
			t.Errorf("%s: with the server's own: %s", url, got)
		}
		do("ROLLBACK")
		must(t, conn.Close(t.Context()))
	}
}

// TestPoolFigures checks the numbers of the pool in the status.
func TestPoolFigures(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	p := l.push(d.url, onlyWhenAsked, func(c *PusherConfig) { c.Database.Connections = 3; c.Every = 20 * time.Millisecond })
	if got := p.Status().Pool; got != (engine.Pool{Size: 3}) {
		t.Errorf("before the start: %+v", got)
	}
	p.Start()
	until(t, "a pool of three is open", func() bool { s := p.Status(); return s.Pool.Size == 3 && s.Pool.Idle > 0 && s.Pool.InUse == 0 })
	tx, err := d.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE throng.sessions IN EXCLUSIVE MODE`)
	must(t, err)
	l.add(10)
	until(t, "a batch has a connection", func() bool { return p.Status().Pool.InUse > 0 })
	must(t, tx.Rollback(t.Context()))
	must(t, p.Drain(t.Context(), run))
	must(t, p.Close(t.Context()))
	if got := p.Status().Pool; got != (engine.Pool{Size: 3}) {
		t.Errorf("after the end: %+v", got)
	}
}

// TestPace checks the rate and the remaining time.
func TestPace(t *testing.T) {
	var p pace
	at := epoch
	if rate, left := p.of(at, 0, 1000); rate != 0 || left != 0 {
		t.Errorf("at first: %d, %s", rate, left)
	}
	if rate, left := p.of(at.Add(time.Second), 500, 1000); rate != 500 || left != 2*time.Second {
		t.Errorf("after a second: %d, %s", rate, left)
	}
	for i := range 30 {
		at = at.Add(time.Second)
		p.of(at, 500, 1000+int64(i))
	}
	if rate, left := p.of(at.Add(time.Second), 500, 2000); rate != 0 || left != 0 {
		t.Errorf("after a long pause: %d, %s", rate, left)
	}
}
