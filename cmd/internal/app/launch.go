// Package app assembles a run from the store, the mocks, the services, the journal and the engine, and takes it apart in
// reverse order. The window, throngctl, throngbench and the end-to-end tests share it.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/clients"
	"github.com/throng-sim/throng/cmd/internal/app/mocks"
	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/internal/app/runid"
	"github.com/throng-sim/throng/cmd/internal/app/runlog"
	"github.com/throng-sim/throng/cmd/internal/app/schedule"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/cmd/internal/telemetry"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/govern"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/storage/sqlite/queue"
)

// flushTime is how long closing a run waits for a disk that cannot be written.
const flushTime = 10 * time.Second

// Launch is the input of a run. Its Services hold the scenario and the settings. With a nil Remote, no results are sent.
type Launch struct {
	Services
	Store  *sqlite.Store
	Resume engine.RunID // the run to resume; Scenario and the seed must be that run's own. "" starts a new run
	Fork   *Parent      // checkpoint at which a fork begins; nil starts from the beginning
	Name   string       // of the new run; "" shows the title of the scenario
	// Checkpoints are cycles at whose start forks will begin.
	Checkpoints []int
	Part        *Part // of the experiment that the run belongs to; nil for other runs

	// Allow names addresses that the user allows with this launch, in the form that [consent.Named] reads; see mayCall.
	Allow []string
	// Trusted says that the file is the user's own. It may call this machine without further consent.
	Trusted bool
	// Results names a database with results of runs, in addition to those of Remote and of the settings; see
	// [config.Database.Target].
	Results string

	// Watch, if set, receives every session that ended. It is called from many goroutines; see [scenario.Program.Watch].
	Watch func(*chain.Report)
	// Tracer, if set, receives every exchange with a service. It is meant for runs with few sessions.
	Tracer engine.Tracer
	// Log, if set, receives the events of the run: its start and end, and a line for each failed session, each completed
	// chain and each cycle.
	Log *slog.Logger
	// Telemetry is where metrics and traces go; the zero value sends nothing.
	Telemetry telemetry.Receivers
	// Place is the place in the queue of the store; the zero value is at the end. Waiting receives the name of the process that holds
	// the store while the run waits for it.
	Place   queue.Entry
	Waiting func(holder string)
	// EarlierRuns finds the run that the forecast is based on; nil searches the store.
	EarlierRuns *EarlierRuns
	// Cores is the number of cores that the forecast assumes; 0 means the cores of this machine.
	Cores int
	// Host samples the machine; nil samples this machine.
	Host func() engine.HostMetrics
	// Window, if set, returns the CPU time that the drawing goroutine has used.
	Window func() time.Duration
	// Crashed, if set, receives a panic outside of sessions; see [run.Hooks].
	Crashed func(run engine.RunID, value any, stack []byte)
	// Crew executes the sessions in other processes; nil executes them in this one.
	Crew Crew
	// Writing receives the progress while a model writes the population, one call at a time.
	Writing func(done, total int)
}

// Part makes a run a part of an experiment. The caller has the turn in the store, see [sqlite.Store.Turn], and may have several such
// runs in progress. Such a run has no forecast of its own.
type Part struct {
	engine.Membership
	Budget *engine.Ledger // of the whole experiment; nil if it has none
}

// Job is a run with everything that was assembled for it.
type Job struct {
	Run     *run.Run
	Program *scenario.Program
	Record  engine.RunRecord
	Origin  string     // of a fork: the run that it continues
	Agents  int        // active in the run
	Shop    *mock.Shop // nil if no service is the mock shop
	Model   *mock.Model
	APIs    mocks.APIs         // mocks of OpenAPI documents
	Target  string             // remote database for results; "" if there is none
	Written *WrittenPopulation // nil if no model writes the population
	Orders  control.Job        // receives orders for the run

	pools    []*service.Postgres
	services []engine.Service // in the order of the scenario
	clients  *clients.Monitor // nil without pools
	undo     []func() error
	single   bool // model calls are not sent in batches

	ledger  *engine.Ledger      // pays for the written population
	writing time.Duration       // spent on writing the population
	records []engine.StepRecord // of the model calls for the population
}

// Close waits until the run has ended and releases everything in reverse order.
func (j *Job) Close() error {
	if j.Run != nil {
		<-j.Run.Done()
	}
	var errs []error
	for _, f := range slices.Backward(j.undo) {
		errs = append(errs, f())
	}
	j.undo = nil
	return errors.Join(errs...)
}

func (j *Job) onClose(f func() error) { j.undo = append(j.undo, f) }

// afterClose registers f to be called after everything that is registered now.
func (j *Job) afterClose(f func() error) { j.undo = slices.Insert(j.undo, 0, f) }

// Start assembles a run and starts it. Mistakes in the launch are *engine.FieldError.
func (l Launch) Start(ctx context.Context) (job *Job, err error) {
	if err := l.CheckCrew(); err != nil && l.Crew != nil {
		return nil, err
	}
	l, recording, err := l.replaying(ctx)
	if err != nil {
		return nil, err
	}
	j := &Job{Program: l.Scenario.Program(l.Settings.Seed), ledger: engine.NewLedger(l.Settings.Budget)}
	if l.Part != nil {
		j.ledger.Whole = l.Part.Budget
	}
	j.Program.Watch(l.Watch)
	defer func() {
		if err != nil {
			err = errors.Join(err, j.Close())
		}
	}()
	o, err := l.external(ctx, j, recording)
	if err != nil {
		return nil, err
	}
	chosen, err := j.Program.Active(ctx, &l.Settings)
	if err != nil {
		return nil, err
	}
	if j.Agents = l.Scenario.Agents; chosen != nil {
		j.Agents = len(chosen)
	}
	res, err := l.assembly().claim(ctx, j, run.Planned(&l.Settings, l.Scenario.Agents, chosen, l.first()))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(l.assembly().send(ctx, j), o.connect(j)); err != nil {
		return nil, err
	}
	if len(j.pools) > 0 {
		j.clients = clients.Start(ctx, j.pools, func(at string) int { return l.assembly().sinkAt(j, at) })
		j.onClose(func() error { j.clients.Stop(); return nil })
	}
	move, err := l.assembly().lastMove(ctx, j)
	if err != nil {
		return nil, err
	}
	journal, err := l.Store.Journal(j.Record.ID)
	if err != nil {
		return nil, err
	}
	j.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		return journal.Close(ctx)
	})
	content, err := l.assembly().keepContent(ctx, j)
	if err != nil {
		return nil, err
	}
	governor, err := govern.New(l.Settings.Steering, govern.Options{})
	if err != nil {
		return nil, err
	}
	sender, err := l.assembly().sender(j)
	if err != nil {
		return nil, err
	}
	mismatch, err := l.assembly().storeMismatch(ctx, j, res)
	if err != nil {
		return nil, err
	}
	pool, err := l.assembly().pool(ctx, j)
	if err != nil {
		return nil, err
	}
	probe := l.assembly().probe(j)
	probe.Stored = journal.Stored
	log := l.assembly().logOf(j)
	events := runlog.New(log)
	events.Start(&j.Record, j.Agents, j.Target, &l.Settings)
	j.Run, err = run.Start(ctx, run.Config{
		Recording:    o.recording,
		ID:           j.Record.ID,
		Program:      j.Program,
		Agents:       l.Scenario.Agents,
		Chosen:       chosen,
		Clock:        l.Scenario.Clock,
		Success:      l.Scenario.Success,
		Settings:     l.Settings,
		First:        j.Record.ForkCycle,
		Checkpoints:  l.Checkpoints,
		Lineage:      lineage(ctx, l.Store, &j.Record),
		Journal:      runlog.Journal(journal, log, j.Program.AgentID, l.Scenario.Chain.Name),
		Resume:       res,
		Probe:        probe,
		Governor:     governor,
		Services:     j.services,
		Inexact:      cmp.Or(inexactBecause(j, l.Settings.Mock), mismatch),
		Unpriced:     o.unpriced,
		Pool:         pool,
		MemoryBudget: l.assembly().memoryBudget(j),

		Descriptions: run.Descriptions{Name: j.Program.AgentID, Purpose: j.Program.Purpose(), Where: j.Program.Where(), Survey: view.IsSurvey(&j.Record)},
		Prior:        run.Prior{Kept: j.Record.Kept, Move: move, Ledger: j.ledger, PopulationCalls: j.records, PopulationTook: j.writing},
		Hooks: run.Hooks{
			Barrier: l.assembly().barrier(j),
			Mock:    j.mockBytes,
			Tracer:  l.Tracer,
			Content: content,
			Trail:   sender.Trail(),
			Crashed: l.assembly().crashed(j.Record.ID),
		},
	})
	if err != nil {
		return nil, err
	}
	j.onClose(events.Follow(j.Run))
	l.assembly().startTelemetry(j, sender)
	l.assembly().serveControl(j)
	l.assembly().stayAwake(j)
	return j, nil
}

// keepContent opens what keeps the prompts, requests and answers of the run; nil if the settings keep none. A scenario with private
// answers keeps none either, because later requests may contain them.
func (l assembly) keepContent(ctx context.Context, j *Job) (engine.ContentKeeper, error) {
	if l.Settings.KeepContent <= 0 || len(l.Scenario.Chain.Private()) > 0 {
		return nil, nil //nolint:nilnil // keeps nothing
	}
	c, err := l.Store.KeepContent(ctx, j.Record.ID, l.Settings.KeepContent, secrets.RedactExchange)
	if err != nil {
		return nil, err
	}
	j.onClose(c.Close)
	return c, nil
}

// logOf returns the log of the run's events.
func (l assembly) logOf(j *Job) *slog.Logger {
	if l.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l.Log.With("run", string(j.Record.ID))
}

// external holds the checked services of a run before they are connected.
type external struct {
	unpriced  []string // models without a known price
	recording engine.Recording
	connect   func(*Job) error
}

// external checks the services of a run and lets a model write the population if the scenario says so. A replay sends no
// requests and needs no checks.
func (l *Launch) external(ctx context.Context, j *Job, recording *sqlite.Recording) (o external, err error) {
	if recording != nil {
		for _, s := range l.Scenario.Services {
			s.Models = l.models(s)
		}
		o.recording, o.connect = recording, l.disconnect
		return o, errors.Join(l.Settings.Validate(), l.Scenario.Clock.Check(&l.Settings), j.Program.Check())
	}
	o.unpriced, err = l.unpriced()
	if err := errors.Join(err, l.Settings.Validate(), l.Scenario.Clock.Check(&l.Settings), l.checkRecord(), l.Permits().checkHosts(), l.checkStandIn(), l.checkMock(), j.Program.Check(),
		engine.CheckPriced(l.Settings.Budget, o.unpriced), l.checkFork()); err != nil {
		return o, err
	}
	bearers, err := l.unlock()
	if err != nil {
		return o, err
	}
	if l.Settings.Services, err = l.nameModels(paidFrom(ctx, j.ledger), bearers); err != nil {
		return o, err
	}
	if o.unpriced, err = l.unpriced(); err != nil { // again, with the models that the services have
		return o, err
	}
	if err := engine.CheckPriced(l.Settings.Budget, o.unpriced); err != nil {
		return o, err
	}
	if err := l.InheritPersonas(); err != nil {
		return o, err
	}
	services.Trace(l.services(), l.Scenario.Chain, l.Telemetry.Sending.TakesContent())
	o.connect = func(j *Job) error { return l.connect(j, bearers, l.services()) }
	return o, l.Population().write(ctx, j, bearers)
}

// crashed returns the function that receives a panic of the run; nil if there is none.
func (l assembly) crashed(run engine.RunID) func(any, []byte) {
	if l.Crashed == nil {
		return nil
	}
	return func(value any, stack []byte) { l.Crashed(run, value, stack) }
}

// barrier returns the function that runs after each cycle: it syncs the mock shop's log, which makes the cycle as durable
// there as in the journal, and sends the cycle's rows.
func (l assembly) barrier(j *Job) func(int) {
	return func(int) {
		if j.Target != "" {
			l.Remote.Nudge()
		}
		err := j.APIs.Sync()
		if j.Shop != nil {
			err = errors.Join(err, j.Shop.Sync())
		}
		if err != nil {
			slog.Warn("the mock shop's log may lose its end in a power cut", "run", j.Record.ID, "error", err)
		}
	}
}

// send starts sending the run's results if the settings say so. Without a configured database, they stay in the store.
func (l assembly) send(ctx context.Context, j *Job) error {
	if !l.Settings.Remote || l.Remote == nil || l.Remote.Target() == "" {
		return nil
	}
	j.Target = l.Remote.Target()
	j.onClose(func() error { l.Remote.Nudge(); return nil })
	return l.Remote.Send(ctx, j.Record.ID)
}

// claim locks the run for this process, and returns its state if the run is resumed or forked.
func (l assembly) claim(ctx context.Context, j *Job, planned int64) (*engine.Resumption, error) {
	if l.Resume == "" {
		j.Record = engine.RunRecord{
			ID:       runid.New(time.Now()),
			Title:    l.Scenario.Title,
			Marks:    engine.Marks{Name: l.Name},
			Source:   sourceOf(l.Scenario),
			Settings: l.Settings,
			Created:  time.Now(),
			Cycles:   l.Settings.Cycles,
			Total:    planned,
		}
		if l.Part != nil {
			j.Record.Membership = l.Part.Membership
		} else if l.Settings.Replay == "" { // a replay depends on this machine only
			j.Record.Forecast = l.forecast(ctx, j, Workload{j.Agents, planned})
		}
		if err := l.create(ctx, &j.Record); err != nil {
			return nil, err
		}
	} else {
		record, err := l.Store.Run(ctx, l.Resume)
		if err != nil {
			return nil, err
		}
		if record.InProgress { // waiting would last until its end
			return nil, fmt.Errorf("run %s: %w; throngctl status shows it, and throngctl set, pause and stop steer it", record.ID, engine.ErrInUse)
		}
		if record.Fetched != nil {
			return nil, review.ErrFetched(&record, "it can be resumed only where it was made")
		}
		record.Source = l.Scenario.Source // equal; keeps one copy in memory
		j.Record = record
	}
	release, err := l.lock(ctx, j.Record.ID)
	if err != nil {
		if l.Resume == "" { // it never began
			err = errors.Join(err, retention.Delete(context.WithoutCancel(ctx), l.Store, l.shopFolder(), j.Record.ID))
		}
		return nil, err
	}
	j.onClose(func() error { release(); return nil })
	j.Origin = Origin(ctx, l.Store, &j.Record)
	switch {
	case l.Fork != nil:
		return l.Store.Resume(ctx, j.Record.ID)
	case l.Resume == "":
		return nil, nil //nolint:nilnil // a new run resumes nothing
	}
	res, err := l.Store.Resume(ctx, j.Record.ID)
	if err != nil {
		return nil, err
	}
	if err := l.checkResumeBudget(ctx, &j.Record, res); err != nil {
		return nil, err
	}
	// A run that was killed between its last barrier and its end still has to finish.
	switch n := l.Settings.Cycles; {
	case n > 0 && res.Cycle > n:
		return nil, &engine.FieldError{
			Field: "cycles", Problem: fmt.Sprintf("run %s has already completed %d cycles, more than %d", j.Record.ID, res.Cycle, n), Hint: "choose more cycles",
		}
	case n > 0 && res.Cycle == n && j.Record.Ending != engine.NotEnded:
		return nil, &engine.FieldError{
			Field: "run", Problem: fmt.Sprintf("%s has completed all its %d cycles", j.Record.ID, n),
			Hint: fmt.Sprintf("extend it, for example with --cycles %d", 2*n),
		}
	case n == 0 && j.Record.AllDone() && l.Settings.Hours <= j.Record.Settings.Hours:
		return nil, &engine.FieldError{
			Field: "run", Problem: fmt.Sprintf("%s has completed all its %g hours", j.Record.ID, l.Settings.Hours),
			Hint: fmt.Sprintf("extend it, for example with --hours %g", 2*j.Record.Settings.Hours),
		}
	}
	return res, l.Store.Adjust(ctx, j.Record.ID, l.Settings)
}

// lock claims the run, after its turn.
func (l assembly) lock(ctx context.Context, run engine.RunID) (release func(), err error) {
	if l.Part != nil {
		return l.Store.Claim(ctx, run)
	}
	l.Place.Run, l.Place.Work = run, fmt.Sprintf("run %s (%s)", run, cmp.Or(l.Name, l.Scenario.Title))
	return l.Store.ClaimWait(ctx, run, l.Place, l.Waiting)
}

// WaitFor waits for the start time of a launch, in the queue of the store. It keeps the machine awake if the run would.
func (l *Launch) WaitFor(ctx context.Context, at time.Time, start <-chan struct{}) error {
	l.Place.Work = cmp.Or(l.Name, l.Scenario.Title)
	c := schedule.Countdown{At: at, Start: start, Queue: queue.Of(l.Data, slog.Default()), Entry: &l.Place}
	if l.Settings.KeepAwake {
		c.Awake = l.Scenario.Title + " starts at " + at.Format(time.TimeOnly)
	}
	_, err := c.Wait(ctx)
	return err
}
