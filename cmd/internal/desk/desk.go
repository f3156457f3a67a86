// Package desk serves the screens of the window from the store, the scenarios and the engine.
package desk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/crashes"
	"github.com/throng-sim/throng/cmd/internal/app/crew"
	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/internal/cmdline"
	"github.com/throng-sim/throng/cmd/internal/crash"
	"github.com/throng-sim/throng/cmd/internal/desk/design"
	"github.com/throng-sim/throng/cmd/internal/desk/experimenting"
	"github.com/throng-sim/throng/cmd/internal/desk/team"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/machine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/seconds"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/ui"
	"github.com/throng-sim/throng/ui/live"
)

// Desk serves one window: it is the base of the types that serve one screen each, and holds the methods that several screens
// share. Its methods are safe for concurrent use.
type Desk struct {
	work
	data      string
	app       *app.App
	store     *sqlite.Store // of app, like the fields below
	remote    *remote.Sender
	box       *crash.Box
	window    *flock.Flock // held while a window uses the data folder
	notes     notebook
	names     agentNames
	preflight app.Preflight // caches results of the preflight checks
	lab       *experimenting.Desk
	outlets   outlets
	team      *team.Team                // the workers
	exit      func(code int)            // exits after a panic
	host      func() engine.HostMetrics // samples the machine for calibrations; nil for this machine
	notice    string                    // a message about the last exit
	log       *trouble                  // nil if errors are not counted
	level     *slog.LevelVar            // of the log; nil if it cannot change
	telling   sync.WaitGroup            // notifications in progress
	hurried   <-chan struct{}           // hurry closes it, which stops waiting for notifications
	hurry     func()
	drew      atomic.Int64 // CPU time of the UI goroutine in nanoseconds
}

// claim locks a data folder for one window. The error is ErrInUse if another window uses it.
func claim(data string) (*Desk, error) {
	d := &Desk{data: data, window: flock.New(filepath.Join(data, "throng.window")), exit: os.Exit, work: work{settled: closedForGood}}
	hurried, hurry := context.WithCancel(context.Background())
	d.hurried, d.hurry = hurried.Done(), hurry
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, unusable(data, err)
	}
	if free, err := d.window.TryLock(); err != nil {
		return nil, unusable(data, err)
	} else if !free {
		return nil, fmt.Errorf("another Throng window uses %s: %w", data, engine.ErrInUse)
	}
	return d, nil
}

// open opens the store. updating, if set, receives the progress of the backup before an update of the store.
func (d *Desk) open(updating func(sqlite.Update)) error {
	var err error
	d.app, err = app.Open(app.Options{
		Data: d.data, Program: crashes.WindowName, Store: sqlite.Options{Updating: updating}, Crashed: d.crashed,
		Window: func() time.Duration { return time.Duration(d.drew.Load()) },
	})
	if err != nil {
		return err
	}
	d.store, d.remote, d.box = d.app.Store(), d.app.Remote(), d.app.Box()
	d.notice = strings.TrimSpace(d.store.Notice() + "\n" + d.openOutlets())
	d.notes.path = filepath.Join(d.data, "window.json")
	d.team = team.New(crew.Config{Data: d.data, Program: cmdline.Program(), Say: func(text string) { slog.Info(text) }, Log: slog.Default()})
	d.lab = experimenting.New(experimenting.Options{App: d.app})
	importDesk{d}.forget() // recordings of a process that died
	if err := d.reconnect(); err != nil {
		slog.Warn("cannot send results", "error", err)
	}
	return nil
}

func unusable(data string, err error) error {
	return fmt.Errorf("cannot use the data folder %s: %w; check its path and permissions, or choose another folder", data, err)
}

// reconnect sends results to the configured database from now on.
func (d *Desk) reconnect() error {
	db, err := config.FindDatabase(nil, os.Getenv, d.data)
	if err != nil {
		return err
	}
	d.preflight.Forget()
	return d.remote.Use(db)
}

// Screens returns the interfaces for the window.
func (d *Desk) Screens() ui.Desk {
	return ui.Desk{
		Setup: setupDesk{d}, Editor: editorDesk{d}, Live: liveDesk{d}, Runs: runsDesk{d}, Results: resultsDesk{d}, Study: studyDesk{d}, Compare: compareDesk{d}, Calibrate: calibrateDesk{d}, Settings: settingsDesk{d}, Import: importDesk{d}, Experiments: d.lab, Designer: &design.Desk{App: d.app, List: setupDesk{d}.forExperiments}, Store: d, Program: program{d}, Drew: d.drawn,
	}
}

// Notice implements [ui.Store], as do Interrupted, Stop and Settled.
func (d *Desk) Notice() string { return d.notice }

// Interrupted returns the newest run if it was interrupted.
func (d *Desk) Interrupted(ctx context.Context) (*engine.RunRecord, error) {
	r, err := d.store.Newest(ctx)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return nil, nil //nolint:nilnil // there is no run
	case err != nil:
		return nil, err
	case r.Ending != engine.NotEnded || r.InProgress || r.Queued != "" || r.Fetched != nil:
		return nil, nil //nolint:nilnil // it was not
	}
	return &r, nil
}

// drawn stores the CPU time of the UI goroutine, which calls it.
func (d *Desk) drawn() { d.drew.Store(int64(machine.ThreadTime())) }

// Close stops the run in progress, gracefully for some seconds, and closes everything.
func (d *Desk) Close() error {
	settled := d.close()
	importDesk{d}.forget()
	defer time.AfterFunc(toldTime, d.hurry).Stop() // the system wants the program to end
	<-settled
	d.lab.Close()
	d.telling.Wait()
	return errors.Join(d.team.Close(), d.outlets.close(), d.app.Close(), d.window.Close())
}

// toldTime is the maximum time for notifications and for sending results when the system ends the program.
const toldTime = 1500 * time.Millisecond

// notify sends notifications about a run to the web hook, if there is one.
func (d *Desk) notify(job *app.Job, title string) {
	failed := func(err error) { slog.Error("cannot send a notification", "error", err) }
	notify, err := config.FindNotify("", os.Getenv, d.data)
	if err != nil {
		failed(err)
		return
	}
	if watch := notify.WatchFor(job.Run, title, failed); watch != nil {
		d.telling.Go(func() { watch.Close(d.hurried) })
	}
}

// start builds a run and shows it as the one in progress. While another program has one in progress it waits, and calls waits with true
// and at the end with false; without waits, it returns an error.
func (d *Desk) start(ctx context.Context, l app.Launch, waits func(bool)) (err error) {
	settled, err := d.begin()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			d.end(settled)
		}
	}()
	l.Telemetry = d.elsewhere()
	if d.log != nil {
		l.Log = slog.New(d.log.runs)
	}
	// The run outlives the order. giveUp only cancels waiting for another process.
	alive, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	over := func() {}
	if l.Waiting = func(holder string) { giveUp(fmt.Errorf("%s; stop it there or wait for its end", holder)) }; waits != nil {
		l.Waiting, over = d.waiting(ctx, giveUp, waits)
	}
	l.Writing = d.writing(ctx, giveUp, l.Writing)
	began := time.Now()
	job, err := d.app.Start(alive, l)
	over()
	if err != nil {
		_, unwritten := errors.AsType[*app.UnwrittenError](err)
		if cause := context.Cause(alive); cause != nil && !unwritten {
			err = cause
		}
		giveUp(nil)
		return err
	}
	earlier, changes, err := d.history(ctx, job.Record.ID, began)
	if err != nil {
		slog.Warn("cannot load the history of the charts", "run", job.Record.ID, "error", err)
	}
	leave, stops := d.show(job, withAgents(&live.Job{
		Fleet: l.Crew, Acted: l.Scenario.Acted, Log: d.logOf(job.Record.ID), Run: job.Run, Graph: l.Scenario.Chain.Graph(), Title: job.Record.DisplayName(), Origin: job.Origin, Agents: job.Agents, Settings: l.Settings, History: earlier, Changes: changes, Remote: job.Target,
		Past: history.New(d.store, &job.Record, l.Scenario),
		Broadcast: func(ctx context.Context, ids []string, text string) error {
			return job.Broadcast(ctx, ids, text, "", "user")
		},
	}, job.AgentHistory(d.store)))
	crashes.Doing(d.box, job.Run, job.Record.DisplayName(), job.Agents)
	d.notify(job, job.Record.DisplayName())
	go func() {
		if err := job.Close(); err != nil {
			slog.Error("cannot write the end of the run; you can resume it", "run", job.Record.ID, "error", err)
		}
		dismiss(l.Crew)
		giveUp(nil)
		d.end(settled)
	}()
	if leave {
		_ = job.Run.Shutdown(engine.QuitReason)
	}
	_ = stop(job, stops) // the run may have ended
	return nil
}

// dismiss says that the workers of a run are no longer needed; nil if it had none.
func dismiss(workers app.Crew) {
	if hired, ok := workers.(*team.Hired); ok {
		if err := hired.Release(); err != nil {
			slog.Warn("cannot end the workers of a run", "error", err)
		}
	}
}

// historyRows is the maximum number of earlier rows for the charts.
const historyRows = 3600

// history reads the metrics of earlier processes, thinned out if there are many, and their changes. began is when this process started
// to execute the run; the zero time if it does not.
func (d *Desk) history(ctx context.Context, run engine.RunID, began time.Time) (rows []engine.MetricsRow, changes []engine.ChangeRow, err error) {
	every, n := 1, 0
	for m, err := range seconds.Shown(d.store.Metrics(ctx, run, time.Time{})) {
		if err != nil {
			return nil, nil, err
		}
		if n++; n%every != 0 {
			continue
		}
		if rows = append(rows, *m); len(rows) == 2*historyRows {
			for i := range historyRows {
				rows[i] = rows[2*i+1]
			}
			rows, every = rows[:historyRows], 2*every
		}
	}
	c, err := history.Outline(ctx, d.store, run)
	if err != nil {
		return nil, nil, err
	}
	return rows, view.WithRestarts(c, began), nil
}

// restore reads the scenario that is stored with a run.
func restore(r *engine.RunRecord) (*scenario.Scenario, error) {
	s, err := scenario.Restore(r.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario stored with run %s: %w", r.ID, err)
	}
	return s, nil
}
