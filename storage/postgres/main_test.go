package postgres

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/storage/sqlite"
)

func TestMain(m *testing.M) {
	if helper() {
		return
	}
	goleak.VerifyTestMain(m)
}

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// names are the names of the tests' agents and sessions.
var names = storage.Names{
	Agent:   func(index int) (string, error) { return fmt.Sprintf("agent %d", index), nil },
	Session: func(cycle, agent int) string { return engine.SeedUUID(1, cycle, agent) },
}

// local is a local store with a run to send.
type local struct {
	*sqlite.Store
	t       testing.TB
	journal *sqlite.Journal
	random  *rand.Rand
	agents  int // journaled so far
}

const run = engine.RunID("20260301-120000-abcd")

func newLocal(t testing.TB) *local {
	t.Helper()
	s, err := sqlite.Open(t.TempDir(), sqlite.Options{Logger: quiet()})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	l := &local{Store: s, t: t, random: rand.New(rand.NewPCG(1, 1))}
	l.journal = l.create(run)
	return l
}

// create adds a run and opens its journal.
func (l *local) create(id engine.RunID) *sqlite.Journal {
	l.t.Helper()
	settings := engine.DefaultSettings()
	settings.Seed = 1<<64 - 1
	must(l.t, l.Create(l.t.Context(), engine.RunRecord{
		ID: id, Title: "Shoppers", Created: epoch, Settings: settings, Cycles: 3, Total: 1000,
		Source: engine.Source{Name: "shop.yaml", Hash: "ab12", Parameters: map[string]string{"shops": "3", "odd": "no json"}},
	}))
	j, err := l.Journal(id)
	must(l.t, err)
	return j
}

// shopping returns a session of six steps with three events.
func shopping(r *rand.Rand) engine.SessionRow {
	s := engine.SessionRow{Outcome: engine.OK, Started: epoch, Queue: time.Duration(r.Int64N(2e6)), Acted: true}
	for i, path := range []string{"browse", "choose", "fill_cart[0].add_cart", "fill_cart[1].add_cart", "checkout", "pay"} {
		service := time.Duration(20e6 + r.Int64N(20e6))
		s.Steps = append(s.Steps, engine.StepRecord{Path: path, Attempts: 1, Statuses: []int{200 + i/2}, Service: service})
		s.Service += service
	}
	s.Total = s.Service + 200*time.Microsecond
	s.Events = []engine.Event{
		{Path: "fill_cart[0].add_cart", Name: "added", Data: fmt.Appendf(nil, `{"product":"p%d","price":%d}`, r.IntN(500), r.IntN(9000))},
		{Path: "fill_cart[1].add_cart", Name: "added", Data: fmt.Appendf(nil, `{"product":"p%d","price":%d}`, r.IntN(500), r.IntN(9000))},
		{Path: "pay", Name: "bought", Data: fmt.Appendf(nil, `{"order":"o-%08x","total":%d}`, r.Uint32(), r.IntN(20000))},
	}
	return s
}

// add journals n more sessions of shoppers, durably.
func (l *local) add(n int) {
	l.t.Helper()
	for n > 0 {
		rows := make(engine.SessionRows, min(n, 256))
		for i := range rows {
			rows[i] = shopping(l.random)
			rows[i].Agent = l.agents
			l.agents++
		}
		l.journal.Append(rows)
		n -= len(rows)
	}
	must(l.t, l.journal.Commit(l.t.Context()))
}

// database is a database for a test, with a connection for queries.
type database struct {
	*pgx.Conn
	t   testing.TB
	url string
}

func newDatabase(t testing.TB, s *pgtest.Server) *database {
	t.Helper()
	url := s.Database(t)
	d := &database{pgtest.Connect(t, url), t, url}
	t.Cleanup(func() { _ = d.Close(context.Background()) }) // the server may have stopped
	return d
}

// ask returns the single value of a query.
func ask[T any](d *database, query string, args ...any) (v T) {
	d.t.Helper()
	if err := d.QueryRow(d.t.Context(), query, args...).Scan(&v); err != nil {
		d.t.Fatalf("%s: %v", query, err)
	}
	return v
}

// push subscribes the run and returns a pusher to an address, which is not started.
func (l *local) push(url string, change ...func(c *PusherConfig)) *Pusher {
	l.t.Helper()
	c := l.pusherConfig(url)
	for _, f := range change {
		f(&c)
	}
	p, err := NewPusher(c)
	must(l.t, err)
	must(l.t, l.Subscribe(l.t.Context(), run, p.Target()))
	l.t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = p.Close(ctx) // without waiting
	})
	return p
}

func (l *local) pusherConfig(url string) PusherConfig {
	return PusherConfig{
		Database: Config{URL: url}, Outbox: l, Version: "v1.2.3", Logger: quiet(),
		Names: func(context.Context, engine.RunID) (storage.Names, error) { return names, nil },
	}
}
