package experiments

import (
	"context"
	"fmt"
	"slices"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/run"
)

// attempt is an attempt to execute a run.
type attempt struct {
	*Execution
	x      *Experiment
	r      *Run // a copy of that of the plan
	parent engine.RunID
}

// run starts or resumes the run and waits for its end.
func (a *attempt) run(ctx context.Context) error {
	if a.r.State != Interrupted {
		a.set(a.r, &engine.RunRecord{}, Waiting, "")
	}
	l, err := a.launch(ctx)
	if err != nil {
		return err
	}
	return a.watch(ctx, l)
}

// launch returns what starts or resumes the run.
func (a *attempt) launch(ctx context.Context) (l app.Launch, err error) {
	x, r := a.x, a.r
	settings, err := x.settings(&r.Run)
	if err != nil {
		return l, err
	}
	settings.Limit = max(settings.Limit/x.Parallel, 1)
	settings.Ceiling = max(settings.Ceiling/x.Parallel, settings.Limit)
	settings.Floor = min(settings.Floor, settings.Limit)
	settings.KeepCheckpoints = max(settings.KeepCheckpoints, len(r.Checkpoints)+2)
	if r.Record.ID != "" {
		l, _, err = a.app.Resume(ctx, r.Record.ID, app.ResumeOptions{AsItWas: true, Limit: settings.Limit})
	} else {
		l, err = a.fresh(ctx, settings)
	}
	l.Checkpoints = r.Checkpoints
	l.Trusted, l.Allow, l.Sharing = x.options.Trusted, x.options.Allow, &a.sharing
	l.Part = &app.Part{Membership: engine.Membership{Experiment: x.Title, Identity: r.ID}, Budget: a.budget}
	return l, err
}

// fresh returns the launch of a new run.
func (a *attempt) fresh(ctx context.Context, settings engine.Settings) (l app.Launch, err error) {
	setup, err := a.x.Setup(a.r.Values)
	if err != nil {
		return l, err
	}
	l.Settings = settings
	l.Name = a.x.name(&a.r.Run)
	if l.Scenario, err = setup.Scenario(); err != nil || a.parent == "" {
		return l, err
	}
	all, err := a.app.Store().Checkpoints(ctx, a.parent)
	if err != nil {
		return l, err
	}
	i := slices.IndexFunc(all, func(c engine.CheckpointRecord) bool { return c.Cycle == a.r.ForkCycle })
	if i < 0 {
		return l, fmt.Errorf("run %s has no checkpoint at the start of cycle %d any more: delete the run, and it will run again", a.parent, a.r.ForkCycle)
	}
	l.Fork, err = app.FindParent(ctx, a.app.Store(), a.app.Store().Dir(), a.parent, all[i].Number)
	return l, err
}

// name returns the name of a run: first the values of its factors and its seed, which tell it from others in a narrow column.
func (x *Experiment) name(r *experiment.Run) string {
	name := fmt.Sprintf("seed %d: %s", r.Seed, x.Title)
	if label := x.Label(r.Values); label != "" {
		name = findings.Brief(label) + ", " + name
	}
	return name
}

// watch starts a launch, waits for its end and updates the state of the run.
func (a *attempt) watch(ctx context.Context, l app.Launch) error {
	r := a.r
	job, err := a.app.Start(ctx, l)
	if err != nil {
		return fmt.Errorf("%s: %w", a.x.name(&r.Run), err)
	}
	a.mu.Lock()
	a.jobs[job] = r.ID
	late, cut, skipped := a.stopped, a.cut, a.skipped[r.ID]
	if skipped {
		a.left[job] = true
	}
	a.mu.Unlock()
	a.set(r, &job.Record, Running, "")
	switch {
	case late != "":
		stop(job, cut, "the experiment", late)
	case skipped:
		stop(job, false, "the experiment", skipReason)
	}
	result := job.Run.Wait()
	a.mu.Lock()
	left := a.left[job]
	delete(a.jobs, job)
	delete(a.left, job)
	a.mu.Unlock()
	if err := job.Close(); err != nil {
		return err
	}
	record, err := a.app.Store().Standing(context.WithoutCancel(ctx), job.Record.ID)
	if err != nil {
		return err
	}
	a.conclude(&result, &record, left)
	return nil
}

// conclude sets the state of the run after it ended. left says that it was stopped because it was skipped.
func (a *attempt) conclude(result *run.Result, record *engine.RunRecord, left bool) {
	r := a.r
	a.mu.Lock()
	a.spent += result.Totals.Peaks.Elapsed
	skipped := a.skipped[r.ID]
	a.mu.Unlock()
	switch {
	case result.Ending == engine.EndFinished && !result.Totals.AllFailed():
		a.set(r, record, Done, "")
	case skipped && result.Ending == engine.EndStopped:
		a.set(r, record, Skipped, "")
	case left && result.Ending == engine.EndStopped: // it was taken back while it ended, and continues
		a.set(r, record, Interrupted, "")
	case result.Ending == engine.EndStopped || result.Ending == engine.NotEnded:
		a.set(r, record, Interrupted, "")
		a.refuse("run " + string(record.ID) + " was stopped")
	case result.Ending == engine.EndOutOfBudget:
		a.set(r, record, Interrupted, "")
		a.refuse(result.Reason)
	default:
		r.Tries++
		state := Waiting
		if r.Tries >= mostFailures {
			state = Failed
		}
		a.set(r, record, state, failure(record))
	}
}
