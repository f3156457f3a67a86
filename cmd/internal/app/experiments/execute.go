package experiments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/storage/sqlite/queue"
)

// ErrStopped says that the experiment was stopped before its end. Executing it again continues it.
var ErrStopped = errors.New("the experiment was stopped")

// Execution is the execution of an experiment.
type Execution struct {
	x       *Experiment
	sharing service.Sharing
	budget  *engine.Ledger // nil without a budget in dollars

	mu      sync.Mutex
	status  *Status
	spent   time.Duration // by runs so far
	jobs    map[*app.Job]bool
	stopped string                   // why no more runs start; "" while they do
	ended   map[string]chan struct{} // closed when a run has ended in this execution, by ID
	changed func(*Status, *Run)
}

// Execute executes the missing runs of an experiment, after its turn in the store. changed is called with each run whose state
// changed, one call at a time. waiting is called with the process that has the turn. The returned Execution can be stopped;
// wait returns when no run is in progress any more.
func (x *Experiment) Execute(ctx context.Context, waiting func(holder string), changed func(*Status, *Run)) (e *Execution, wait func() error) {
	e = &Execution{x: x, jobs: map[*app.Job]bool{}, ended: map[string]chan struct{}{}, changed: changed}
	end := make(chan error, 1)
	go func() { end <- e.execute(ctx, waiting) }()
	return e, func() error { return <-end }
}

// Stop lets the sessions in progress end, and starts nothing more. With cut, it does not wait for them. It returns false while the
// experiment waits for its turn.
func (e *Execution) Stop(cut bool, who, why string) bool {
	e.mu.Lock()
	e.stopped = why
	began := e.status != nil
	jobs := make([]*app.Job, 0, len(e.jobs))
	for j := range e.jobs {
		jobs = append(jobs, j)
	}
	e.mu.Unlock()
	for _, j := range jobs {
		stop(j, cut, who, why)
	}
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

func (e *Execution) execute(ctx context.Context, waiting func(string)) error {
	release, err := e.x.app.Store().Turn(ctx, queue.Entry{Work: "the experiment " + strconv.Quote(e.x.Title)}, waiting)
	if err != nil {
		return err
	}
	defer release()
	for replicates := 0; ; {
		status, err := e.x.Status(ctx)
		if err != nil || len(status.Plan.Seeds) == replicates {
			return err
		}
		e.mu.Lock()
		e.status = status
		e.mu.Unlock()
		if replicates == 0 {
			if err := e.fund(ctx); err != nil {
				return err
			}
		}
		replicates = len(status.Plan.Seeds)
		if err := e.runs(ctx); err != nil {
			return err
		}
	}
}

// runs executes the missing runs of the plan.
func (e *Execution) runs(ctx context.Context) error {
	var group errgroup.Group
	group.SetLimit(e.x.Parallel)
	missing := e.status.Plan.Missing(func(id string) bool {
		state := e.status.byID[id].State
		return state == Done || state == Failed
	})
	for i := range missing {
		e.ended[missing[i].ID] = make(chan struct{})
	}
	for i := range missing {
		r := e.status.byID[missing[i].ID]
		if e.why() != "" {
			break
		}
		group.Go(func() error {
			defer close(e.ended[r.ID])
			err := e.run(ctx, r)
			if err != nil {
				e.refuse("an error: " + err.Error())
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if why := e.why(); why != "" {
		return fmt.Errorf("%w: %s", ErrStopped, why)
	}
	return nil
}

// fund makes the budget of the experiment, and takes off what its runs have spent.
func (e *Execution) fund(ctx context.Context) error {
	if e.x.Budget.USD > 0 {
		e.budget = engine.NewLedger(engine.Budget{Dollars: e.x.Budget.USD})
	}
	if e.budget == nil && e.x.Budget.Time == 0 {
		return nil
	}
	for _, r := range e.status.Runs {
		if r.Record.ID == "" {
			continue
		}
		t, err := e.x.app.Store().Totals(ctx, r.Record.ID)
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

// run executes a run, and again if it fails the first time. Runs that fork it begin after it.
func (e *Execution) run(ctx context.Context, r *Run) error {
	if done := e.ended[r.Parent]; done != nil {
		<-done
	}
	if parent := e.status.byID[r.Parent]; parent != nil && parent.State != Done {
		if e.why() == "" {
			e.set(r, nil, Failed, "the run that it continues failed")
		}
		return nil
	}
	for e.why() == "" && r.State != Done && r.State != Failed {
		if err := e.attempt(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// attempt starts or resumes a run and waits for its end.
func (e *Execution) attempt(ctx context.Context, r *Run) error {
	if r.State != Interrupted {
		e.set(r, &engine.RunRecord{}, Waiting, "")
	}
	l, err := e.launch(ctx, r)
	if err != nil {
		return err
	}
	return e.follow(ctx, r, l)
}

// launch returns what starts or resumes a run.
func (e *Execution) launch(ctx context.Context, r *Run) (l app.Launch, err error) {
	settings, err := e.x.settings(&r.Run)
	if err != nil {
		return l, err
	}
	settings.Limit = max(settings.Limit/e.x.Parallel, 1)
	settings.Ceiling = max(settings.Ceiling/e.x.Parallel, settings.Limit)
	settings.Floor = min(settings.Floor, settings.Limit)
	settings.KeepCheckpoints = max(settings.KeepCheckpoints, len(r.Checkpoints)+2)
	if r.Record.ID != "" {
		l, _, err = e.x.app.Resume(ctx, r.Record.ID, app.ResumeOptions{AsItWas: true, Limit: settings.Limit})
	} else {
		l, err = e.fresh(ctx, r, settings)
	}
	l.Checkpoints = r.Checkpoints
	l.Trusted, l.Allow, l.Sharing = e.x.options.Trusted, e.x.options.Allow, &e.sharing
	l.Part = &app.Part{Membership: engine.Membership{Experiment: e.x.Title, Identity: r.ID}, Budget: e.budget}
	return l, err
}

// fresh returns the launch of a new run.
func (e *Execution) fresh(ctx context.Context, r *Run, settings engine.Settings) (l app.Launch, err error) {
	setup, err := e.x.Setup(r.Values)
	if err != nil {
		return l, err
	}
	l.Settings = settings
	l.Name = e.x.name(&r.Run)
	if l.Scenario, err = setup.Scenario(); err != nil || r.Parent == "" {
		return l, err
	}
	parent := e.status.byID[r.Parent].Record.ID
	all, err := e.x.app.Store().Checkpoints(ctx, parent)
	if err != nil {
		return l, err
	}
	i := slices.IndexFunc(all, func(c engine.CheckpointRecord) bool { return c.Cycle == r.ForkCycle })
	if i < 0 {
		return l, fmt.Errorf("run %s has no checkpoint at the start of cycle %d any more: delete the run, and it will run again", parent, r.ForkCycle)
	}
	l.Fork, err = app.FindParent(ctx, e.x.app.Store(), e.x.app.Store().Dir(), parent, all[i].Number)
	return l, err
}

// name returns the name of a run: the values of its factors and its seed.
func (x *Experiment) name(r *experiment.Run) string {
	name := x.Title
	if label := x.Label(r.Values); label != "" {
		name += ": " + strings.NewReplacer("params.", "", "settings.", "", "service.", "").Replace(label)
	}
	return fmt.Sprintf("%s, seed %d", name, r.Seed)
}

// follow starts a launch, waits for its end and updates the state of the run.
func (e *Execution) follow(ctx context.Context, r *Run, l app.Launch) error {
	job, err := e.x.app.Start(ctx, l)
	if err != nil {
		return fmt.Errorf("%s: %w", e.x.name(&r.Run), err)
	}
	e.mu.Lock()
	e.jobs[job] = true
	late := e.stopped
	e.mu.Unlock()
	e.set(r, &job.Record, Running, "")
	if late != "" {
		stop(job, false, "the experiment", late)
	}
	result := job.Run.Wait()
	e.mu.Lock()
	delete(e.jobs, job)
	e.mu.Unlock()
	if err := job.Close(); err != nil {
		return err
	}
	record, err := e.x.app.Store().Standing(context.WithoutCancel(ctx), job.Record.ID)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.spent += result.Totals.Peaks.Elapsed
	e.mu.Unlock()
	switch {
	case result.Ending == engine.EndFinished && !result.Totals.AllFailed():
		e.set(r, &record, Done, "")
	case result.Ending == engine.EndStopped || result.Ending == engine.NotEnded:
		e.set(r, &record, Interrupted, "")
		e.refuse("run " + string(record.ID) + " was stopped")
	case result.Ending == engine.EndOutOfBudget:
		e.set(r, &record, Interrupted, "")
		e.refuse(result.Reason)
	default:
		r.Tries++
		state := Waiting
		if r.Tries >= mostFailures {
			state = Failed
		}
		e.set(r, &record, state, failure(&record))
	}
	return nil
}

// set changes the state of a run. record may be nil.
func (e *Execution) set(r *Run, record *engine.RunRecord, state State, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if record != nil {
		r.Record = *record
	}
	r.State, r.Why = state, why
	if e.changed != nil {
		e.changed(e.status, r)
	}
}
