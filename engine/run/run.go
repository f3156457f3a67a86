package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/alarm"
)

// Config is what a run is made of.
type Config struct {
	ID      engine.RunID
	Program engine.Program
	Agents  int   // size of the population
	Chosen  []int // indexes of those that take part, ascending; nil is all
	// Name, if set, returns what an agent is called, for people. It must not wait.
	Name     func(index int) (string, error)
	Clock    engine.Clock
	Success  []engine.Criterion
	Settings engine.Settings
	First    int                // its first cycle; 0 but for a fork
	Lineage  []engine.RunID     // the runs that it was forked from, whose session ids its agents may remember
	Journal  engine.Journal     // nil is Discard
	Resume   *engine.Resumption // nil starts from the beginning
	// Recording, if set, answers in place of the services.
	Recording engine.Recording
	Probe     engine.Probe
	// Inexact says why the result depends on timing from the start; "" is that it does not.
	Inexact string
	// Governor steers the limit; nil leaves it to people.
	Governor engine.Governor
	// Where, if set, returns the file and line at which a step is defined, such as shop.yaml:12; "" is not known. It is
	// asked with paths without iterations.
	Where func(step string) string
	// Services are what the sessions ask.
	Services []engine.Service
	// Purpose, if set, tells what the time of a step is for; nil takes all for the services'. It is asked with paths
	// without iterations.
	Purpose func(step string) engine.Purpose
	// Ledger, if set, has what the run took before it began; nil begins with nothing. Written are the calls among that which
	// had its population written. Before is how long that took: part of what a budget of time bounds, after a resume too.
	Ledger  *engine.Ledger
	Written []engine.StepRecord
	Before  time.Duration
	// Unpriced are models whose price nobody knows: with one of them a budget of money is a mistake.
	Unpriced []string
	// Tracer, if set, hears of every exchange with a service: for runs of few sessions.
	Tracer engine.Tracer
	// Trail, if set, hears of every session that ended, but for those that were cut; many workers call it, and each goes
	// on when it returns.
	Trail func(t *engine.Trail)
	// Barrier, if set, is told of every cycle that closed, before the next begins.
	Barrier func(cycle int)
	// Pool, if set, makes the pool that executes the sessions; nil executes them in this process.
	Pool func(cfg PoolConfig) (WorkerPool, error)
	// MemoryBudget is how many bytes large answers in flight and what agents remember may take; 0 is no bound.
	MemoryBudget int64
	// Mock, if set, returns how many bytes the log of the mock shop has.
	Mock func() int64
	// Crashed, if set, hears of a panic in a goroutine of the run outside of sessions, after a checkpoint was tried. It
	// should end the program: the run can be resumed, not gone on with. Nil lets a panic take its course.
	Crashed func(value any, stack []byte)
}

func (c *Config) validate() error {
	var mistakes []error
	if c.Agents < 0 {
		mistakes = append(mistakes, &engine.FieldError{Field: "agents", Problem: fmt.Sprintf("a population of %d", c.Agents), Hint: "0 or more"})
	}
	if c.Agents > math.MaxInt32 {
		mistakes = append(mistakes, &engine.FieldError{Field: "agents", Problem: fmt.Sprintf("a population of %d", c.Agents), Hint: fmt.Sprintf("at most %d", math.MaxInt32)})
	}
	last := -1
	for _, a := range c.Chosen {
		if a <= last || a >= c.Agents {
			mistakes = append(mistakes, &engine.FieldError{Field: "agents", Problem: fmt.Sprintf("index %d after %d in a population of %d", a, last, c.Agents), Hint: "ascending"})
			break
		}
		last = a
	}
	return errors.Join(append(mistakes, c.Settings.Validate(), engine.CheckPriced(c.Settings.Budget, c.Unpriced))...)
}

// Run is one execution of a scenario. Its methods are safe for concurrent use; orders go to the loop, which owns the
// run's state.
type Run struct {
	id       engine.RunID
	settings atomic.Pointer[engine.Settings] // in force; each is never changed, the loop puts another in its place
	journal  engine.Journal
	services []engine.Service
	answers  engine.Recording // nil asks services
	lineage  []engine.RunID
	name     func(index int) (string, error) // may be nil

	ledger   *engine.Ledger
	unpriced []string
	orders   chan func(*node)
	crashed  func(value any, stack []byte)
	done     chan struct{} // closed when the loop has ended
	shown    atomic.Pointer[engine.Snapshot]

	pool WorkerPool
	// Written by the node only while no worker is at work, read by workers.
	memory   map[int]*engine.Memory
	injected []engine.Injection // by hand, in the order of their cycles

	ctx        context.Context // of sessions; ends with ErrCut
	shared     shared
	traces     traces
	attendance attendance
	doubts     doubts
	alarm      alarm.Alarm

	result Result // set before done is closed
}

// Result is how a run ended.
type Result struct {
	Ending  engine.Ending
	Reason  string
	Totals  engine.Totals
	Verdict []engine.Judgement
}

// Passed reports whether the run finished and met all its criteria, and not all of its sessions failed.
func (r *Result) Passed() bool {
	if r.Totals.AllFailed() {
		return false
	}
	for _, j := range r.Verdict {
		if !j.Passed && !j.Unknown {
			return false
		}
	}
	return r.Ending == engine.EndFinished
}

// Start begins a run; one in which nobody takes part is over at once. It ends by itself, by Stop, or, cut short, when ctx ends. Its errors are mistakes in cfg.
func Start(ctx context.Context, cfg Config) (*Run, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Journal == nil {
		cfg.Journal = engine.Discard
	}
	r := &Run{
		id:         cfg.ID,
		services:   cfg.Services,
		answers:    cfg.Recording,
		lineage:    cfg.Lineage,
		name:       cfg.Name,
		journal:    cfg.Journal,
		ledger:     newLedger(&cfg),
		unpriced:   cfg.Unpriced,
		crashed:    cfg.Crashed,
		orders:     make(chan func(*node)),
		done:       make(chan struct{}),
		memory:     map[int]*engine.Memory{},
		attendance: newAttendance(cfg.Agents),
	}
	r.traces.tracer = cfg.Tracer
	r.settings.Store(&cfg.Settings)
	r.ledger.OnRefused = func(why string) {
		_ = r.tell(spentUp{why})
	}
	n, err := newNode(ctx, r, cfg)
	if err != nil {
		return nil, err
	}
	if r.answers != nil {
		r.shared.known.Answers = r.answers.Shared()
	}
	go n.run(context.AfterFunc(ctx, func() { _ = r.tell(cutOrder{"the program ended"}) }))
	return r, nil
}

// newPool makes the pool that executes the run's sessions.
func (r *Run) newPool(cfg *Config) (WorkerPool, error) {
	of := PoolConfig{
		Program: cfg.Program, Host: localHost{r}, MemoryBudget: cfg.MemoryBudget, Trail: cfg.Trail, Rescue: r.rescue,
		Journal: func(rows engine.SessionRows) { r.journal.Append(rows) },
		Throttled: func(why string) {
			_ = r.tell(noted{engine.ChangeRow{What: engine.MemoryChange, New: "throttled", Who: "memory budget", Why: why}})
		},
	}
	if cfg.Pool != nil {
		return cfg.Pool(of)
	}
	return NewLocalPool(of), nil
}

// ID returns the run's name in the store.
func (r *Run) ID() engine.RunID { return r.id }

// Settings returns the settings in force; they must not be changed.
func (r *Run) Settings() *engine.Settings { return r.settings.Load() }

// Snapshot returns the newest picture of the run; it is never nil and never changes.
func (r *Run) Snapshot() *engine.Snapshot { return r.shown.Load() }

// Done is closed when the run has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait waits until the run has ended.
func (r *Run) Wait() Result {
	<-r.done
	return r.result
}
