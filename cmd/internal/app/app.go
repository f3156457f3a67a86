package app

import (
	"context"
	"errors"
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

// Options configure an App. Only Data is required.
type Options struct {
	Data    string         // the data folder
	Program string         // name of the program in crash reports; "" disables them
	Store   sqlite.Options // OnGone is set by [Open]
	Logger  *slog.Logger   // logs failures to send results; nil is the default logger

	Log       *slog.Logger // logs the events of runs; nil logs nothing
	Crashed   func(run engine.RunID, value any, stack []byte)
	Host      func() engine.HostMetrics
	Window    func() time.Duration
	OnRequest func(mock.Request)
	Witness   service.Witness
}

// App runs scenarios with the store of one data folder. The window, throngctl, throngbench and `throngctl prove` use it.
// Its methods are safe for concurrent use.
type App struct {
	options Options
	store   *sqlite.Store
	remote  *remote.Sender
	earlier *EarlierRuns
	box     *crash.Box
}

// Open opens the store of a data folder. Results stay in the store until [App.SendTo] names a remote database.
func Open(o Options) (*App, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.Store.OnGone = retention.Gone(o.Data, o.Logger)
	store, err := sqlite.Open(o.Data, o.Store)
	if err != nil {
		return nil, err
	}
	a := &App{options: o, store: store, remote: remote.New(store, o.Logger), earlier: NewEarlierRuns(store)}
	if o.Program == "" {
		return a, nil
	}
	if a.box, err = crash.Open(o.Data, o.Program+" "+about.Version()); err != nil { // runs matter more than crash reports
		o.Logger.Warn("crash reports are not kept", "error", err)
	}
	return a, nil
}

// Close stops sending and closes the store. No run may be in progress.
func (a *App) Close() error {
	return errors.Join(a.remote.Close(), a.store.Close(), a.box.Close())
}

// Store returns the store of the data folder.
func (a *App) Store() *sqlite.Store { return a.store }

// Remote returns the sender of results to the remote database.
func (a *App) Remote() *remote.Sender { return a.remote }

// EarlierRuns returns the earlier runs that forecasts are based on.
func (a *App) EarlierRuns() *EarlierRuns { return a.earlier }

// Box returns the crash reporter; nil if [Options.Program] is empty.
func (a *App) Box() *crash.Box { return a.box }

// SendTo changes the database that results are sent to; the zero value sends nothing.
func (a *App) SendTo(db config.Database) error { return a.remote.Use(db) }

// Order describes a run as the user asks for it.
type Order struct {
	File       string            // path of a scenario, or the name of a built-in one
	Parameters map[string]string // of the scenario, as texts
	Settings   map[string]string // texts by name; they take precedence over the environment, the file and saved settings
	Env        func(string) string
	Trusted    bool     // the file is the user's own
	Allow      []string // addresses that the user allows
}

// New reads the scenario of an order and resolves its settings. Its errors are mistakes of the user.
func (a *App) New(o Order) (Launch, error) {
	s, err := authoring.Open(a.options.Data, o.File, o.Parameters)
	if err != nil {
		return Launch{}, err
	}
	settings, _, err := config.Resolve(a.options.Data, s, o.Settings, o.Env)
	config.Schedule(&settings, s)
	return Launch{Services: Services{Scenario: s, Settings: settings, Data: a.options.Data}, Trusted: o.Trusted, Allow: o.Allow}, err
}

// ResumeOptions say what changes when a run is resumed.
type ResumeOptions struct {
	Settings map[string]string // changed settings: texts by name
	Env      func(string) string
	Limit    int  // concurrency limit at the start; 0 keeps the limit that was in force
	AsItWas  bool // keep the scenario stored with the run, even if its file has changed
	Trusted  bool
	Allow    []string
}

// Resume returns the launch that resumes a run. If the scenario file has changed, the error is a *ChangedError. note is a
// remark about the file for the user; "" if there is none.
func (a *App) Resume(ctx context.Context, run engine.RunID, o ResumeOptions) (l Launch, note string, err error) {
	record, err := a.store.Run(ctx, run)
	if err != nil {
		return l, "", err
	}
	return Resumed(ctx, a.store, a.options.Data, &record, o)
}

// Resumed is [App.Resume] with a record that the caller has read.
func Resumed(ctx context.Context, store *sqlite.Store, data string, record *engine.RunRecord, o ResumeOptions) (l Launch, note string, err error) {
	if !o.AsItWas {
		if note, err = checkScenarioFile(ctx, store, data, record); err != nil {
			return l, note, err
		}
	}
	s, err := scenario.Restore(record.Source)
	if err != nil {
		return l, note, storedScenarioError(record.ID, err)
	}
	was := record.Settings
	if was.Limit = record.Limit; o.Limit > 0 {
		was.Limit, was.Ceiling = o.Limit, max(o.Limit, was.Ceiling)
	}
	settings, _, err := config.Layers{Flags: o.Settings, Env: o.Env, Run: &was}.Resolve()
	return Launch{Services: Services{Scenario: s, Settings: settings, Data: data}, Resume: record.ID, Trusted: o.Trusted, Allow: o.Allow}, note, err
}

// Fork returns the launch of a fork of a run; see [Parent.Launch]. Checkpoint 0 is the newest one that a cycle follows.
func (a *App) Fork(ctx context.Context, run engine.RunID, checkpoint int, changes Order) (l Launch, err error) {
	parent, err := FindParent(ctx, a.store, a.options.Data, run, checkpoint)
	if err != nil {
		return l, err
	}
	return parent.Launch(changes)
}

// Launch returns the launch of a fork of the parent. Parameters and settings that o does not name are the parent's; without
// a file, so is the scenario.
func (p *Parent) Launch(o Order) (Launch, error) {
	s, err := p.Read(o.File, o.Parameters)
	if err != nil {
		return Launch{}, err
	}
	return p.With(s, o)
}

// With resolves the settings of a fork that executes a scenario. Its errors are mistakes of the user.
func (p *Parent) With(s *scenario.Scenario, o Order) (Launch, error) {
	settings, err := p.Settings(s, maps.Clone(o.Settings), o.Env)
	if err != nil {
		return Launch{}, err
	}
	config.Schedule(&settings, s)
	return Launch{Services: Services{Scenario: s, Settings: settings, Data: p.data}, Fork: p, Trusted: o.Trusted, Allow: o.Allow}, nil
}

// Start assembles the run of a launch and starts it. Mistakes in the launch are *engine.FieldError values.
func (a *App) Start(ctx context.Context, l Launch) (*Job, error) {
	o := &a.options
	l.Store, l.Data, l.Remote, l.EarlierRuns = a.store, o.Data, a.remote, a.earlier
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

// Compare compares runs with the first one, over the cycles that all of them have completed.
func (a *App) Compare(ctx context.Context, runs ...engine.RunID) (*review.Comparison, error) {
	return review.Compare(ctx, a.store, review.Single(runs...), 0, 0)
}

// Export writes the results of a run to a folder. If they are not in this store, the error is a *engine.FieldError.
func (a *App) Export(ctx context.Context, run engine.RunID, dir string, format storage.Format) error {
	return review.Export(ctx, a.store, run, dir, format)
}
