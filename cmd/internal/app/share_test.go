package app

import (
	"io"
	"log/slog"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/postgres"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/storage/sqlite"
)

// TestAllPoolsKeepToTheShare runs two services and the sink on one small server, with far more concurrent sessions than
// connections. Together they never exceed the share, and every statement succeeds.
func TestAllPoolsKeepToTheShare(t *testing.T) {
	keyring.MockInit()
	server := pgtest.New(t, pgtest.Options{MaxConnections: 30})
	address := server.Database(t)
	const text = `
population: {count: 120}
services:
  a: {kind: postgres, url: "secret:DB"}
  b: {kind: postgres, url: "secret:DB"}
chain c:
  step a: {kind: sql, service: a, query: "select pg_sleep(0.02)"}
  step b: {kind: sql, service: b, query: "select pg_sleep(0.02)"}
`
	s, err := scenario.Read("x.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, logger := t.TempDir(), slog.New(slog.NewTextHandler(io.Discard, nil))
	store, err := sqlite.Open(data, sqlite.Options{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	settings := engine.DefaultSettings()
	settings.Cycles, settings.Remote, settings.Limit, settings.Governor = 2, true, 60, engine.Manual
	settings.Ceiling = 60
	l := Launch{Services: Services{Data: data, Scenario: s, Settings: settings, Remote: remote.New(store, logger)}, Store: store, Allow: []string{addressOf(t, address)}}
	l.Secrets.Env = func(string) string { return address }
	if err := l.Remote.Use(config.Database{URL: address, Limits: postgres.Limits{Connections: 3, Share: 50}}); err != nil {
		t.Fatal(err)
	}
	job, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn := pgtest.Connect(t, server.URL(pgtest.User, "postgres"))
	probe, peak, sizes := l.assembly().probe(job), 0, engine.Pool{}
	for over := false; !over; {
		select {
		case <-job.Run.Done():
			over = true
		default:
		}
		var n int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'throng%'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		peak = max(peak, n)
		if now := probe.Connections().Pool; now.Size == 11 && now.InUse > 0 && now.Waiting > 0 {
			sizes = now
		}
	}
	if r := job.Run.Wait(); r.Totals.Outcomes[engine.OK] != 240 {
		t.Errorf("%+v", r.Totals.Outcomes)
	}
	// Of 30 connections, 3 are reserved for superusers and 1 is this test's. Half of the rest is 13: the sink has 3, and
	// each service 5, one of them for monitoring.
	if peak > 13 || peak < 8 || sizes == (engine.Pool{}) {
		t.Errorf("%d connections were open concurrently; sizes %+v", peak, sizes)
	}
	for _, err := range []error{job.Close(), l.Remote.Close(), store.Close(), conn.Close(t.Context())} {
		if err != nil {
			t.Error(err)
		}
	}
}
