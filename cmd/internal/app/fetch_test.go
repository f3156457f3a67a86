package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/storage/sqlite"
)

// village is a scenario with memory, messages, shared answers and orders.
const village = `
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 9}
population: {count: 12, id: "villager-${agent.index}"}
services:
  shop: {kind: http, url: "mock:shop", auth: {user: "${agent.id}"}, headers: {X-Shopping-Session-Id: "${session.uuid}"}}
  model: {kind: llm, url: "mock:model", model: [mock-1], limits: {rate: 1000, max_rate: 1000}}
chain day:
  step ask: {kind: llm, service: model, cache: {hour: now.hour // 4}, prompt: "What is the weather at ${hour}?", answer: {weather: string}}
  step enter: {kind: http, service: shop, post: /api/shopping/session, json: {}}
  step browse: {kind: http, service: shop, get: /api/products/search, query: {query: "milk", limit: 3}}
  step add: {kind: http, service: shop, when: chance(0.5), post: /api/cart/items, json: {product_id: "${steps.browse.products[0].id}", quantity: 1}}
  step order: {kind: http, service: shop, when: chance(0.5) and agent.memory.bought, post: /api/orders, on_error: continue}
  step told: {kind: emit, event: told, data: {weather: "${steps.ask.weather}", status: "${steps.order.status}", heard: "${[m.text for m in agent.inbox]}", days: "${len(agent.notes)}"}}
  step talk: {kind: say, when: chance(0.3), to: all, text: "${agent.id} at ${now.hour}"}
  step bought: {kind: remember, set: {bought: "${bool(steps.add)}"}, note: "day ${session.cycle}"}
`

// place is a machine: a data folder with its store.
type place struct {
	t     *testing.T
	data  string
	store *sqlite.Store
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, data: t.TempDir()}
	p.open()
	t.Cleanup(func() { p.close() })
	return p
}

func (p *place) open() {
	p.t.Helper()
	var err error
	if p.store, err = sqlite.Open(p.data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) close() {
	p.t.Helper()
	if err := p.store.Close(); err != nil {
		p.t.Error(err)
	}
}

// launch returns a launch of the village, with a setting that may contain a secret.
func (p *place) launch() Launch {
	p.t.Helper()
	file := filepath.Join(p.data, "village.yaml")
	if err := os.WriteFile(file, []byte(village), 0o600); err != nil {
		p.t.Fatal(err)
	}
	s, err := authoring.Load(file, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	l := Launch{Services: Services{Data: p.data, Scenario: s, Settings: engine.DefaultSettings()}, Store: p.store}
	l.Settings.Seed, l.Settings.Cycles, l.Settings.Metrics = 11, s.Cycles, false
	l.Settings.Mock.Profile = "none"
	return l
}

// finish runs a launch to its end.
func (p *place) finish(l Launch) engine.RunID {
	p.t.Helper()
	job, err := l.Start(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	if err := job.Close(); err != nil {
		p.t.Fatal(err)
	}
	return job.Record.ID
}

// half runs until some sessions have ended, takes checkpoints, and stops.
func (p *place) half(l Launch) engine.RunID {
	p.t.Helper()
	var ended atomic.Int64
	marks := make(chan struct{}, 100)
	l.Watch = func(*chain.Report) {
		if n := ended.Add(1); n%16 == 0 {
			marks <- struct{}{}
		}
	}
	job, err := l.Start(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	for i := range 4 {
		<-marks
		if err := job.Run.Checkpoint(p.t.Context(), fmt.Sprint("by hand ", i)); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := errors.Join(job.Run.Stop("test", ""), job.Close()); err != nil {
		p.t.Fatal(err)
	}
	return job.Record.ID
}

// results returns sessions.csv and events.csv from a cycle on.
func (p *place) results(run engine.RunID, from int) string {
	p.t.Helper()
	names, err := review.Names(p.t.Context(), p.store, run)
	if err != nil {
		p.t.Fatal(err)
	}
	var out, kept strings.Builder
	if err := errors.Join(storage.ExportSessions(p.t.Context(), &out, p.store, run, names), storage.ExportEmitted(p.t.Context(), &out, p.store, run, names)); err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		cycle := 0
		if _, err := fmt.Sscanf(line, "%d,", &cycle); err == nil && cycle >= from {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func (p *place) fetch(ctx context.Context, db config.Database, run engine.RunID, number int) (engine.CheckpointRecord, error) {
	_, c, err := remote.Fetch{Store: p.store, Data: p.data, Database: db, Run: run, Number: number}.Do(ctx)
	return c, err
}

// fork runs a fork of a fetched checkpoint to its end.
func (p *place) fork(run engine.RunID, checkpoint int) engine.RunID {
	p.t.Helper()
	parent, err := FindParent(p.t.Context(), p.store, p.data, run, checkpoint)
	if err != nil {
		p.t.Fatal(err)
	}
	l := p.launch()
	l.Fork, l.Settings.Limit = parent, 3
	return p.finish(l)
}

// TestForkOnAnotherMachine runs half a scenario on one machine and forks its checkpoints on another. The results must equal
// those of an undisturbed run.
func TestForkOnAnotherMachine(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	address := server.Database(t)
	undisturbed, here, there := newPlace(t), newPlace(t), newPlace(t)
	whole := undisturbed.finish(undisturbed.launch())

	db := config.Database{URL: address}
	l := here.launch()
	l.Settings.KeepCheckpoints, l.Settings.Services = 3, map[string]string{"model": "mock:model"}
	l.Settings.Remote, l.Remote = true, remote.New(here.store, slog.New(slog.DiscardHandler))
	if err := l.Remote.Use(db); err != nil {
		t.Fatal(err)
	}
	run := here.half(l)
	if err := errors.Join(l.Remote.Drain(t.Context(), run), l.Remote.Close()); err != nil {
		t.Fatal(err)
	}

	// A user with read access can fetch.
	reader := server.Role(t)
	name := address[strings.LastIndexByte(address, '/')+1:]
	server.Exec(t, name, "GRANT USAGE ON SCHEMA throng TO "+reader, "GRANT SELECT ON ALL TABLES IN SCHEMA throng TO "+reader)
	db = config.Database{URL: server.URL(reader, name)}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	listed, all, err := remote.Checkpoints(t.Context(), db, run[:12])
	if err != nil || listed.Machine != host || listed.ID != run || len(all) != 3 {
		t.Fatalf("%+v, checkpoints %+v: %v", listed, all, err)
	}
	kept, err := here.store.Checkpoints(t.Context(), run)
	for i := range kept {
		kept[i].Took = kept[i].Took.Truncate(time.Microsecond) // the precision of the database
	}
	if err != nil || fmt.Sprint(kept) != fmt.Sprint(all) {
		t.Errorf("the database lists\n%v, this machine has\n%v: %v", all, kept, err)
	}
	if _, err := there.fetch(t.Context(), db, run, 1); err == nil || !strings.Contains(err.Error(), "checkpoint: 1 of run") {
		t.Errorf("a pruned checkpoint: %v", err)
	}
	for _, c := range all { // the newest, then the older ones
		got, err := there.fetch(t.Context(), db, run, c.Number)
		if err != nil || got.Cycle != c.Cycle {
			t.Fatalf("checkpoint %d: %+v %v", c.Number, got, err)
		}
		sameContents(t, here.store, there.store, run, c.Number)
		if c.Cycle == 0 {
			t.Fatal("a checkpoint at cycle 0 proves nothing")
		}
		if got, want := there.results(there.fork(run, c.Number), c.Cycle), undisturbed.results(whole, c.Cycle); got != want {
			t.Errorf("from cycle %d on, the fork has\n%s\nwant\n%s", c.Cycle, got, want)
		}
	}
	if text := undisturbed.results(whole, 0); !strings.Contains(text, "201") || !strings.Contains(text, "villager-3 at") {
		t.Fatalf("no orders or messages:\n%s", text)
	}
	refusesFetched(t, there, db, run)
}

// sameContents compares what a checkpoint restores in two stores.
func sameContents(t *testing.T, a, b *sqlite.Store, run engine.RunID, number int) {
	t.Helper()
	_, state1, memory1, err1 := a.Checkpoint(t.Context(), run, number)
	_, state2, memory2, err2 := b.Checkpoint(t.Context(), run, number)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(state1, state2) || !reflect.DeepEqual(memory1, memory2) || len(memory1) != 12 {
		t.Errorf("checkpoint %d of %d and %d agents is not the same", number, len(memory1), len(memory2))
	}
}

// refusesFetched tries operations that fetched runs do not support.
func refusesFetched(t *testing.T, p *place, db config.Database, run engine.RunID) {
	t.Helper()
	record, err := p.store.Run(t.Context(), run)
	if err != nil || record.Fetched == nil || record.Fetched.Database != db.Target() || record.State() != "stopped" || record.Done == 0 {
		t.Fatalf("%+v %v", record, err)
	}
	l := p.launch()
	l.Resume = run
	if _, err := l.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "throngctl fork "+string(run)) {
		t.Errorf("resume: %v", err)
	}
	r := remote.New(p.store, slog.New(slog.DiscardHandler))
	err = r.Use(db)
	if sent := r.Send(t.Context(), run); err != nil || sent == nil || !strings.Contains(sent.Error(), "not in this store") {
		t.Errorf("%v; push: %v", err, sent)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := retention.Delete(t.Context(), p.store, p.data, run); err != nil {
		t.Error(err)
	}
	if _, err := p.store.Run(t.Context(), run); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("the run was deleted: %v", err)
	}
}
