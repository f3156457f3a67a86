package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/throng-sim/throng/engine/enginetest/proxy"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestHangingServer checks that no call waits for a server that accepts connections and does not respond.
func TestHangingServer(t *testing.T) {
	hangs, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = hangs.Close() })
	l := newLocal(t)
	p := l.push("postgres://app:secret@"+hangs.Addr().String()+"/x?sslmode=disable", func(c *PusherConfig) { c.Every = 10 * time.Millisecond })
	p.Start()
	l.add(100)
	until(t, "unsent rows are counted", func() bool { return p.Status().Unsent == 100 })
	asked, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if err := p.Drain(asked, run); !errors.Is(err, enough) || !strings.Contains(err.Error(), "100 rows") {
		t.Errorf("got %v", err)
	}
	began := time.Now()
	must(t, p.Close(t.Context()))
	if took := time.Since(began); took >= stepTime {
		t.Errorf("closing took %v", took)
	}
}

// TestSilentServer checks that no call waits for a server that stops responding during a batch.
func TestSilentServer(t *testing.T) {
	server := pgtest.Shared(t)
	l, d, line := newLocal(t), newDatabase(t, server), proxy.NewLine(t, server.Address())
	p := l.push(strings.Replace(d.url, server.Address(), line.Addr().String(), 1), onlyWhenAsked)
	p.Start()
	must(t, p.Drain(t.Context(), run))
	l.add(20_000)
	line.Silence()
	p.Nudge()
	until(t, "a connection is in use", func() bool { return p.pool.Load().Stat().AcquiredConns() > 0 })
	ctx, cancel := context.WithTimeout(t.Context(), time.Second/10)
	defer cancel()
	began := time.Now()
	if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(began); took >= stepTime {
		t.Errorf("closing took %v", took)
	}
}

// TestSilenceIsReported makes a server stop responding in the middle of a batch: this is reported within seconds, although a
// batch may take a minute, and the rows arrive after it responds again.
func TestSilenceIsReported(t *testing.T) {
	for _, connections := range []int{8, 1} {
		t.Run(fmt.Sprint(connections, " connections"), func(t *testing.T) {
			t.Parallel()
			silenceIsTold(t, connections)
		})
	}
}

func silenceIsTold(t *testing.T, connections int) {
	t.Helper()
	server := pgtest.Shared(t)
	l, d, line := newLocal(t), newDatabase(t, server), proxy.NewLine(t, server.Address())
	p := l.push(strings.Replace(d.url, server.Address(), line.Addr().String(), 1), func(c *PusherConfig) { c.Database.Connections = connections })
	p.Start()
	must(t, p.Drain(t.Context(), run))
	began := time.Now()
	line.Silence()
	l.add(2000)
	p.Nudge()
	until(t, "the outage is reported", func() bool { return strings.Contains(p.Status().Error, "does not answer in time") })
	if took := time.Since(began); took >= p.limits.Statement/2 {
		t.Errorf("it took %v", took)
	}
	line.Be(proxy.Trouble{})
	until(t, "the outage is over", func() bool { s := p.Status(); return s.Error == "" && s.Unsent == 0 })
	arrived(t, l, d)
}

// TestSlowBatchContinues checks that a batch which the server processes is not canceled because another connection gets no
// answer, and that a batch without progress is.
func TestSlowBatchContinues(t *testing.T) {
	d := newDatabase(t, pgtest.Shared(t))
	config, err := Config{URL: d.url}.parse()
	must(t, err)
	config.ConnConfig.DialFunc = trackTransfers(config.ConnConfig.DialFunc)
	conn, err := pgx.ConnectConfig(t.Context(), config.ConnConfig)
	must(t, err)
	defer func() { must(t, conn.Close(t.Context())) }()
	s := currentBatch{conn: conn}
	if s.still() {
		t.Error("a new connection counts as stalled")
	}
	wire, ok := conn.PgConn().Conn().(*trackedConn)
	if !ok {
		t.Fatalf("the connection is a %T", conn.PgConn().Conn())
	}
	wire.moved.Store(time.Now().Add(-stepTime).UnixNano())
	if !s.still() {
		t.Error("a connection without transfers does not count as stalled")
	}
	must(t, conn.Ping(t.Context()))
	if s.still() {
		t.Error("a connection with transfers counts as stalled")
	}
}

// TestNoConnectionFree checks that a pusher keeps its connection if the server has no other.
func TestNoConnectionFree(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{MaxConnections: 20})
	d, l := newDatabase(t, server), newLocal(t)
	must(t, migrate(t.Context(), d.Conn))
	name, user := d.Config().Database, server.Role(t)
	server.Exec(t, name, "GRANT USAGE ON SCHEMA throng TO "+user, "GRANT ALL ON ALL TABLES IN SCHEMA throng TO "+user, "ALTER ROLE "+user+" CONNECTION LIMIT 1")
	p := l.push(server.URL(user, name))
	must(t, p.connect())
	var held *pgxpool.Conn
	until(t, "the server has seen that the first connection was closed", func() (ok bool) {
		var err error
		held, err = p.pool.Load().Acquire(t.Context())
		return err == nil
	})
	if _, err := p.pool.Load().Acquire(t.Context()); !noConnectionFree(err) {
		t.Fatalf("got %v: nothing is tested", err)
	}
	p.askServer(t.Context())
	if p.suspect.Load() {
		t.Error("the connection is considered broken")
	}
	held.Release()
	p.disconnect()
}

// TestBatchThatTakesTooLong makes batches smaller until they fit into the statement timeout.
func TestBatchThatTakesTooLong(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	must(t, migrate(t.Context(), d.Conn))
	l.add(1500)
	p := l.push(d.url + "?statement_timeout=100")
	must(t, p.connect())
	defer p.disconnect()
	tx, err := d.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE throng.events IN EXCLUSIVE MODE`)
	must(t, err)
	for _, most := range []int{defaultRows * 3 / 2, defaultRows, defaultRows / 2} {
		next := <-p.load(t.Context(), run, storage.Cursor{})
		must(t, next.err)
		if err := p.push(t.Context(), next.batch); !tookTooLong(err) {
			t.Fatalf("got %v", err)
		}
		if p.rows > most {
			t.Errorf("the next batch may have %d rows, want %d at most", p.rows, most)
		}
	}
	must(t, tx.Rollback(t.Context()))
	err = p.pushRun(t.Context(), run)
	for tookTooLong(err) && p.rows > 1 { // on a busy machine the batches become smaller still
		err = p.pushRun(t.Context(), run)
	}
	must(t, err)
	arrived(t, l, d)
}
