package app_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// harbour is a town with a population that a model writes.
const harbour = `title: Harbour
parameters: {count: 12, town: Arnis}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 2}
population:
  count: ${params.count}
  id: persona-${agent.index + 1}
  write:
    service: model
    system: You invent people.
    prompt: "Invent a person who lives in ${params.town}, number ${index + 1}, ${pick(['calm', 'wild', 'shy'])}."
    answer: {name: string, age: int, traits: list, "nickname?": string, home: {street: string}}
  attributes: {old: "${agent.age > 40}", luck: "${uniform(0, 1)}"}
services:
  model: {kind: llm, url: "mock:model"}
chain meet:
  step tell: {kind: emit, event: met, data: "${[agent.name, agent.age, agent.old, agent.luck, agent.traits, agent.home.street]}"}
`

// town is a store to launch scenarios in.
type town struct {
	t        *testing.T
	data     string
	store    *sqlite.Store
	requests atomic.Int64
}

func newTown(t *testing.T) *town {
	d := &town{t: t, data: t.TempDir()}
	var err error
	d.store, err = sqlite.Open(d.data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		app.AuditAll(d.t, d.store)
		if err := d.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// read reads a scenario from its text, with another file in the same folder.
func (d *town) read(text string, given map[string]string) *scenario.Scenario {
	d.t.Helper()
	path := filepath.Join(d.t.TempDir(), "harbour.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	s, err := scenario.Load(path, given)
	if err != nil {
		var b strings.Builder
		if mistakes, ok := errors.AsType[*scenario.Mistakes](err); ok {
			_ = mistakes.Print(&b)
		}
		d.t.Fatal(err, b.String())
	}
	return s
}

func (d *town) launch(s *scenario.Scenario, change func(*app.Launch)) (*app.Job, error) {
	return d.launchIn(d.t.Context(), s, change)
}

func (d *town) launchIn(ctx context.Context, s *scenario.Scenario, change func(*app.Launch)) (*app.Job, error) {
	settings := engine.DefaultSettings()
	settings.Cycles, settings.Metrics, settings.Mock.Profile = s.Cycles, false, "none"
	settings.Retry.Wait, settings.Retry.Max = 1, 1
	l := app.Launch{Services: app.Services{Data: d.data, Scenario: s, Settings: settings, OnRequest: func(mock.Request) { d.requests.Add(1) }}, Store: d.store, Trusted: true}
	if change != nil {
		change(&l)
	}
	return l.Start(ctx)
}

// run runs a scenario to its end. It returns the exported files and the number of requests.
func (d *town) run(s *scenario.Scenario, change func(*app.Launch)) (files map[string]string, asked int64, job *app.Job) {
	d.t.Helper()
	before := d.requests.Load()
	job, err := d.launch(s, change)
	if err != nil {
		d.t.Fatal(err)
	}
	if r := job.Run.Wait(); r.Ending != engine.EndFinished {
		d.t.Fatalf("%s: %s", r.Ending, r.Reason)
	}
	if err := job.Close(); err != nil {
		d.t.Fatal(err)
	}
	asked = d.requests.Load() - before
	names, err := review.Names(d.t.Context(), d.store, job.Record.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	dir := d.t.TempDir()
	if err := storage.ExportAll(d.t.Context(), dir, d.store, job.Record.ID, names, "test"); err != nil {
		d.t.Fatal(err)
	}
	files = map[string]string{}
	for _, name := range []string{"sessions.csv", "events.csv", scenario.PersonasName} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && (name != scenario.PersonasName || s.Written()) {
			d.t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files, asked, job
}

// same compares the results of two runs.
func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs\n got %s\nwant %s", what, name, got[name], want[name])
		}
	}
}
