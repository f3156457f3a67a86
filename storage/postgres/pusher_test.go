package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

func logTo(w *bytes.Buffer) func(c *PusherConfig) {
	return func(c *PusherConfig) { c.Logger = slog.New(slog.NewTextHandler(w, nil)) }
}

// onlyWhenAsked configures a pusher that only sends on request.
func onlyWhenAsked(c *PusherConfig) { c.Every, c.Rows = time.Hour, 1<<30 }

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("timed out: %s", what)
		}
	}
}

// TestOutage kills the server while a run is journaled: the run continues, and all its rows arrive after the server is back.
func TestOutage(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	url := server.Database(t)
	l := newLocal(t)
	p := l.push(url, func(c *PusherConfig) { c.Every = 20 * time.Millisecond })
	p.Start()

	stop := make(chan struct{})
	var journaled atomic.Int64
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				l.add(50)
				journaled.Add(50)
				p.Nudge()
			}
		}
	})
	more := func() {
		t.Helper()
		from := journaled.Load()
		until(t, "the run continues", func() bool { return journaled.Load() > from+500 })
	}
	for range 2 {
		sent := p.Status().Sent
		until(t, "rows are sent", func() bool { s := p.Status(); return s.Connected && s.Sent > sent+500 })
		server.Stop(t)
		until(t, "the outage is noticed", func() bool { s := p.Status(); return !s.Connected && s.Error != "" && !s.Since.IsZero() })
		more()
		before := p.Status().Unsent
		until(t, "rows accumulate", func() bool { return p.Status().Unsent > before })
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		if err := p.Drain(ctx, run); err == nil || !strings.Contains(err.Error(), "kept and sent later") || ctx.Err() != nil {
			t.Errorf("drain without a server: %v", err)
		}
		cancel()
		server.Start(t)
	}
	more()
	close(stop)
	running.Wait()
	must(t, p.Drain(t.Context(), run))
	if s := p.Status(); s.Error != "" || !s.Connected || s.SetAside != 0 {
		t.Errorf("after everything was sent: %+v", s)
	}
	until(t, "nothing is unsent", func() bool { return p.Status().Unsent == 0 })
	d := &database{pgtest.Connect(t, url), t, url}
	arrived(t, l, d)
	must(t, d.Close(t.Context()))
	must(t, p.Close(t.Context()))
}

// forgetful is an outbox that loses confirmations.
type forgetful struct {
	*local
	lose atomic.Int64
}

func (f *forgetful) Sent(ctx context.Context, run engine.RunID, target string, to storage.Cursor) error {
	if f.lose.Add(-1) >= 0 {
		return errors.New("the confirmation is lost")
	}
	return f.local.Sent(ctx, run, target, to)
}

// TestLostConfirmation sends rows again that are already in the database.
func TestLostConfirmation(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	outbox := &forgetful{local: l}
	p := l.push(d.url, onlyWhenAsked, func(c *PusherConfig) { c.Outbox = outbox })
	p.Start()
	must(t, p.Drain(t.Context(), run))
	l.add(3000)
	outbox.lose.Store(3)
	for range 3 {
		if err := p.Drain(t.Context(), run); err == nil || !strings.Contains(err.Error(), "the confirmation is lost") {
			t.Errorf("got %v", err)
		}
	}
	if s := p.Status(); !s.Connected || !strings.Contains(s.Error, "the confirmation is lost") {
		t.Errorf("got %+v", s)
	}
	must(t, p.Drain(t.Context(), run))
	arrived(t, l, d)
	if s := p.Status(); s.Error != "" || s.Sent < int64(4*l.agents) || s.Sent > int64(4*l.agents+20) {
		t.Errorf("existing rows were counted again, or an error stays: %+v", s)
	}
}

// TestKilledInTransaction ends the pusher's connection between COPY and COMMIT.
func TestKilledInTransaction(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	must(t, migrate(t.Context(), d.Conn))
	l.add(1500)
	tx, err := d.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE throng.events IN EXCLUSIVE MODE`)
	must(t, err)
	p := l.push(d.url)
	p.Start()
	done := make(chan error, 1)
	go func() { done <- p.Drain(t.Context(), run) }()
	const held = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'throng' AND wait_event_type = 'Lock'`
	other := &database{pgtest.Connect(t, d.url), t, d.url} // a transaction always sees the same activity
	until(t, "the pusher waits for the lock", func() bool { return ask[int](other, held) > 0 })
	must(t, other.Close(t.Context()))
	must(t, tx.Rollback(t.Context()))
	if err := <-done; err != nil { // unless it already tried again
		must(t, p.Drain(t.Context(), run))
	}
	arrived(t, l, d)
}

// TestTwoPushers sends the same run from two processes, while it is in progress.
func TestTwoPushers(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	pushers := []*Pusher{l.push(d.url), l.push(d.url)}
	for _, p := range pushers {
		p.Start()
	}
	for range 20 {
		l.add(700)
		var both sync.WaitGroup
		for _, p := range pushers {
			both.Go(func() {
				if err := p.Drain(t.Context(), run); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
	arrived(t, l, d)
	var sent int64
	for _, p := range pushers {
		s := p.Status()
		sent += s.Sent
		if s.Error != "" || s.SetAside != 0 {
			t.Errorf("got %+v", s)
		}
	}
	if want := int64(4 * l.agents); sent < want || sent > want+200 {
		t.Errorf("they report %d new rows, want %d and those of the run", sent, want)
	}
}

// TestOlderState makes a slow process send an old state of a run.
func TestOlderState(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	must(t, migrate(t.Context(), d.Conn))
	must(t, l.Subscribe(t.Context(), run, "x"))
	var batches []*batch
	add := func(rows int) {
		p, err := l.Delivery(t.Context(), run, "x", storage.Cursor{}, rows)
		must(t, err)
		b := &batch{}
		must(t, b.fill(run, p, names, maker{version: "v1"}))
		batches = append(batches, b)
	}
	add(1000)
	l.add(150)
	l.add(150)
	add(10) // a part, without the newest state of the run
	must(t, l.journal.Commit(t.Context(), engine.EndRow{At: epoch, Ending: engine.EndStopped, Totals: engine.Totals{Acted: 9}}))
	add(1000)
	for _, i := range []int{1, 2, 0, 1} {
		s := sending{batch: batches[i], conn: d.Conn, staged: true}
		must(t, s.send(t.Context(), batches[i].all()))
		ended := i == 2 || i == 0
		if i == 1 && ask[bool](d, `SELECT count(*) = 300 FROM throng.sessions`) {
			ended = true
		}
		if got := ask[string](d, `SELECT concat_ws(' ', ending, done, totals->>'acted') FROM throng.runs`); ended != (got == "stopped 300 9") {
			t.Errorf("after batch %d: got %q", i, got)
		}
	}
}

// TestNewestFirst drains the newest run first, unless a caller waits for another.
func TestNewestFirst(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	all := []engine.RunID{run}
	for i := range 3 {
		id := engine.RunID(fmt.Sprint("run-", i))
		must(t, l.create(id).Commit(t.Context(), engine.SessionRows{shopping(l.random)}))
		all = append(all, id)
	}
	order := make(chan engine.RunID, 100)
	p := l.push(d.url, onlyWhenAsked, func(c *PusherConfig) {
		c.Names = func(_ context.Context, id engine.RunID) (storage.Names, error) {
			order <- id
			if id == "run-1" {
				return storage.Names{}, errors.New("its scenario has gone")
			}
			return names, nil
		}
	})
	for _, id := range all {
		must(t, l.Subscribe(t.Context(), id, p.Target()))
	}
	p.rounds.want("run-0") // as Drain does
	p.Start()
	for i, want := range []engine.RunID{"run-0", "run-2", "run-1", run} {
		if got := <-order; got != want {
			t.Errorf("run number %d: got %s, want %s", i, got, want)
		}
	}
	if err := p.Drain(t.Context(), "run-1"); err == nil || !strings.Contains(err.Error(), "its scenario has gone") {
		t.Errorf("got %v", err)
	}
	if got := ask[int](d, `SELECT count(*) FROM throng.runs`); got != 3 {
		t.Errorf("%d runs arrived, want all but the one that cannot be read", got)
	}
	if s := p.Status(); !s.Connected || !strings.Contains(s.Error, "its scenario has gone") {
		t.Errorf("got %+v", s)
	}
	must(t, p.Close(t.Context()))
}

// TestPushesByItself sends rows without a request: 500 immediately, fewer after a while.
func TestPushesByItself(t *testing.T) {
	for _, c := range []struct {
		name  string
		every time.Duration
		rows  int
	}{{"many rows", time.Hour, 500}, {"few rows", 100 * time.Millisecond, 20}} {
		t.Run(c.name, func(t *testing.T) {
			l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
			p := l.push(d.url, func(config *PusherConfig) { config.Every = c.every })
			p.Start()
			must(t, p.Drain(t.Context(), run))
			l.add(c.rows)
			until(t, "rows arrive", func() bool { return ask[int](d, `SELECT count(*) FROM throng.sessions`) == c.rows })
		})
	}
}

// TestCloseSends checks that Close sends the remaining rows, or keeps them if it cannot.
func TestCloseSends(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	p := l.push(d.url, func(c *PusherConfig) { c.Every = time.Hour })
	must(t, p.Close(t.Context())) // never started
	p = l.push(d.url, func(c *PusherConfig) { c.Every = time.Hour })
	p.Start()
	p.Start()
	must(t, p.Drain(t.Context(), run))
	l.add(100)
	must(t, p.Close(t.Context()))
	must(t, p.Close(t.Context()))
	arrived(t, l, d)
	if s := p.Status(); s.Connected || s.Connections != 0 {
		t.Errorf("closed: %+v", s)
	}
	l.add(1)
	if err := p.Drain(t.Context(), run); !errors.Is(err, errPusherClosed) || !strings.Contains(err.Error(), "1 rows") {
		t.Errorf("drained after the end: %v", err)
	}
}

// TestLostSchema drops the schema, and then a table: everything is sent again, from the first row.
func TestLostSchema(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	p := l.push(d.url, onlyWhenAsked)
	p.Start()
	l.add(1500)
	must(t, p.Drain(t.Context(), run))
	_, err := d.Exec(t.Context(), "DROP TABLE throng.events CASCADE")
	must(t, err)
	l.add(10)
	if err := p.Drain(t.Context(), run); err == nil || !strings.Contains(err.Error(), "DROP SCHEMA throng CASCADE") {
		t.Errorf("without a table: %v", err)
	}
	_, err = d.Exec(t.Context(), "DROP SCHEMA throng CASCADE")
	must(t, err)
	must(t, p.Drain(t.Context(), run))
	arrived(t, l, d)
	if n := ask[int](d, `SELECT count(*) FROM throng.runs WHERE done = $1`, l.agents); n != 1 {
		t.Error("the row of the run is missing")
	}
}

// TestDeletedRun deletes a run before it is sent.
func TestDeletedRun(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	l.add(10)
	p := l.push(d.url, func(c *PusherConfig) {
		c.Names = func(ctx context.Context, id engine.RunID) (storage.Names, error) { return names, l.Delete(ctx, id) }
	})
	must(t, l.journal.Close(t.Context()))
	p.Start()
	must(t, p.Drain(t.Context(), run))
	if s := p.Status(); s.Error != "" {
		t.Errorf("got %+v", s)
	}
}

// TestNoSessionState checks what a push leaves behind in a session, which another client gets behind a pooler.
func TestNoSessionState(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	l.add(1500)
	p := l.push(d.url, func(c *PusherConfig) { c.Database.Connections = 1 })
	p.Start()
	must(t, p.Drain(t.Context(), run))
	conn, err := p.pool.Load().Acquire(t.Context())
	must(t, err)
	defer conn.Release()
	left := &database{conn.Conn(), t, ""}
	for what, query := range map[string]string{
		"prepared statements": `SELECT count(*) FROM pg_prepared_statements`,
		"temporary tables":    `SELECT count(*) FROM pg_class WHERE relpersistence = 't'`,
		"locks":               `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'`,
		"settings":            `SELECT count(*) FROM pg_settings WHERE source = 'session'`,
	} {
		if n := ask[int](left, query); n != 0 {
			t.Errorf("%d %s are left", n, what)
		}
	}
	if n := p.pool.Load().Stat().MaxConns(); n != 1 {
		t.Errorf("the pool may have %d connections, want 1", n)
	}
}
