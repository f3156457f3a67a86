package app

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/storage/sqlite"
)

// TestPoolsAreCounted checks that the run counts the connections and writes of sql steps in addition to the sink's.
func TestPoolsAreCounted(t *testing.T) {
	keyring.MockInit()
	address := pgtest.Shared(t).Database(t)
	conn := pgtest.Connect(t, address)
	if _, err := conn.Exec(t.Context(), "create table t (x int)"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	const text = `
population: {count: 20}
services: {db: {kind: postgres, url: "secret:DB", limits: {connections: 3, burst: 0}}}
chain c: {step a: {kind: sql, service: db, query: "insert into t values ($1), ($1)", args: ["${agent.index}"]}}
`
	s, err := scenario.Read("x.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, sink := range []bool{false, true} {
		data := t.TempDir()
		logger := slog.New(slog.NewTextHandler(io.Discard, nil))
		store, err := sqlite.Open(data, sqlite.Options{Logger: logger})
		if err != nil {
			t.Fatal(err)
		}
		settings := engine.DefaultSettings()
		settings.Cycles, settings.Remote = 1, sink
		l := Launch{Services: Services{Data: data, Scenario: s, Settings: settings, Remote: remote.New(store, logger)}, Store: store, Trusted: true, Allow: []string{addressOf(t, address)}}
		l.Secrets.Env = func(string) string { return address }
		if sink {
			if err := l.Remote.Use(config.Database{URL: address}); err != nil {
				t.Fatal(err)
			}
		}
		job, err := l.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		result := job.Run.Wait()
		probe := l.assembly().probe(job)
		sunk := int64(0)
		if sink {
			if err := l.Remote.Drain(t.Context(), job.Record.ID); err != nil {
				t.Error(err)
			}
			sunk = l.Remote.Sent()
		}
		own, writes := probe.Connections().Own, probe.Writes()
		if result.Totals.Outcomes[engine.OK] != 20 || own < 1 || own > 3 && !sink || writes != 40+sunk || sink && sunk == 0 {
			t.Errorf("sink %t: %d connections, %d rows, %d of the sink; %+v", sink, own, writes, sunk, result.Totals.Outcomes)
		}
		if (probe.Unsent != nil) != sink {
			t.Errorf("sink %t: waiting rows are counted: %t", sink, probe.Unsent != nil)
		}
		if err := job.Close(); err != nil {
			t.Error(err)
		}
		if n := job.pools[0].Open(); n != 0 {
			t.Errorf("%d connections are open after the run", n)
		}
		if err := l.Remote.Close(); err != nil {
			t.Error(err)
		}
		AuditAll(t, store)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestHostsOfDatabases checks that all hosts of an address need consent.
func TestHostsOfDatabases(t *testing.T) {
	keyring.MockInit()
	const text = `
services:
  a: {kind: postgres, url: "secret:DB"}
  b: {kind: postgres, url: "postgres://app@b.example/x", auth: {password: "secret:PW"}}
chain c: {step a: {kind: emit, event: e}}
`
	s, err := scenario.Read("x.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"DB": "postgres://app:hunter2@a.example,c.example/x", "PW": "hunter2"}
	l := Launch{Services: Services{Scenario: s, Settings: engine.DefaultSettings(), Secrets: secrets.Finder{Env: func(name string) string { return env[name] }}}}
	var got []string
	for _, to := range l.Permits().Unallowed() {
		got = append(got, to.Service+" "+to.Address())
	}
	if text := strings.Join(got, ", "); text != "a a.example:5432/x, a c.example:5432/x, b b.example:5432/x" {
		t.Errorf("other hosts: got %s", text)
	}
	l.Allow = []string{"a.example", "b.example", "c.example"}
	if err := l.Permits().checkHosts(); err != nil || len(l.Permits().Unallowed()) > 0 {
		t.Errorf("after permission: %v, still not allowed: %v", err, l.Permits().Unallowed())
	}
	clear(env)
	if err := l.Permits().checkHosts(); err == nil || strings.Count(err.Error(), "neither in the environment") != 2 {
		t.Errorf("without secrets: %v", err)
	}
}

func TestCheckPostgres(t *testing.T) {
	keyring.MockInit()
	t.Setenv("THRONG_TEST_DB", pgtest.Shared(t).Database(t))
	if said, err := checkPostgres(t.Context(), postgresService{Name: "db", Address: "secret:THRONG_TEST_DB"}); err != nil || !strings.HasPrefix(said, "PostgreSQL ") {
		t.Errorf("%s, %v", said, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		p    postgresService
		says string
	}{
		{postgresService{Name: "db", Address: "secret:THRONG_TEST_NONE"}, "service db: the secret THRONG_TEST_NONE is neither"},
		{postgresService{Name: "db", Address: "secret:no name"}, "invalid name"},
		{postgresService{Name: "db", Address: "mock:db"}, "service db: its address does not begin with postgres://"},
		{postgresService{Name: "db", Address: "secret:THRONG_TEST_DB"}, "127.0.0.1:"},
	} {
		if said, err := checkPostgres(gone, tt.p); err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), pgtest.Password) {
			t.Errorf("%+v: %s, %v; want %s", tt.p, said, err, tt.says)
		}
	}
}

// addressOf returns the address of a database for Allow.
func addressOf(t *testing.T, address string) string {
	t.Helper()
	d, err := database.Parse(address, "")
	if err != nil {
		t.Fatal(err)
	}
	return d.Target()
}
