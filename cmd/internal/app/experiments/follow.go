package experiments

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
)

// seen is what an execution knows of the orders and of the file.
type seen struct {
	orders  steering.Record
	file    fs.FileInfo // nil if it could not be read
	problem string      // with the orders, which is reported once
}

// skipReason is why a run that was in progress when it was skipped ends.
const skipReason = "it is skipped"

// begin plans the runs. Earlier orders to stop do not count.
func (e *Execution) begin(ctx context.Context) error {
	record := e.orders()
	e.note(&record)
	e.seen.file, _ = os.Stat(e.x.File) // it was read a moment ago; if it is missing, that is seen later
	return e.replan(ctx, e.x)
}

// orders reads the orders. Those that cannot be read stay as they were; damaged ones are void.
func (e *Execution) orders() steering.Record {
	record, err := e.x.Orders.Read()
	if err == nil {
		return record
	}
	if text := err.Error(); text != e.seen.problem {
		e.seen.problem = text
		e.warn(err)
	}
	if errors.Is(err, steering.ErrDamaged) {
		return record
	}
	return e.seen.orders
}

// note keeps the orders.
func (e *Execution) note(record *steering.Record) {
	e.seen.orders = *record
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.skipped)
	for _, id := range record.Skipped {
		e.skipped[id] = true
	}
}

// follow looks for new orders and for a changed file.
func (e *Execution) follow(ctx context.Context) {
	was, now := e.seen.orders, e.orders()
	e.note(&now)
	e.hold(now.Paused)
	if now.Stops > was.Stops {
		e.Stop(now.Stop.Cut, now.Stop.Who, now.Stop.Why)
	}
	x := e.changed()
	if x == nil && slices.Equal(now.Skipped, was.Skipped) && slices.Equal(now.First, was.First) {
		return
	}
	e.skip()
	if x == nil {
		x = e.x
	}
	if err := e.replan(ctx, x); err != nil {
		e.warn(fmt.Errorf("the experiment continues with the plan that it had: %w", err))
	}
}

// hold begins or ends a pause.
func (e *Execution) hold(order *steering.Order) {
	e.mu.Lock()
	defer e.mu.Unlock()
	who := e.own
	if order != nil {
		who = order.Who
	}
	if who != e.paused && e.events.Paused != nil {
		e.events.Paused(who)
	}
	e.paused = who
}

// skip stops the runs in progress that are skipped now.
func (e *Execution) skip() {
	e.mu.Lock()
	var skipped []*app.Job
	for j, id := range e.jobs {
		if e.skipped[id] && !e.left[j] {
			e.left[j] = true
			skipped = append(skipped, j)
		}
	}
	e.mu.Unlock()
	for _, j := range skipped {
		stop(j, false, "the experiment", skipReason)
	}
}

// changed returns the experiment that the file has now, if it has changed to one that can be executed; else nil. It warns if it cannot.
func (e *Execution) changed() *Experiment {
	now, err := os.Stat(e.x.File)
	was := e.seen.file
	if err == nil && was != nil && os.SameFile(was, now) && now.ModTime().Equal(was.ModTime()) && now.Size() == was.Size() || err != nil && was == nil {
		return nil
	}
	e.seen.file = now
	var x *Experiment
	if err == nil {
		x, err = e.x.Reopen()
	}
	if err == nil && x.Of.Source.Hash != e.x.Of.Source.Hash {
		err = errors.New("its scenario changed, too, and every run would be a different one; stop the experiment and run it again to execute those")
	}
	if err != nil {
		e.warn(fmt.Errorf("the experiment continues as it was before its file changed: %w", err))
		return nil
	}
	if x.Budget.USD != e.x.Budget.USD {
		e.warn(errors.New("the new budget in dollars applies when the experiment is run again"))
	}
	return x
}

// replan plans the runs of the experiment as the file has it now, without those that are skipped.
func (e *Execution) replan(ctx context.Context, x *Experiment) error {
	status, err := x.planned(ctx, &e.seen.orders)
	if err != nil {
		return err
	}
	e.plan(x, status)
	return nil
}

// extended adds the replicates that the rule of the file asks for, if there are some.
func (e *Execution) extended(ctx context.Context) (bool, error) {
	was := len(e.status.Plan.Seeds)
	if err := e.replan(ctx, e.x); err != nil {
		return false, err
	}
	return len(e.status.Plan.Seeds) > was && len(e.queue) > 0, nil
}

// plan executes the runs of a plan from now on.
func (e *Execution) plan(x *Experiment, status *Status) {
	missing := status.Plan.Missing(func(id string) bool { return !status.byID[id].State.Missing() })
	known := make(map[string]bool, len(missing))
	for i := range missing {
		known[missing[i].ID] = !e.inFlight[missing[i].ID]
	}
	e.queue = e.queue[:0]
	add := func(id string) {
		if known[id] {
			known[id] = false
			e.queue = append(e.queue, id)
		}
	}
	for _, id := range e.seen.orders.First {
		var line []string // the run, and those that it continues
		for r := status.byID[id]; r != nil; r = status.byID[r.Parent] {
			line = append(line, r.ID)
		}
		for _, id := range slices.Backward(line) {
			add(id)
		}
	}
	for i := range missing {
		add(missing[i].ID)
	}
	e.mu.Lock()
	for id := range e.inFlight {
		if was, now := e.status.byID[id], status.byID[id]; was != nil && now != nil {
			now.State, now.Record, now.Why, now.Tries = was.State, was.Record, was.Why, was.Tries
		}
	}
	e.x, e.status = x, status
	if e.events.Planned != nil {
		e.events.Planned(status)
	}
	p := status.progress() // runs in progress change it once the lock is free
	e.mu.Unlock()
	e.warn(x.Orders.Progress(p))
}
