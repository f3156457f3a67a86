// Package app builds a run out of its parts and takes it apart again, in reverse: the store, the mock, the
// services, the journal and the engine. The programs and the end-to-end tests share it.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/internal/app/runlog"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/govern"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/storage/sqlite"
)

// flushTime is how long the end of a run waits for a disk that cannot be written.
const flushTime = 10 * time.Second

// Launch is what a run is built from.
type Launch struct {
	Store    *sqlite.Store
	Data     string // the data folder
	Scratch  string // where the mock keeps its log; "" is the data folder
	Scenario *scenario.Scenario
	Settings engine.Settings
	Remote   *remote.Sender // nil sends nothing
	Resume   engine.RunID   // "" starts a new run; else Scenario and the seed must be the run's own
	Fork     *Parent        // where a new run begins that is a fork; nil is at the beginning

	// Allow names the addresses that the person allows with this launch, as [consent.Named] reads them; see mayCall.
	Allow []string
	// Trusted says that the file is known to be the person's own, so that it may call this machine without being asked about.
	Trusted bool
	// Results is a database that holds results of runs beside the one of Remote and of the settings, as Target writes it.
	Results string

	Secrets secrets.Finder
	// OnRequest, if set, hears of every request to the mock, before its answer leaves.
	OnRequest func(mock.Request)
	// Witness hears of every attempt at a request to any service.
	Witness service.Witness
	// Watch, if set, is told of every session that ended, from many goroutines; see [scenario.Program.Watch].
	Watch func(*chain.Report)
	// Tracer, if set, hears of every exchange with a service: for runs of few sessions.
	Tracer engine.Tracer
	// Log, if set, has what happens to the run, from its start to its end, with a line for each session that failed, each
	// chain that was completed and each cycle.
	Log *slog.Logger
	// Tell is where others are told of the run; the zero value is nowhere.
	Tell Tell
	// Waiting is told who holds the store while the run stands in line.
	Waiting func(holder string)
	// Past finds the earlier run that the forecast goes by; nil looks anew.
	Past *Past
	// Cores is how many the forecast takes the machine to have; 0 is as many as it has.
	Cores int
	// Host samples the machine; nil is the one that this is.
	Host func() engine.HostMetrics
	// Window, if set, tells the CPU time so far of the goroutine that draws.
	Window func() time.Duration
	// Crashed, if set, hears of a panic outside of sessions; see [engine.Config.Crashed].
	Crashed func(run engine.RunID, value any, stack []byte)
	// Writing is told how far it is while a model writes the population; one call at a time.
	Writing func(done, total int)
}

// Job is a run with everything that was built for it.
type Job struct {
	Run     *run.Run
	Program *scenario.Program
	Record  engine.RunRecord
	Agents  int        // how many take part
	Shop    *mock.Shop // nil where no service is the mock's
	Model   *mock.Model
	Target  string      // the remote database that results go to; "" is none
	Written *Written    // nil where this launch had no population written
	Orders  control.Job // what takes orders for the run

	pools    []*service.Postgres
	services []engine.Service // in the order of the scenario
	census   *census          // nil without pools
	undo     []func() error

	ledger  *engine.Ledger      // that the population was written on
	writing time.Duration       // that took
	records []engine.StepRecord // of the calls for it
}

// Close waits until the run has ended and takes everything apart.
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

// onceClosed has f called when all that is there now is taken apart.
func (j *Job) onceClosed(f func() error) { j.undo = slices.Insert(j.undo, 0, f) }

// NewRunID returns a name for a run that sorts by its time.
func NewRunID(now time.Time) engine.RunID {
	return engine.RunID(now.UTC().Format("20060102-150405-") + randomLetters(4))
}

// Start builds a run and starts it. Mistakes in the launch are *engine.FieldError.
func (l Launch) Start(ctx context.Context) (job *Job, err error) {
	l, recording, err := l.replaying(ctx)
	if err != nil {
		return nil, err
	}
	j := &Job{Program: l.Scenario.Program(l.Settings.Seed), ledger: engine.NewLedger(l.Settings.Budget)}
	j.Program.Watch(l.Watch)
	defer func() {
		if err != nil {
			err = errors.Join(err, j.Close())
		}
	}()
	o, err := l.outside(ctx, j, recording)
	if err != nil {
		return nil, err
	}
	chosen, err := j.Program.Choose(ctx, &l.Settings)
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
		j.census = startCensus(ctx, j.pools, func(at string) int { return l.assembly().sinkAt(j, at) })
		j.onClose(func() error { j.census.Stop(); return nil })
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
	governor, err := govern.New(l.Settings.Steering(), govern.Options{})
	if err != nil {
		return nil, err
	}
	sender, err := l.assembly().sender(j)
	if err != nil {
		return nil, err
	}
	parted, err := l.assembly().parted(ctx, j, res)
	if err != nil {
		return nil, err
	}
	probe := l.assembly().probe(j)
	probe.Stored = journal.Stored
	log := l.assembly().logOf(j)
	kept := runlog.New(log)
	kept.Start(&j.Record, j.Agents, j.Target, &l.Settings)
	j.Run, err = run.Start(ctx, run.Config{
		Recording: o.recording,
		ID:        j.Record.ID,
		Program:   j.Program,
		Agents:    l.Scenario.Agents,
		Chosen:    chosen,
		Name:      j.Program.AgentID,
		Clock:     l.Scenario.Clock,
		Success:   l.Scenario.Success,
		Settings:  l.Settings,
		First:     j.Record.ForkCycle,
		Lineage:   lineage(ctx, l.Store, &j.Record),
		Journal:   runlog.Journal(journal, log, j.Program.AgentID, l.Scenario.Chain.Name),
		Resume:    res,
		Probe:     probe,
		Governor:  governor,
		Services:  j.services,
		Purpose:   j.Program.Purpose(),
		Where:     j.Program.Where(),
		Inexact:   cmp.Or(inexactBecause(j, l.Settings.Mock), parted),
		Unpriced:  o.unpriced,
		Ledger:    j.ledger,
		Written:   j.records,
		Before:    j.writing,
		Barrier:   l.assembly().barrier(j),
		Mock:      j.mockBytes,

		MemoryBudget: l.assembly().memoryBudget(),
		Tracer:       l.Tracer,
		Trail:        sender.Trail(),
		Crashed:      l.assembly().crashed(j.Record.ID),
	})
	if err != nil {
		return nil, err
	}
	j.onClose(kept.Follow(j.Run))
	l.assembly().tell(j, sender)
	l.assembly().takeOrders(j)
	l.assembly().stayAwake(j)
	return j, nil
}

// logOf is the log of what happens to the run.
func (l assembly) logOf(j *Job) *slog.Logger {
	if l.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l.Log.With("run", string(j.Record.ID))
}

// outside is what a run asks, before it is connected.
type outside struct {
	unpriced  []string // models
	recording engine.Recording
	connect   func(*Job) error
}

// outside checks what a run asks, and has its population written. A replay asks nobody, so that nothing is to be checked.
func (l *Launch) outside(ctx context.Context, j *Job, recording *sqlite.Recording) (o outside, err error) {
	if recording != nil {
		for _, s := range l.Scenario.Services {
			s.Models = l.Services().models(s)
		}
		o.recording, o.connect = recording, l.Services().disconnect
		return o, errors.Join(l.Settings.Validate(), j.Program.Check())
	}
	o.unpriced, err = l.Services().unpriced()
	if err := errors.Join(err, l.Settings.Validate(), l.checkRecord(), l.Permits().checkHosts(), l.Services().checkStandIn(), l.Services().checkMock(), j.Program.Check(),
		engine.CheckPriced(l.Settings.Budget, o.unpriced), l.checkFork()); err != nil {
		return o, err
	}
	bearers, err := l.Services().unlock()
	if err != nil {
		return o, err
	}
	if l.Settings.Services, err = l.Services().nameModels(paidFrom(ctx, j.ledger), bearers); err != nil {
		return o, err
	}
	if o.unpriced, err = l.Services().unpriced(); err != nil { // with the models that were found out
		return o, err
	}
	if err := engine.CheckPriced(l.Settings.Budget, o.unpriced); err != nil {
		return o, err
	}
	if err := l.Inherit(); err != nil {
		return o, err
	}
	o.connect = func(j *Job) error { return l.Services().connect(j, bearers, l.Services().services()) }
	return o, l.Population().write(ctx, j, bearers)
}

// crashed is what hears of a panic of the run; nil where nobody wants to.
func (l assembly) crashed(run engine.RunID) func(any, []byte) {
	if l.Crashed == nil {
		return nil
	}
	return func(value any, stack []byte) { l.Crashed(run, value, stack) }
}

// barrier has the mock keep a cycle as durably as the journal does, and sends the cycle's rows.
func (l assembly) barrier(j *Job) func(int) {
	return func(int) {
		if j.Target != "" {
			l.Remote.Nudge()
		}
		if j.Shop == nil {
			return
		}
		if err := j.Shop.Sync(); err != nil {
			slog.Warn("the mock shop's log may lose its end in a power cut", "run", j.Record.ID, "error", err)
		}
	}
}

// send has the run's results sent, if they are to be. Where no database is configured now they stay in the store.
func (l assembly) send(ctx context.Context, j *Job) error {
	if !l.Settings.Remote || l.Remote == nil || l.Remote.Target() == "" {
		return nil
	}
	j.Target = l.Remote.Target()
	j.onClose(func() error { l.Remote.Nudge(); return nil })
	return l.Remote.Send(ctx, j.Record.ID)
}

// claim makes this process the one that works on the run, and finds out where it goes on.
func (l assembly) claim(ctx context.Context, j *Job, planned int64) (*engine.Resumption, error) {
	if l.Resume == "" {
		j.Record = engine.RunRecord{
			ID:       NewRunID(time.Now()),
			Title:    l.Scenario.Title,
			Source:   l.Scenario.Source,
			Settings: l.Settings,
			Created:  time.Now(),
			Cycles:   l.Settings.Cycles,
			Total:    planned,
		}
		if l.Settings.Replay == "" { // whose time is nobody's but this machine's
			j.Record.Forecast = l.foresee(ctx, j, Crowd{j.Agents, planned})
		}
		if err := l.create(ctx, &j.Record); err != nil {
			return nil, err
		}
	} else {
		record, err := l.Store.Run(ctx, l.Resume)
		if err != nil {
			return nil, err
		}
		if record.InProgress { // waiting for it would be waiting for its end
			return nil, fmt.Errorf("run %s: %w; throngctl status shows it, and throngctl set, pause and stop steer it", record.ID, engine.ErrInUse)
		}
		if record.Fetched != nil {
			return nil, review.ErrFetched(&record, "it may go on where it was made, and a run goes on in one place only")
		}
		record.Source = l.Scenario.Source // the same, and in memory once
		j.Record = record
	}
	wait := l.Waiting
	if wait == nil {
		wait = func(string) {}
	}
	release, err := l.Store.ClaimWait(ctx, j.Record.ID, wait)
	if err != nil {
		if l.Resume == "" { // it never began
			err = errors.Join(err, retention.Delete(context.WithoutCancel(ctx), l.Store, l.Services().shopFolder(), j.Record.ID))
		}
		return nil, err
	}
	j.onClose(func() error { release(); return nil })
	switch {
	case l.Fork != nil:
		return l.Store.Resume(ctx, j.Record.ID)
	case l.Resume == "":
		return nil, nil //nolint:nilnil // a new run goes on from nowhere
	}
	res, err := l.Store.Resume(ctx, j.Record.ID)
	if err != nil {
		return nil, err
	}
	if err := l.checkGoOn(ctx, &j.Record, res); err != nil {
		return nil, err
	}
	// One that was killed between its last barrier and its end has that end still to come.
	switch n := l.Settings.Cycles; {
	case n > 0 && res.Cycle > n:
		return nil, &engine.FieldError{
			Field: "cycles", Problem: fmt.Sprintf("run %s has done %d cycles already, which is more than %d", j.Record.ID, res.Cycle, n), Hint: "a greater length",
		}
	case n > 0 && res.Cycle == n && j.Record.Ending != engine.NotEnded:
		return nil, &engine.FieldError{
			Field: "run", Problem: fmt.Sprintf("%s has done all its %d cycles", j.Record.ID, n),
			Hint: fmt.Sprintf("--cycles %d, or another greater length, makes it longer", 2*n),
		}
	case n == 0 && j.Record.AllDone() && l.Settings.Hours <= j.Record.Settings.Hours:
		return nil, &engine.FieldError{
			Field: "run", Problem: fmt.Sprintf("%s has done all its %g hours", j.Record.ID, l.Settings.Hours),
			Hint: fmt.Sprintf("--hours %g, or another greater length, makes it longer", 2*j.Record.Settings.Hours),
		}
	}
	return res, l.Store.Adjust(ctx, j.Record.ID, l.Settings)
}

// address is where a service is, with the user's replacement if there is one.
func (l Services) address(s *chain.Service) string { return services.Address(&l.Settings, s) }

// CheckAddresses finds services that do not exist, and addresses that are none. Those of databases may be secrets: they
// are looked at when a run starts.
func (l Services) CheckAddresses() error {
	var mistakes []error
	for name := range l.Settings.Services {
		if !slices.ContainsFunc(l.Scenario.Services, func(s *chain.Service) bool { return s.Name == name }) {
			mistakes = append(mistakes, &engine.FieldError{Field: "service", Problem: "the scenario has no service " + name})
		}
	}
	for _, s := range l.Scenario.Services {
		address := l.address(s)
		if s.Postgres != nil || strings.HasPrefix(address, scenario.Mock) {
			continue
		}
		if _, err := service.CheckAddress(address); err != nil {
			mistakes = append(mistakes, &engine.FieldError{Field: "service " + s.Name, Problem: err.Error()})
		}
	}
	return errors.Join(mistakes...)
}

// checkHosts finds addresses that cannot be called, and those that nobody allowed.
func (l Permits) checkHosts() error {
	mistakes := []error{l.CheckAddresses()}
	for _, s := range l.Scenario.Services {
		if s.Postgres != nil {
			_, _, err := l.database(s)
			mistakes = append(mistakes, err)
		}
	}
	return errors.Join(append(mistakes, l.Consent())...)
}

func (l Services) checkMock() error {
	_, err := ParseMock(l.Settings.Mock)
	return err
}

// unlock gives every service its secrets; that of a bearer token by the service's name. The mock needs none.
func (l Services) unlock() (bearers map[string]string, err error) {
	bearers = map[string]string{}
	var mistakes []error
	for _, s := range l.Scenario.Services {
		if s.Postgres != nil { // with its pool
			continue
		}
		if strings.HasPrefix(l.address(s), scenario.Mock) {
			s.Unlock(nil)
			continue
		}
		bearer, others, err := l.Secrets.Of(s)
		mistakes = append(mistakes, err)
		bearers[s.Name] = bearer
		s.Unlock(others)
	}
	return bearers, errors.Join(mistakes...)
}
