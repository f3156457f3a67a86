package run

import (
	"context"
	"sync/atomic"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/alarm"
	"github.com/throng-sim/throng/engine/memories"
)

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
	onPanic  func(value any, stack []byte)
	latest   atomic.Pointer[engine.Snapshot]

	mail mailbox
	pool WorkerPool
	// The node writes these only while no worker runs. Workers read them.
	memory   *memories.Table
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
	Verdict []engine.Judgment
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
		mail:        newMailbox(),
		agentStates: newAgentStates(cfg.Agents),
	}
	r.traces.tracer, r.traces.content = cfg.Tracer, cfg.Content
	r.settings.Store(&cfg.Settings)
	r.ledger.OnRefused = func(why string) {
		_ = r.mail.send(claimRefused{why})
	}
	n, err := newNode(ctx, r, cfg)
	if err != nil {
		return nil, err
	}
	if r.recording != nil {
		r.shared.known.Answers = r.recording.Shared()
	}
	go n.run(context.AfterFunc(ctx, func() { _ = r.mail.send(cutOrder{"the program ended"}) }))
	return r, nil
}

// newPool creates the pool that executes the run's sessions.
func (r *Run) newPool(cfg *Config) (WorkerPool, error) {
	of := PoolConfig{
		Program: cfg.Program, Host: localHost{r}, Agents: cfg.Agents, MemoryBudget: cfg.MemoryBudget, Trail: cfg.Trail, Rescue: r.rescue,
		Journal: func(rows engine.SessionRows) { r.journal.Append(rows) },
		Note:    func(row engine.ChangeRow) { go func() { _ = r.mail.send(changeNoted{row}) }() },
	}
	of.Throttled = func(why string) {
		of.Note(engine.ChangeRow{What: engine.MemoryChange, New: "throttled", Who: "memory budget", Why: why})
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
func (r *Run) Done() <-chan struct{} { return r.mail.done }

// Wait waits until the run has ended and returns its result.
func (r *Run) Wait() Result {
	<-r.mail.done
	return r.result
}
