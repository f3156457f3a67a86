// Package experimenting serves the screen Experiments of the window.
package experimenting

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/scenario"
	screen "github.com/throng-sim/throng/ui/experiments"
)

// Options are what the desk needs of the window.
type Options struct {
	App *app.App
	// Look says when to look for what other processes changed; nil looks once a second.
	Look <-chan time.Time
}

// Desk serves the screen. It is safe for concurrent use.
type Desk struct {
	options Options
	data    string
	changes atomic.Uint64
	stop    context.CancelFunc
	working sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	opened   map[string]*experiments.Experiment // by file, like the others
	broken   map[string]string                  // why a file cannot be read
	problems map[string]string                  // why an execution ended early
	running  map[string]*execution
}

var _ screen.Desk = (*Desk)(nil)

// lookInterval is how often the desk looks for what other processes changed.
const lookInterval = time.Second

// New returns a desk. Close it before the app.
func New(o Options) *Desk {
	ctx, stop := context.WithCancel(context.Background())
	d := &Desk{
		options: o, data: o.App.Store().Dir(), stop: stop,
		opened: map[string]*experiments.Experiment{}, broken: map[string]string{}, problems: map[string]string{}, running: map[string]*execution{},
	}
	d.working.Go(func() { d.watch(ctx) })
	return d
}

// Close stops the experiments in progress, which can be continued, and waits for their end.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	var all []*execution
	for _, e := range d.running {
		e.stops++
		all = append(all, e)
	}
	d.mu.Unlock()
	for _, e := range all {
		e.end(true, engine.QuitReason)
	}
	d.stop()
	d.working.Wait()
}

// watch counts changes by other processes.
func (d *Desk) watch(ctx context.Context) {
	look := d.options.Look
	if look == nil {
		tick := time.NewTicker(lookInterval)
		defer tick.Stop()
		look = tick.C
	}
	was := fingerprint(d.data)
	for {
		select {
		case <-ctx.Done():
			return
		case <-look:
		}
		if now := fingerprint(d.data); now != was {
			was = now
			d.changed()
		}
	}
}

// fingerprint changes with the state of each experiment and with its file.
func fingerprint(data string) string {
	all, _ := steering.List(data) // List reports problems
	var b strings.Builder
	for i := range all {
		e := &all[i]
		fmt.Fprintln(&b, e.File, e.Title, e.State, e.Progress, e.Paused != nil, e.Skipped, e.First)
		if info, err := os.Stat(e.File); err == nil {
			fmt.Fprintln(&b, info.Size(), info.ModTime())
		}
	}
	return b.String()
}

func (d *Desk) changed() { d.changes.Add(1) }

// Changed returns a number that increases with each change of an experiment.
func (d *Desk) Changed() uint64 { return d.changes.Load() }

// List returns the experiments that were opened with the data folder, newest first.
func (d *Desk) List(context.Context) ([]screen.Entry, error) {
	all, problem := steering.List(d.data)
	if problem != nil {
		slog.Warn("cannot read the orders for experiments", "error", problem)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	entries := make([]screen.Entry, 0, len(all))
	for i := range all {
		entries = append(entries, d.entry(&all[i]))
	}
	return entries, nil
}

// entry describes an experiment. The caller has the lock.
func (d *Desk) entry(e *steering.Entry) screen.Entry {
	p := e.Progress
	one := screen.Entry{
		Path: e.File, Title: e.Title, Done: p.Done + p.Failed, Total: p.All, Failed: p.Failed, Skipped: p.Skipped, Used: e.Used, Problem: d.problems[e.File],
		Elsewhere: e.Executor != nil && e.Executor.Process != os.Getpid(),
	}
	switch e.State {
	case steering.Running:
		one.State = screen.Running
	case steering.Paused:
		one.State = screen.Paused
	case steering.Complete:
		one.State = screen.Complete
	case steering.Missing:
		one.State, one.Problem = screen.Broken, "The file does not exist."
	case steering.Stopped:
		if one.State = screen.Ready; p.Done+p.Failed+p.Begun > 0 {
			one.State = screen.Partial
		}
	}
	if why := d.broken[e.File]; why != "" && e.Executor == nil {
		one.State, one.Problem = screen.Broken, why
	}
	if run := d.running[e.File]; run != nil {
		run.describe(&one)
	}
	return one
}

// file returns the absolute path of an experiment, which the desk uses as its name.
func (d *Desk) file(path string) (string, error) {
	o, err := steering.Of(d.data, path)
	if err != nil {
		return "", err
	}
	return o.File(), nil
}

// current returns the experiment as its file is now.
func (d *Desk) current(path string) (*experiments.Experiment, error) {
	file, err := d.file(path)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	was := d.opened[file]
	d.mu.Unlock()
	var x *experiments.Experiment
	if was != nil {
		x, err = was.Reopen()
	} else {
		x, err = experiments.Open(d.options.App, file, experiments.Options{Env: os.Getenv})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		_, mistakes := errors.AsType[*scenario.Mistakes](err)
		if mistakes || errors.Is(err, fs.ErrNotExist) {
			d.broken[file] = err.Error()
		}
		return nil, err
	}
	delete(d.broken, file)
	d.opened[file] = x
	return x, nil
}

// Findings returns the runs with their measures.
func (d *Desk) Findings(ctx context.Context, path string) (*findings.Table, error) {
	x, err := d.current(path)
	if _, mistakes := errors.AsType[*scenario.Mistakes](err); mistakes {
		o, _, problem := d.of(path)
		if problem != nil {
			return nil, problem
		}
		if x = d.continuing(o); x != nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	s, err := x.Status(ctx)
	if err != nil {
		return nil, err
	}
	t, err := x.Table(ctx, s)
	if err != nil {
		return nil, err
	}
	return x.Findings(t), nil
}
