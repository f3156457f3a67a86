// Package experiments executes experiments: it finds the runs that the store has already, executes the missing ones, and measures
// all of them.
package experiments

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/statistics"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite/queue"
)

// Options say what an experiment may do. The zero value is that of a file of others, without an environment.
type Options struct {
	Env     func(string) string
	Allow   []string    // addresses that the user allows
	Trusted bool        // the scenario is the user's own, and may call this machine
	Place   queue.Entry // in the queue of the store; zero is at its end
	// Look says when an execution looks for new orders and a changed file; nil looks once a second.
	Look <-chan time.Time
}

// Experiment is an experiment with the store of an app.
type Experiment struct {
	*experiment.Experiment
	File   string
	Orders *steering.Orders

	app     *app.App
	options Options
	base    engine.Settings // of all runs, before those of the scenario and the experiment

	mu       sync.Mutex
	measured map[measured]figures
	note     string // about the orders; "" if there is nothing to say
}

// Read reads an experiment and its scenario. data is the data folder. Mistakes are *scenario.Mistakes.
func Read(data, file string) (*experiment.Experiment, error) { return ReadAs(data, file, nil) }

// ReadAs reads an experiment with a text in place of that of its file; nil reads the file.
func ReadAs(data, file string, text []byte) (*experiment.Experiment, error) {
	dir, name := filepath.Dir(file), filepath.Base(file)
	folder := scenario.Folder(dir)
	open := func(of string) ([]byte, error) {
		if of == name && text != nil {
			return text, nil
		}
		return folder(of)
	}
	e, err := experiment.Read(name, open, func(of string, given map[string]string) (*scenario.Scenario, error) {
		return Scenario(data, file, of, given)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no experiment %s; throngctl experiment new SCENARIO writes one (%w)", file, fs.ErrNotExist)
	}
	return e, err
}

// Scenario loads a scenario as the file of an experiment names it, with the given parameters.
func Scenario(data, file, of string, given map[string]string) (*scenario.Scenario, error) {
	path := filepath.Join(filepath.Dir(file), filepath.FromSlash(of))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && filepath.Base(of) == of {
		path = of // a built-in scenario
	}
	return authoring.Open(data, path, given)
}

// Open reads an experiment for execution, and records its use.
func Open(a *app.App, file string, o Options) (*Experiment, error) {
	x, err := open(a, file, nil, o)
	if err != nil {
		return nil, err
	}
	x.noteOn(x.Orders.Use(x.Title))
	return x, nil
}

// Reopen reads the file of the experiment again, as it is now. It keeps the measured values if they still apply.
func (x *Experiment) Reopen() (*Experiment, error) {
	now, err := open(x.app, x.File, nil, x.options)
	if err != nil {
		return nil, err
	}
	now.inheritMeasures(x)
	return now, nil
}

// Allowing returns the experiment with addresses that the user allows.
func (x *Experiment) Allowing(allow []string) (*Experiment, error) {
	options := x.options
	options.Allow = allow
	return open(x.app, x.File, nil, options)
}

// Preview plans an experiment with a text in place of that of its file, which need not exist, and forecasts the runs that are missing.
func Preview(ctx context.Context, a *app.App, file string, text []byte, o Options) (*Status, Forecast, error) {
	x, err := open(a, file, text, o)
	if err != nil {
		return nil, Forecast{}, err
	}
	record, err := x.Orders.Read()
	x.noteOn(err)
	s, err := x.planned(ctx, &record)
	if err != nil {
		return nil, Forecast{}, err
	}
	f, err := x.Forecast(ctx, s)
	return s, f, err
}

// open reads an experiment. text takes the place of that of its file, unless it is nil.
func open(a *app.App, file string, text []byte, o Options) (*Experiment, error) {
	data := a.Store().Dir()
	e, err := ReadAs(data, file, text)
	if err != nil {
		return nil, err
	}
	orders, err := steering.Of(data, file)
	if err != nil {
		return nil, err
	}
	base, _, err := config.Resolve(data, nil, nil, o.Env)
	return &Experiment{Experiment: e, File: file, Orders: orders, app: a, options: o, base: base, measured: map[measured]figures{}}, err
}

// noteOn keeps a problem with the orders, which does not keep the experiment from running.
func (x *Experiment) noteOn(err error) {
	if err == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.note = err.Error()
}

// Note returns the newest problem with the orders for the experiment; "" if there is none. The experiment continues without them.
func (x *Experiment) Note() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.note
}

// mostFailures is how often a run may fail. It is tried again with the same seed.
const mostFailures = 2

// Run is a run of the plan with what became of it.
type Run struct {
	experiment.Run
	State  State
	Record engine.RunRecord // the newest one; empty if it was never started
	Why    string           // it failed; "" if it did not
	Tries  int              // that failed
}

// Status is an experiment's plan with the state of each run.
type Status struct {
	Experiment *Experiment // as planned; the file may have changed since
	Orders     steering.Record
	Plan       *experiment.Plan
	Runs       []*Run // in the order of the plan

	byID map[string]*Run
}

// Count returns the number of runs of points, and how many of them are in a state.
func (s *Status) Count(state State) (n, of int) {
	for _, r := range s.Runs {
		if r.Point < 0 {
			continue
		}
		of++
		if r.State == state {
			n++
		}
	}
	return n, of
}

// Of returns the run of a point and a replicate.
func (s *Status) Of(point, replicate int) *Run { return s.byID[s.Plan.Run(point, replicate)] }

// progress counts the runs of points by what became of them.
func (s *Status) progress() (p steering.Progress) {
	for _, r := range s.Runs {
		if r.Point < 0 {
			continue
		}
		p.All++
		switch r.State {
		case Done:
			p.Done++
		case Failed:
			p.Failed++
		case Skipped:
			p.Skipped++
		case Running, Interrupted:
			p.Begun++
		case Waiting:
		}
	}
	return p
}

// Status plans the experiment and finds its runs in the store. If the file says until when replicates are added, and the first ones
// are done, the plan has those that are needed.
func (x *Experiment) Status(ctx context.Context) (*Status, error) {
	record, err := x.Orders.Read()
	x.noteOn(err)
	s, err := x.planned(ctx, &record)
	if err != nil {
		return nil, err
	}
	if p := s.progress(); p != record.Progress {
		x.noteOn(x.Orders.Progress(p))
	}
	return s, nil
}

// planned returns the status with orders.
func (x *Experiment) planned(ctx context.Context, orders *steering.Record) (*Status, error) {
	s, err := x.status(ctx, 0, orders)
	if err != nil || x.Replicates.Until == nil {
		return s, err
	}
	n, err := x.needed(ctx, s)
	if err != nil || n <= len(s.Plan.Seeds) {
		return s, err
	}
	return x.status(ctx, n, orders)
}

// needed returns how many replicates the rule of the file asks for: the largest number that a point needs. It is decided by the
// replicates in the file alone, so that looking at results in between changes nothing.
func (x *Experiment) needed(ctx context.Context, s *Status) (int, error) {
	rule, _ := x.until()
	for _, r := range s.Runs {
		if r.State.Missing() {
			return rule.First, nil
		}
	}
	t, err := x.Table(ctx, s)
	if err != nil {
		return 0, err
	}
	most, f := rule.First, x.Findings(t)
	for point := range f.Points {
		most = max(most, rule.Decide(f.Column(point, f.UntilOf)).Runs)
	}
	return min(most, rule.AtMost), nil
}

// until returns the rule that adds replicates, and the index of its measure; nil if there is none.
func (x *Experiment) until() (rule *statistics.Until, of int) {
	u := x.Replicates.Until
	if u == nil {
		return nil, 0
	}
	of = slices.IndexFunc(x.Measures, func(m experiment.Measure) bool { return m.Name == u.Of })
	return &statistics.Until{HalfWidth: u.HalfWidth, Relative: u.Relative, First: len(x.Replicates.Seeds), AtMost: u.AtMost}, of
}

// status plans a number of replicates; 0 is that of the file.
func (x *Experiment) status(ctx context.Context, replicates int, orders *steering.Record) (*Status, error) {
	plan, err := x.Plan(x.base, replicates)
	if err != nil {
		return nil, err
	}
	s := &Status{Experiment: x, Orders: *orders, Plan: plan, Runs: make([]*Run, len(plan.Runs)), byID: make(map[string]*Run, len(plan.Runs))}
	ids := make([]string, len(plan.Runs))
	for i := range plan.Runs {
		r := &Run{Run: plan.Runs[i], State: Waiting}
		s.Runs[i], s.byID[r.ID], ids[i] = r, r, r.ID
	}
	records, err := x.app.Store().Identical(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i := range records { // newest first
		if err := x.sort(s.byID[records[i].Identity], &records[i]); err != nil {
			return nil, err
		}
	}
	for _, r := range s.Runs {
		if r.State == Waiting && r.Tries >= mostFailures {
			r.State = Failed
		}
	}
	for _, id := range orders.Skipped {
		if r := s.byID[id]; r != nil && r.State != Running { // another experiment may have executed it
			r.State = Skipped
		}
	}
	s.inherit(func(*Run) {})
	return s, nil
}

// inherit leaves out the runs that fork one that is left out, and calls changed with each.
func (s *Status) inherit(changed func(*Run)) {
	for _, r := range s.Runs { // a run comes after the one that it forks
		parent := s.byID[r.Parent]
		if parent == nil || r.State != Waiting || parent.State != Failed && parent.State != Skipped {
			continue
		}
		r.State, r.Why = parent.State, "the run that it continues is left out: "+string(parent.State)
		changed(r)
	}
}

// sort updates the state of a run by one of its records. A record that is done counts more than one that can be resumed.
func (x *Experiment) sort(r *Run, record *engine.RunRecord) error {
	cycles, err := x.length(&r.Run)
	if err != nil {
		return err
	}
	state := Waiting
	switch {
	case record.InProgress:
		state = Running
	case record.Damage != "" || record.Ending == engine.EndFailed || record.Ending == engine.EndHopeless || ended(record, cycles) && hopeless(record):
		r.Tries++
		if r.Why == "" {
			r.Why = failure(record)
		}
	case ended(record, cycles):
		state = Done
	default:
		state = Interrupted
	}
	rank := map[State]int{Waiting: 0, Interrupted: 1, Running: 2, Done: 3}
	if r.Record.ID == "" || rank[state] > rank[r.State] {
		r.Record, r.State = *record, state
	}
	return nil
}

// ended reports whether a run has completed all its cycles.
func ended(r *engine.RunRecord, cycles int) bool {
	return r.Ending == engine.EndFinished && (cycles == 0 || r.Cycle >= cycles || r.Reason == engine.NoAgents)
}

// hopeless reports whether no session of a run succeeded.
func hopeless(r *engine.RunRecord) bool { return r.Done > 0 && r.Tally.Failed >= r.Done }

func failure(r *engine.RunRecord) string {
	switch {
	case r.Damage != "":
		return r.Damage
	case r.Reason != "":
		return r.Ending.String() + ": " + r.Reason
	default:
		return r.Ending.String()
	}
}

// settings returns the settings of a run.
func (x *Experiment) settings(r *experiment.Run) (engine.Settings, error) {
	s, err := x.Effective(x.base, r.Values)
	if err != nil {
		return s, err
	}
	s.Seed = r.Seed
	if r.Cycles > 0 {
		s.Cycles, s.Hours = r.Cycles, 0
	}
	config.Schedule(&s, x.Of)
	return s, nil
}

// length returns the number of cycles of a run; 0 if it ends by the clock.
func (x *Experiment) length(r *experiment.Run) (int, error) {
	s, err := x.settings(r)
	return s.Cycles, err
}
