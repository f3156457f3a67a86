package app

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/clients"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/storage/sqlite"
)

// launched runs a scenario to its end. The job is closed at the end of the test.
func launched(t *testing.T, text string, change func(*Launch)) *Job {
	t.Helper()
	job, _ := started(t, text, change)
	if result := job.Run.Wait(); result.Totals.Outcomes[engine.OK] == 0 {
		t.Fatalf("nothing succeeded: %+v", result.Totals.Outcomes)
	}
	return job
}

// started starts a run of a scenario in its own store.
func started(t *testing.T, text string, change func(*Launch)) (*Job, *sqlite.Store) {
	t.Helper()
	keyring.MockInit()
	s, err := scenario.Read("x.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	store, err := sqlite.Open(data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		AuditAll(t, store)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	l := Launch{Services: Services{Data: data, Scenario: s, Settings: engine.DefaultSettings()}, Store: store, Trusted: true}
	l.Settings.Cycles = 1
	if change != nil {
		change(&l)
	}
	job, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := job.Close(); err != nil {
			t.Error(err)
		}
	})
	return job, store
}

// TestServices checks the services of a run and their order, and that breaker=off turns off all breakers.
func TestServices(t *testing.T) {
	const text = `
population: {count: 2}
services:
  model: {kind: llm, url: "mock:model", model: m}
  shop: {kind: http, url: "mock:shop"}
  db: {kind: postgres, url: "postgres://u@127.0.0.1:1/d"}
chain c: {step a: {kind: emit, event: e}}
`
	for _, breaker := range []string{"probe", "off"} {
		job := launched(t, text, func(l *Launch) { l.Settings.Breaker, l.Settings.MaxLLMCalls = breaker, 7 })
		var names []string
		values := map[string]string{}
		for _, s := range job.services {
			names = append(names, s.State(time.Now()).Kind+" "+s.State(time.Now()).Name)
			for _, one := range s.Tunables() {
				values[one.Name] = one.Value
			}
		}
		if want := []string{"llm model", "http shop", "postgres db", "bound all models"}; !slices.Equal(names, want) {
			t.Errorf("services %q, want %q", names, want)
		}
		want := map[string]string{"probe": "on", "off": "off"}[breaker]
		for _, name := range []string{"model.breaker", "shop.breaker", "db.breaker"} {
			if values[name] != want {
				t.Errorf("with the breaker %s %s is %q", breaker, name, values[name])
			}
		}
		if values["max-llm-calls"] != "7" {
			t.Errorf("max-llm-calls is %q", values["max-llm-calls"])
		}
	}
}

// TestClientMonitor checks that all clients of the fullest server are counted.
func TestClientMonitor(t *testing.T) {
	small, large := pgtest.New(t, pgtest.Options{MaxConnections: 20}), pgtest.Shared(t)
	addresses := map[string]string{"SMALL": small.Database(t), "LARGE": large.Database(t), "NEVER": large.Database(t)}
	const text = `
population: {count: 2}
services:
  large: {kind: postgres, url: "secret:LARGE"}
  small: {kind: postgres, url: "secret:SMALL"}
  never: {kind: postgres, url: "secret:NEVER"}
chain c:
  step a: {kind: sql, service: small, query: "select 1"}
  step b: {kind: sql, service: large, query: "select 1"}
`
	for range 9 {
		conn := pgtest.Connect(t, addresses["SMALL"])
		defer func() { _ = conn.Close(t.Context()) }()
	}
	var launch Launch
	job := launched(t, text, func(l *Launch) {
		l.Secrets.Env = func(name string) string { return addresses[name] }
		launch = *l
	})
	if got := job.clients.Fullest(); got.Connections != clients.Unknown {
		t.Errorf("initially: got %+v", got)
	}
	job.clients.Count(t.Context())
	got := launch.assembly().probe(job).Connections()
	if got.Server < 10 || got.Server > 14 || got.Max != 20 || got.Own < 2 || got.Own > 6 {
		t.Errorf("%+v; want 10 to 14 of 20", got)
	}
	if n := job.pools[2].Open(); n != 0 {
		t.Errorf("%d connections to a server without statements", n)
	}
	small.Stop(t)
	if got := job.clients.Count(t.Context()); got.Max != 50 || got.Server < 1 {
		t.Errorf("without the small server: got %+v", got)
	}
	job.clients.Stop()
}

// TestRunOutlivesItsDatabase checks that sessions wait while the server of their statements is down, and that the result is
// exact.
func TestRunOutlivesItsDatabase(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	address := server.Database(t)
	restarted := make(chan struct{})
	const text = `
population: {count: 60}
services: {db: {kind: postgres, url: "secret:DB", limits: {connections: 4, burst: 0}}}
chain c:
  step a: {kind: sql, service: db, query: "select pg_sleep(0.05)"}
  step b: {kind: sql, service: db, query: "select 1"}
`
	job := launched(t, text, func(l *Launch) {
		l.Secrets.Env = func(string) string { return address }
		go func() {
			defer close(restarted)
			server.Stop(t)
			server.Start(t)
		}()
	})
	<-restarted
	if s := job.Run.Snapshot(); s.Outcomes[engine.OK] != 60 || s.Inexact != nil {
		t.Errorf("%v, %v", s.Outcomes, s.Inexact)
	}
}
