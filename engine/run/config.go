package run

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Config describes a run.
type Config struct {
	ID       engine.RunID
	Program  engine.Program
	Agents   int   // size of the population
	Chosen   []int // indexes of the active agents, ascending; nil means all
	Clock    engine.Clock
	Success  []engine.Criterion
	Settings engine.Settings
	First    int                // first cycle; above 0 only for a fork
	Lineage  []engine.RunID     // the runs it was forked from; its agents may remember their session IDs
	Journal  engine.Journal     // nil means Discard
	Resume   *engine.Resumption // nil starts from the beginning
	// Recording, if set, answers in place of the services.
	Recording engine.Recording
	// Checkpoints are cycles at whose start a checkpoint is taken, so that forks can begin there.
	Checkpoints []int
	Probe       engine.Probe
	// Inexact says why the result depends on timing from the start. "" means that it does not.
	Inexact string
	// Governor moves the limit; nil leaves it to people.
	Governor engine.Governor
	// Services are the services that the sessions call.
	Services []engine.Service
	// Unpriced lists models without a known price. With any of them, a budget in money is an error.
	Unpriced []string
	// Pool, if set, creates the pool that executes the sessions; nil executes them in this process.
	Pool func(cfg PoolConfig) (WorkerPool, error)
	// MemoryBudget limits the bytes of large answers in flight and of the agents' memory; 0 means no limit.
	MemoryBudget int64

	Descriptions
	Prior
	Hooks
}

// Descriptions describes agents and steps. Each function may be nil. The functions are called concurrently and must not block.
type Descriptions struct {
	// Name returns the display name of an agent.
	Name func(index int) (string, error)
	// Where returns the file and line that define a step, such as shop.yaml:12, or "" if they are unknown. Its paths have no iterations.
	Where func(step string) string
	// Survey says that the sessions are answers to questions.
	Survey bool
	// Purpose says what a step spends its time on. If it is nil, all of the time counts as time of the services. It
	// receives paths without iterations.
	Purpose func(step string) engine.Purpose
}

// Prior is what was spent before the run began.
type Prior struct {
	// Kept is the number of sessions that a fork took over.
	Kept int64
	// Move is the governor's last move of the limit in an earlier process, if the limit is still in force; nil if there is none.
	Move *engine.ChangeRow
	// Ledger holds what was spent, PopulationCalls included; nil starts at zero.
	Ledger *engine.Ledger
	// PopulationCalls are the calls that generated the population.
	PopulationCalls []engine.StepRecord
	// PopulationTook is how long that took. It counts toward a time budget, also after a resume.
	PopulationTook time.Duration
}

// Hooks are called while the run is in progress. Each may be nil.
type Hooks struct {
	// Tracer receives every exchange with a service. Use it only for runs with few sessions.
	Tracer engine.Tracer
	// Content keeps what is exchanged with services.
	Content engine.ContentKeeper
	// Trail receives every session that ended, except those that were cut. Workers call it concurrently, and each waits for
	// it to return.
	Trail func(t *engine.Trail)
	// Barrier is called for every closed cycle before the next one begins.
	Barrier func(cycle int)
	// Mock returns the size of the mock shop's log in bytes. It is called at every barrier.
	Mock func() int64
	// Crashed is called after a panic in a goroutine of the run that executes no session, once the run has tried to take a
	// checkpoint. It should end the program: the run can only be resumed by another process. If it is nil, the panic ends
	// the program.
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
	return errors.Join(append(mistakes, c.Clock.Check(&c.Settings), c.Settings.Validate(), engine.CheckPriced(c.Settings.Budget, c.Unpriced))...)
}
