// Package desk is what the screens of the window ask for, answered by the store, the scenarios and the engine.
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
	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/internal/crash"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/ui"
	"github.com/throng-sim/throng/ui/live"
)

// Desk serves one window. Its methods are safe for concurrent use.
type Desk struct {
	data   string
	app    *app.App
	store  *sqlite.Store // of app, as are those below
	remote *remote.Sender
	past   *app.EarlierRuns
	window *flock.Flock // held while a window works with the folder
	notes  notebook
	// preflight remembers what servers answered to the checks before a launch.
	preflight app.Preflight
	box       *crash.Box
	outlets   outlets
	exit      func(code int)  // after a panic
	notice    string          // what a person should know of the last time
	log       *trouble        // nil: nobody counts
	level     *slog.LevelVar  // of the log; nil where nobody can change it
	telling   sync.WaitGroup  // web hooks that are told of runs
	hurried   <-chan struct{} // closed by hurry, when nobody waits any longer until the last is told
	hurry     func()
	drew      atomic.Int64 // CPU time of the window's goroutine so far, in nanoseconds

	mu      sync.Mutex
	closed  bool
	busy    bool        // a run is being started, is in progress or being taken apart
	giveUp  func(error) // ends the writing of the population of a run that is being started; nil while there is none
	stops   int         // how often a run was told to stop while it was only being started
	job     *app.Job    // nil while none is in progress
	shown   *live.Job   // the newest that was in progress
	sweep   sweep       // the newest
	called  called
	settled chan struct{}
}

// Open opens the store in a data folder. ErrInUse if another window has it.
func Open(data string) (*Desk, error) {
	d, err := claim(data)
	if err != nil {
		return nil, err
	}
	if err := d.open(nil); err != nil {
		return nil, errors.Join(err, d.window.Close())
	}
	return d, nil
}

// claim takes a data folder for one window. ErrInUse if another has it.
func claim(data string) (*Desk, error) {
	d := &Desk{data: data, window: flock.New(filepath.Join(data, "throng.window")), settled: make(chan struct{}), exit: os.Exit}
	close(d.settled)
	hurried, hurry := context.WithCancel(context.Background())
	d.hurried, d.hurry = hurried.Done(), hurry
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, unusable(data, err)
	}
	if free, err := d.window.TryLock(); err != nil {
		return nil, unusable(data, err)
	} else if !free {
		return nil, fmt.Errorf("another window of Throng works with %s: %w", data, engine.ErrInUse)
	}
	return d, nil
}

// open opens the store. updating, if set, is told how far a backup is that is made before it is brought up to date.
func (d *Desk) open(updating func(sqlite.Update)) error {
	var err error
	d.app, err = app.Open(app.Options{
		Data: d.data, Program: crashes.WindowName, Store: sqlite.Options{Updating: updating}, Crashed: d.crashed,
		Window: func() time.Duration { return time.Duration(d.drew.Load()) },
	})
	if err != nil {
		return err
	}
	d.store, d.remote, d.past, d.box = d.app.Store(), d.app.Remote(), d.app.EarlierRuns(), d.app.Box()
	d.notice = strings.TrimSpace(d.store.Notice() + "\n" + d.openOutlets())
	d.notes.path = filepath.Join(d.data, "window.json")
	if err := d.reconnect(); err != nil {
		slog.Warn("results are not sent", "error", err)
	}
	return nil
}

func unusable(data string, err error) error {
	return fmt.Errorf("the data folder %s cannot be used: %w; check its path and permissions, or choose another", data, err)
}

// reconnect sends results to the database that is configured now.
func (d *Desk) reconnect() error {
	db, err := config.FindDatabase(nil, os.Getenv, d.data)
	if err != nil {
		return err
	}
	d.preflight.Forget()
	return d.remote.Use(db)
}

// Screens returns the desk as the window knows it.
func (d *Desk) Screens() ui.Desk {
	return ui.Desk{Setup: setupDesk{d}, Editor: editorDesk{d}, Live: liveDesk{d}, Runs: runsDesk{d}, Results: resultsDesk{d}, Compare: compareDesk{d}, Calibrate: calibrateDesk{d}, Settings: settingsDesk{d}, Store: d, Program: program{d}, Drew: d.drawn}
}

// Notice is part of [ui.Store], as are Interrupted, Stop and Settled.
func (d *Desk) Notice() string { return d.notice }

// Interrupted returns the newest run if it was interrupted.
func (d *Desk) Interrupted(ctx context.Context) (*engine.RunRecord, error) {
	r, err := d.store.Newest(ctx)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return nil, nil //nolint:nilnil // there is no run
	case err != nil:
		return nil, err
	case r.Ending != engine.NotEnded || r.InProgress || r.Fetched != nil:
		return nil, nil //nolint:nilnil // it was not
	}
	return &r, nil
}

// drawn hears what the window's goroutine has used of CPU time so far.
func (d *Desk) drawn(used time.Duration) { d.drew.Store(int64(used)) }

// Settled is closed when the run in progress has ended and is taken apart.
func (d *Desk) Settled() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.settled
}

// Stop has the run in progress end, and one that is only being started as soon as it has begun. Sessions in flight end
// first, unless they are cut.
func (d *Desk) Stop(cut bool) error {
	times := 1
	if cut {
		times = 2
	}
	d.mu.Lock()
	job := d.job
	if job == nil && d.busy {
		d.stops = times
	}
	giveUp := d.giveUp
	d.sweep.stop(errStopped)
	d.mu.Unlock()
	if giveUp != nil {
		giveUp(errStopped)
	}
	if job == nil {
		return nil
	}
	if job.Run.Snapshot().Phase == engine.Draining { // it was stopped before
		times--
	}
	return stop(job, times)
}

// stop has a person stop a run; the second time cuts what is in flight.
func stop(job *app.Job, times int) error {
	for range times {
		if err := job.Run.Stop("user", "the window was closed"); err != nil {
			return err
		}
	}
	return nil
}

// Close stops the run in progress, gracefully for some seconds, and closes everything.
func (d *Desk) Close() error {
	d.mu.Lock()
	d.closed = true
	job, settled, giveUp := d.job, d.settled, d.giveUp
	d.sweep.stop(errStopped)
	d.mu.Unlock()
	if giveUp != nil {
		giveUp(errStopped)
	}
	if job != nil {
		_ = job.Run.Leave(engine.QuitReason) // that it has ended is no trouble
		<-job.Run.Done()
	}
	defer time.AfterFunc(toldTime, d.hurry).Stop() // the system wants the program to end
	<-settled
	d.telling.Wait()
	return errors.Join(d.outlets.close(), d.app.Close(), d.window.Close())
}

// toldTime is how long closing waits until the end of a run is told, and what is left is sent, that it has stopped itself.
const toldTime = 1500 * time.Millisecond

// tell has a web hook told of a run, if there is one.
func (d *Desk) tell(job *app.Job, title string) {
	failed := func(err error) { slog.Error("a notice was not sent", "error", err) }
	notify, err := config.FindNotify("", os.Getenv, d.data)
	if err != nil {
		failed(err)
		return
	}
	if watch := notify.WatchFor(job.Run, title, failed); watch != nil {
		d.telling.Go(func() { watch.Close(d.hurried) })
	}
}

var errBusy = errors.New("a run or a calibration is in progress in this window: stop it first, or wait for its end")

// start builds a run and shows it as the one in progress.
func (d *Desk) start(ctx context.Context, l app.Launch) (err error) {
	settled, err := d.occupy()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			d.vacate(settled)
		}
	}()
	l.Telemetry = d.elsewhere()
	if d.log != nil {
		l.Log = slog.New(d.log.runs)
	}
	// The run lives on when the order is over; only standing in line behind another process ends with giveUp.
	alive, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	l.Waiting = func(holder string) { giveUp(fmt.Errorf("%s; wait for its end, or stop it there", holder)) }
	l.Writing = d.writing(ctx, giveUp, l.Writing)
	job, err := d.app.Start(alive, l)
	if err != nil {
		_, unwritten := errors.AsType[*app.UnwrittenError](err)
		if cause := context.Cause(alive); cause != nil && !unwritten {
			err = cause
		}
		giveUp(nil)
		return err
	}
	earlier, err := d.history(ctx, job.Record.ID)
	if err != nil {
		slog.Warn("the charts begin with this process", "run", job.Record.ID, "error", err)
	}
	d.mu.Lock()
	d.job = job
	d.shown = withPeople(&live.Job{
		Run: job.Run, Graph: l.Scenario.Chain.Graph(), Title: l.Scenario.Title, Agents: job.Agents, Settings: l.Settings, History: earlier, Remote: job.Target,
		Past: history.New(d.store, &job.Record, l.Scenario),
		Tell: func(ctx context.Context, ids []string, text string) error {
			return job.Broadcast(ctx, ids, text, "", "user")
		},
	}, job.AgentHistory(d.store))
	closed, stops := d.closed, d.stops // meanwhile
	d.mu.Unlock()
	crashes.Doing(d.box, job.Run, l.Scenario.Title, job.Agents)
	d.tell(job, l.Scenario.Title)
	go func() {
		if err := job.Close(); err != nil {
			slog.Error("the run was not written to its end; it can be resumed", "run", job.Record.ID, "error", err)
		}
		giveUp(nil)
		d.vacate(settled)
	}()
	if closed {
		_ = job.Run.Leave(engine.QuitReason)
	}
	_ = stop(job, stops) // that it has ended is no trouble
	return nil
}

var errStopped = errors.New("the window is being closed")

// writing tells how far the writing of a population is. Until it is done, the end of ctx gives it up, as does whoever
// stops the desk.
func (d *Desk) writing(ctx context.Context, giveUp func(error), tell func(done, total int)) func(done, total int) {
	finished := func() bool { return true }
	return func(done, total int) {
		d.mu.Lock()
		begins := d.giveUp == nil && done < total
		stopped := d.closed || d.stops > 0
		if d.giveUp = giveUp; done == total {
			d.giveUp = nil
		}
		d.mu.Unlock()
		switch {
		case begins:
			finished = context.AfterFunc(ctx, func() { giveUp(context.Cause(ctx)) })
		case done == total:
			finished()
		}
		if stopped && done < total {
			giveUp(errStopped)
		}
		if tell != nil {
			tell(done, total)
		}
	}
}

// occupy makes sure that one run is in progress at a time. Whoever gets a channel vacates with it.
func (d *Desk) occupy() (settled chan struct{}, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errStopped
	}
	if d.busy {
		return nil, errBusy
	}
	d.busy, d.stops, d.settled = true, 0, make(chan struct{})
	return d.settled, nil
}

func (d *Desk) vacate(settled chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy, d.job, d.giveUp = false, nil, nil
	close(settled)
}

// historyRows is how many rows of a run's past the charts are given at most.
const historyRows = 3600

// history reads the figures that earlier processes left, thinned out if they are many.
func (d *Desk) history(ctx context.Context, run engine.RunID) ([]engine.MetricsRow, error) {
	var rows []engine.MetricsRow
	every, n := 1, 0
	for m, err := range d.store.Metrics(ctx, run, time.Time{}) {
		if err != nil {
			return nil, err
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
	return rows, nil
}

// restore reads the scenario that was kept with a run.
func restore(r *engine.RunRecord) (*scenario.Scenario, error) {
	s, err := scenario.Restore(r.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario kept with run %s: %w", r.ID, err)
	}
	return s, nil
}
