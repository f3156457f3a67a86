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

// Config describes a run.
type Config struct {
	ID      engine.RunID
	Program engine.Program
	Agents  int   // size of the population
	Chosen  []int // indexes of the active agents, ascending; nil means all
	// Name, if set, returns the display name of an agent. It must not block.
	Name     func(index int) (string, error)
	Clock    engine.Clock
	Success  []engine.Criterion
	Settings engine.Settings
	First    int                // first cycle; above 0 only for a fork
	Lineage  []engine.RunID     // the runs it was forked from; its agents may remember their session IDs
	Journal  engine.Journal     // nil means Discard
	Resume   *engine.Resumption // nil starts from the beginning
	// Recording, if set, answers in place of the services.
	Recording engine.Recording
	Probe     engine.Probe
	// Inexact says why the result depends on timing from the start. "" means that it does not.
	Inexact string
	// Governor moves the limit; nil leaves it to people.
	Governor engine.Governor
	// Where, if set, returns the file and line that define a step, such as shop.yaml:12, or "" if they are unknown. It
	// receives paths without iterations.
	Where func(step string) string
	// Services are the services that the sessions call.
	Services []engine.Service
	// Purpose, if set, says what a step spends its time on. Nil counts all of it as time of the services. It receives paths
	// without iterations.
	Purpose func(step string) engine.Purpose
	// Ledger, if set, holds what the run used before it began; nil starts at zero. Written are the calls that generated the
	// population; the ledger includes them. Before is how long that took. It counts toward a time budget, also after a
	// resume.
	Ledger          *engine.Ledger
	PopulationCalls []engine.StepRecord
	PopulationTook  time.Duration
	// Unpriced lists models without a known price. With any of them, a budget in money is an error.
	Unpriced []string
	// Tracer, if set, receives every exchange with a service. Use it only for runs with few sessions.
	Tracer engine.Tracer
	// Trail, if set, receives every session that ended, except those that were cut. Workers call it concurrently, and each
	// waits for it to return.
	Trail func(t *engine.Trail)
	// Barrier, if set, is called for every closed cycle before the next one begins.
	Barrier func(cycle int)
	// Pool, if set, creates the pool that executes the sessions; nil executes them in this process.
	Pool func(cfg PoolConfig) (WorkerPool, error)
	// MemoryBudget limits the bytes of large answers in flight and of the agents' memory; 0 means no limit.
	MemoryBudget int64
	// Mock, if set, returns the size of the mock shop's log in bytes.
	Mock func() int64
	// Crashed, if set, is called after a panic in a goroutine of the run that executes no session, once the run has tried
	// to take a checkpoint. It should end the program: the run can only be resumed by another process. If it is nil, the
	// panic ends the program.
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

// Run is one execution of a scenario. Its methods are safe for concurrent use. Orders go to the node, which owns the run's
// state.
type Run struct {
	id        engine.RunID
	settings  atomic.Pointer[engine.Settings] // in force; immutable, the node replaces it
	journal   engine.Journal
	services  []engine.Service
	recording engine.Recording // nil calls the services
	lineage   []engine.RunID
	name      func(index int) (string, error) // may be nil

	ledger   *engine.Ledger
	unpriced []string
	orders   chan func(*node)
	onPanic  func(value any, stack []byte)
	done     chan struct{} // closed when the run has ended
	latest   atomic.Pointer[engine.Snapshot]

	pool WorkerPool
	// The node writes these only while no worker runs. Workers read them.
	memory   map[int]*engine.Memory
	injected []engine.Injection // manual injections, ordered by cycle

	ctx         context.Context // of sessions; canceled with ErrCut
	shared      sharedAnswers
	traces      traces
	agentStates agentStates
	inexact     inexactness
	alarm       alarm.Alarm

	result Result // set before done is closed
}

// Result describes how a run ended.
type Result struct {
	Ending  engine.Ending
	Reason  string
	Totals  engine.Totals
	Verdict []engine.Judgement
}

// Passed reports whether the run finished, met all its criteria, and had at least one session that did not fail.
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

// Start starts a run. The run ends by itself or after Stop, and it is cut when ctx ends. A run without active agents ends
// immediately. Errors are mistakes in cfg, or come from Config.Pool.
func Start(ctx context.Context, cfg Config) (*Run, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Journal == nil {
		cfg.Journal = engine.Discard
	}
	r := &Run{
		id:          cfg.ID,
		services:    cfg.Services,
		recording:   cfg.Recording,
		lineage:     cfg.Lineage,
		name:        cfg.Name,
		journal:     cfg.Journal,
		ledger:      newLedger(&cfg),
		unpriced:    cfg.Unpriced,
		onPanic:     cfg.Crashed,
		orders:      make(chan func(*node)),
		done:        make(chan struct{}),
		memory:      map[int]*engine.Memory{},
		agentStates: newAgentStates(cfg.Agents),
	}
	r.traces.tracer = cfg.Tracer
	r.settings.Store(&cfg.Settings)
	r.ledger.OnRefused = func(why string) {
		_ = r.tell(claimRefused{why})
	}
	n, err := newNode(ctx, r, cfg)
	if err != nil {
		return nil, err
	}
	if r.recording != nil {
		r.shared.known.Answers = r.recording.Shared()
	}
	go n.run(context.AfterFunc(ctx, func() { _ = r.tell(cutOrder{"the program ended"}) }))
	return r, nil
}

// newPool creates the pool that executes the run's sessions.
func (r *Run) newPool(cfg *Config) (WorkerPool, error) {
	of := PoolConfig{
		Program: cfg.Program, Host: localHost{r}, MemoryBudget: cfg.MemoryBudget, Trail: cfg.Trail, Rescue: r.rescue,
		Journal: func(rows engine.SessionRows) { r.journal.Append(rows) },
		Throttled: func(why string) {
			_ = r.tell(changeNoted{engine.ChangeRow{What: engine.MemoryChange, New: "throttled", Who: "memory budget", Why: why}})
		},
	}
	if cfg.Pool != nil {
		return cfg.Pool(of)
	}
	return NewLocalPool(of), nil
}

// ID returns the run's ID in the store.
func (r *Run) ID() engine.RunID { return r.id }

// Settings returns the settings in force. The caller must not change them.
func (r *Run) Settings() *engine.Settings { return r.settings.Load() }

// Snapshot returns the newest snapshot. It is never nil and never changes.
func (r *Run) Snapshot() *engine.Snapshot { return r.latest.Load() }

// Done returns a channel that is closed when the run has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait waits until the run has ended and returns its result.
func (r *Run) Wait() Result {
	<-r.done
	return r.result
}
