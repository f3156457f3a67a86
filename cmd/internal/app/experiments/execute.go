package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service"
)

// ErrStopped says that the experiment was stopped before its end. Executing it again continues it.
var ErrStopped = errors.New("the experiment was stopped")

// Events are what an execution reports, one call at a time. Each may be nil. They must not call methods of the execution.
type Events struct {
	// Waiting is called with the process that has the turn in the store.
	Waiting func(holder string)
	// Planned is called with each new plan: at the start, and when the file, the skipped runs or the number of replicates changed.
	Planned func(*Status)
	// Changed is called with each run whose state changed.
	Changed func(*Status, *Run)
	// Paused is called when a pause begins, with who asked for it, and with "" when it ends.
	Paused func(who string)
	// Warn is called with a problem that does not end the execution.
	Warn func(text string)
}

// Execution is the execution of an experiment. Between runs it follows the orders for the experiment and its file.
type Execution struct {
	app     *app.App
	events  Events
	sharing service.Sharing
	look    <-chan time.Time
	wake    chan struct{} // has room for one
	ends    chan end

	// The goroutine of the execution alone uses these.
	seen     seen
	queue    []string // identities of runs that did not begin yet, in order
	inFlight map[string]bool
	failure  error // of the first run that could not be executed
	untold   bool  // runs ended since the progress was recorded

	mu      sync.Mutex
	x       *Experiment
	status  *Status
	budget  *engine.Ledger // nil without a budget in dollars
	spent   time.Duration  // by runs so far
	jobs    map[*app.Job]string
	left    map[*app.Job]bool // jobs that were stopped because their runs were skipped
	stopped string            // why no more runs start; "" while they do
	cut     bool              // sessions in progress are not waited for
	own     string            // who paused it in this process; "" if no one did
	paused  string            // who paused it; "" while it is not paused
	skipped map[string]bool
}

// end is the end of an attempt to execute a run.
type end struct {
	id  string
	err error
}

// Execute executes the missing runs of an experiment, after its turn in the store. The returned Execution can be paused and stopped;
// wait returns when no run is in progress any more.
func (x *Experiment) Execute(ctx context.Context, events Events) (e *Execution, wait func() error) {
	e = &Execution{
		app: x.app, x: x, events: events, look: x.options.Look, wake: make(chan struct{}, 1), ends: make(chan end),
		inFlight: map[string]bool{}, jobs: map[*app.Job]string{}, left: map[*app.Job]bool{}, skipped: map[string]bool{},
	}
	result := make(chan error, 1)
	go func() { result <- e.execute(ctx) }()
	return e, func() error { return <-result }
}

// Experiment returns the experiment as it is executed now: its file may have changed since the start.
func (e *Execution) Experiment() *Experiment {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.x
}

// Executes reports whether a run is in progress in this execution.
func (e *Execution) Executes(run engine.RunID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for j := range e.jobs {
		if j.Record.ID == run {
			return true
		}
	}
	return false
}

// Stop lets the sessions in progress end, and starts nothing more. With cut, it does not wait for them. It returns false while the
// experiment waits for its turn.
func (e *Execution) Stop(cut bool, who, why string) bool {
	e.mu.Lock()
	e.stopped, e.cut = cmp.Or(why, "by "+who), e.cut || cut
	began := e.status != nil
	jobs := make([]*app.Job, 0, len(e.jobs))
	for j := range e.jobs {
		jobs = append(jobs, j)
	}
	e.mu.Unlock()
	for _, j := range jobs {
		stop(j, cut, who, why)
	}
	e.Look()
	return began
}

func stop(j *app.Job, cut bool, who, why string) {
	// A run that has ended refuses both, which is fine.
	if cut {
		_ = j.Run.Shutdown(why)
	} else {
		_ = j.Run.Stop(who, why)
	}
}

// Pause lets no further run start until Resume, also if the experiment is executed again after a crash. Runs in progress continue.
// The pause holds in this process even if it cannot be recorded, which is the error.
func (e *Execution) Pause(who string) error {
	e.mu.Lock()
	e.own = who
	orders := e.x.Orders
	e.mu.Unlock()
	err := orders.Pause(who)
	e.Look()
	return err
}

// Resume undoes Pause.
func (e *Execution) Resume() error {
	e.mu.Lock()
	e.own = ""
	orders := e.x.Orders
	e.mu.Unlock()
	err := orders.Resume()
	e.Look()
	return err
}

// Look has the execution look for new orders now.
func (e *Execution) Look() {
	select {
	case e.wake <- struct{}{}:
	default: // it will look
	}
}

// Work names an experiment in the queue.
func Work(title string) string { return "the experiment " + strconv.Quote(title) }

// lookInterval is how often an execution looks for new orders and a changed file.
const lookInterval = time.Second

func (e *Execution) execute(ctx context.Context) (err error) {
	title := e.x.Title
	e.x.options.Place.Work = Work(title)
	release, err := e.app.Store().Turn(ctx, e.x.options.Place, e.events.Waiting)
	if err != nil {
		return err
	}
	defer release()
	e.warn(e.x.Orders.Use(title))
	if unmark, err := e.x.Orders.Execute(); err != nil {
		e.warn(err)
	} else {
		defer func() { e.warn(unmark()) }()
	}
	if e.look == nil {
		tick := time.NewTicker(lookInterval)
		defer tick.Stop()
		e.look = tick.C
	}
	if err := e.begin(ctx); err != nil {
		return err
	}
	if err := e.fund(ctx); err != nil {
		return err
	}
	defer e.tell()
	return e.runs(ctx)
}

// tell records the progress, at most once per look while runs end, because each record waits for the disk.
func (e *Execution) tell() {
	if !e.untold {
		return
	}
	e.untold = false
	e.mu.Lock()
	p := e.status.progress()
	e.mu.Unlock()
	e.warn(e.x.Orders.Progress(p))
}

// warn reports a problem that does not end the execution.
func (e *Execution) warn(err error) {
	if err != nil && e.events.Warn != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.events.Warn(err.Error())
	}
}

// runs executes the missing runs of the plan, and then those that further replicates need.
func (e *Execution) runs(ctx context.Context) error {
	canceled := ctx.Done()
	for {
		e.follow(ctx)
		stopped, idle := e.why(), len(e.inFlight) == 0
		switch {
		case stopped != "" && idle:
			if e.failure != nil {
				return e.failure
			}
			return fmt.Errorf("%w: %s", ErrStopped, stopped)
		case stopped == "" && len(e.queue) == 0 && idle:
			if more, err := e.extended(ctx); !more || err != nil {
				return err
			}
			continue
		case stopped == "" && e.start(ctx):
			continue
		}
		if idle {
			e.tell()
		}
		select {
		case end := <-e.ends:
			e.ended(end)
		case <-e.wake:
		case <-e.look:
			e.tell()
		case <-canceled:
			e.refuse(context.Cause(ctx).Error())
			canceled = nil
		}
	}
}

// start starts the first run of the queue that does not wait for its parent. It returns false if none can start now.
func (e *Execution) start(ctx context.Context) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.paused != "" || len(e.inFlight) >= e.x.Parallel {
		return false
	}
	for i, id := range e.queue {
		r := *e.status.byID[id]
		a := attempt{Execution: e, x: e.x, r: &r}
		if parent := e.status.byID[r.Parent]; parent != nil {
			if parent.State.Missing() {
				continue
			}
			a.parent = parent.Record.ID
		}
		e.queue = slices.Delete(e.queue, i, i+1)
		e.inFlight[id] = true
		go func() { e.ends <- end{id, a.run(ctx)} }()
		return true
	}
	return false
}

// ended takes note of the end of an attempt. A run that is still missing is tried again.
func (e *Execution) ended(end end) {
	delete(e.inFlight, end.id)
	if end.err != nil {
		if e.failure == nil {
			e.failure = end.err
		}
		e.refuse("an error: " + end.err.Error())
	}
	e.mu.Lock()
	if r := e.status.byID[end.id]; r != nil && r.State.Missing() { // else it is not in the plan any more, or has ended
		e.queue = slices.Insert(e.queue, 0, end.id)
	}
	e.status.inherit(e.report)
	e.queue = slices.DeleteFunc(e.queue, func(id string) bool { return !e.status.byID[id].State.Missing() })
	e.mu.Unlock()
	e.untold = true
}

// fund makes the budget of the experiment, and takes off what its runs have spent.
func (e *Execution) fund(ctx context.Context) error {
	if e.x.Budget.USD > 0 {
		e.budget = engine.NewLedger(engine.Budget{Dollars: e.x.Budget.USD})
	}
	for _, r := range e.status.Runs {
		if r.Record.ID == "" {
			continue
		}
		t, err := e.app.Store().Totals(ctx, r.Record.ID)
		if err != nil {
			return err
		}
		e.spent += t.Peaks.Elapsed
		if e.budget != nil {
			all := t.AllRequests()
			e.budget.Resume(engine.Outlay{Requests: all.Requests, Usage: all.Usage}.Plus(t.Peaks.Unrecorded), t.Peaks.Unrecorded)
		}
	}
	return nil
}

// why returns why no more runs start; "" while they do.
func (e *Execution) why() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if limit := e.x.Budget.Time; e.stopped == "" && limit > 0 && e.spent >= limit {
		return fmt.Sprintf("its runs took %s of %s; a larger `time` in its budget continues it", e.spent.Round(time.Second), limit)
	}
	return e.stopped
}

func (e *Execution) refuse(why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped == "" {
		e.stopped = why
	}
}

// set changes the state of a run. record may be nil.
func (e *Execution) set(r *Run, record *engine.RunRecord, state State, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if record != nil {
		r.Record = *record
	}
	r.State, r.Why = state, why
	if planned := e.status.byID[r.ID]; planned != nil {
		planned.Record, planned.State, planned.Why, planned.Tries = r.Record, r.State, r.Why, r.Tries
		r = planned
	}
	e.report(r)
}

// report reports a changed run. The caller has the lock.
func (e *Execution) report(r *Run) {
	if e.events.Changed != nil {
		e.events.Changed(e.status, r)
	}
}
