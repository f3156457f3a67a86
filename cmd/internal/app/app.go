package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/internal/crash"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Options say how a program runs scenarios. Only Data is required.
type Options struct {
	Data    string         // the data folder
	Program string         // name of the program in crash reports; "" keeps none
	Store   sqlite.Options // OnGone is set by [Open]
	Logger  *slog.Logger   // of what goes wrong with sending results; nil is the default logger

	Log       *slog.Logger // of runs; nil writes none
	Crashed   func(run engine.RunID, value any, stack []byte)
	Host      func() engine.HostMetrics
	Window    func() time.Duration
	OnRequest func(mock.Request)
	Witness   service.Witness
}

// App runs scenarios with the store of one data folder. The window, throngctl, throngbench and the proofs are built on it.
// Its methods are safe for concurrent use.
type App struct {
	options Options
	store   *sqlite.Store
	remote  *remote.Sender
	past    *Past
	box     *crash.Box
}

// Open opens the store of a data folder. Results go to no remote database until [App.SendTo] names one.
func Open(o Options) (*App, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.Store.OnGone = retention.Gone(o.Data, o.Logger)
	store, err := sqlite.Open(o.Data, o.Store)
	if err != nil {
		return nil, err
	}
	a := &App{options: o, store: store, remote: remote.New(store, o.Logger), past: NewPast(store)}
	if o.Program == "" {
		return a, nil
	}
	if a.box, err = crash.Open(o.Data, o.Program+" "+about.Version()); err != nil { // runs are worth more than the text of a crash
		o.Logger.Warn("crash reports are not kept", "error", err)
	}
	return a, nil
}

// Close ends sending and closes the store. No run may be in progress.
func (a *App) Close() error {
	return errors.Join(a.remote.Close(), a.store.Close(), a.box.Close())
}

// Store is the store of the data folder.
func (a *App) Store() *sqlite.Store { return a.store }

// Remote sends results to the remote database.
func (a *App) Remote() *remote.Sender { return a.remote }

// Past finds earlier runs, by which forecasts go.
func (a *App) Past() *Past { return a.past }

// Box keeps the text of a crash; nil if [Options.Program] is empty.
func (a *App) Box() *crash.Box { return a.box }

// SendTo sends results to a database from now on; the zero value sends nothing.
func (a *App) SendTo(db config.Database) error { return a.remote.Use(db) }

// Order is a new run as a person asks for it.
type Order struct {
	File       string            // path of a scenario, or the name of a built-in one
	Parameters map[string]string // of the scenario, as texts
	Settings   map[string]string // by name, as texts; these win over the environment, the file and saved settings
	Env        func(string) string
	Trusted    bool // the file is the person's own
	Allow      []string
}

// New reads the scenario of an order and resolves its settings. Its errors are mistakes of the person.
func (a *App) New(o Order) (Launch, error) {
	connectors, err := authoring.Connectors(a.options.Data)
	if err != nil {
		return Launch{}, err
	}
	s, err := authoring.LoadWith(o.File, scenario.Extras{Parameters: o.Parameters, Connectors: connectors})
	if err != nil {
		return Launch{}, err
	}
	settings, _, err := config.Resolve(a.options.Data, s, o.Settings, o.Env)
	config.Schedule(&settings, s)
	return Launch{Scenario: s, Settings: settings, Trusted: o.Trusted, Allow: o.Allow, Data: a.options.Data}, err
}

// ResumeOptions say what a resumed run has otherwise than before.
type ResumeOptions struct {
	Settings map[string]string // that change, by name, as texts
	Env      func(string) string
	Limit    int  // concurrency limit to start with; 0 is the one that was in force
	AsItWas  bool // keep the scenario stored with the run although its file has changed
	Trusted  bool
	Allow    []string
}

// Resume is the launch that resumes a run. A scenario file that has changed is a *ChangedError; note says what else a person
// should know of the file.
func (a *App) Resume(ctx context.Context, run engine.RunID, o ResumeOptions) (l Launch, note string, err error) {
	record, err := a.store.Run(ctx, run)
	if err != nil {
		return l, "", err
	}
	return Resumed(ctx, a.store, a.options.Data, &record, o)
}

// Resumed is [App.Resume] of a record that was read already.
func Resumed(ctx context.Context, store *sqlite.Store, data string, record *engine.RunRecord, o ResumeOptions) (l Launch, note string, err error) {
	if !o.AsItWas {
		if note, err = Drift(ctx, store, data, record); err != nil {
			return l, note, err
		}
	}
	s, err := scenario.Restore(record.Source)
	if err != nil {
		return l, note, fmt.Errorf("the scenario kept with run %s: %w", record.ID, err)
	}
	was := record.Settings
	if was.Limit = record.Limit; o.Limit > 0 {
		was.Limit, was.Ceiling = o.Limit, max(o.Limit, was.Ceiling)
	}
	settings, _, err := config.Layers{Flags: o.Settings, Env: o.Env, Run: &was}.Resolve()
	return Launch{Scenario: s, Settings: settings, Resume: record.ID, Trusted: o.Trusted, Allow: o.Allow, Data: data}, note, err
}

// ForkOptions say where a fork begins, and what it has otherwise than its parent.
type ForkOptions struct {
	Checkpoint int               // 0 is the newest that a cycle follows
	File       string            // scenario to continue with; "" is the one stored with the parent
	Parameters map[string]string // of the scenario; the others are the parent's
	Settings   map[string]string
	Env        func(string) string
	Trusted    bool
	Allow      []string
}

// Fork is the launch of a fork of a run.
func (a *App) Fork(ctx context.Context, run engine.RunID, o ForkOptions) (l Launch, err error) {
	parent, err := FindParent(ctx, a.store, a.options.Data, run, o.Checkpoint)
	if err != nil {
		return l, err
	}
	return parent.Launch(o)
}

// Launch is that of a fork of the parent.
func (p *Parent) Launch(o ForkOptions) (l Launch, err error) {
	s, err := p.Read(o.File, o.Parameters)
	if err != nil {
		return l, err
	}
	settings, err := p.Settings(s, maps.Clone(o.Settings), o.Env)
	if err != nil {
		return l, err
	}
	config.Schedule(&settings, s)
	return Launch{Scenario: s, Settings: settings, Fork: p, Trusted: o.Trusted, Allow: o.Allow, Data: p.data}, nil
}

// Start assembles the run of a launch and starts it. Mistakes in the launch are *engine.FieldError.
func (a *App) Start(ctx context.Context, l Launch) (*Job, error) {
	o := &a.options
	l.Store, l.Data, l.Remote, l.Past = a.store, o.Data, a.remote, a.past
	l.Crashed, l.Host, l.Window, l.OnRequest, l.Witness = o.Crashed, o.Host, o.Window, o.OnRequest, o.Witness
	if l.Log == nil {
		l.Log = o.Log
	}
	return l.Start(ctx)
}

// Calibrate measures throughput at several limits, in a store of its own.
func (a *App) Calibrate(ctx context.Context, s Sweep) (calibration.Record, error) {
	s.Launch.Data = a.options.Data
	return s.Run(ctx)
}

// Compare compares runs with the first of them, over the cycles that all have completed.
func (a *App) Compare(ctx context.Context, runs ...engine.RunID) (*review.Comparison, error) {
	return review.Compare(ctx, a.store, runs, 0, 0)
}

// Export writes what a run gave into a folder. A run whose results are elsewhere is a *engine.FieldError.
func (a *App) Export(ctx context.Context, run engine.RunID, dir string, format storage.Format) error {
	return review.Export(ctx, a.store, run, dir, format)
}
