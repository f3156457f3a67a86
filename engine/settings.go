package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Settings are how a run is carried out: none of them is part of the scenario. The zero value is not valid; start
// from [DefaultSettings].
type Settings struct {
	Seed uint64

	// Limit is how many sessions are in flight at the start, at most; Floor and Ceiling bound it. All count sessions.
	Limit, Floor, Ceiling int

	// Cycles is the length of the run; 0 when it ends by Hours.
	Cycles int
	// Hours is wall time, pauses included, but not that in which the machine slept, after which no further cycle begins; it
	// counts only where Cycles is 0.
	Hours float64
	// TimeScale is simulated time per wall time; 0 is as fast as possible.
	TimeScale float64

	// Timeouts, counted in time that is used, not held. 0 is none.
	SessionTimeout, ChainTimeout, CycleTimeout time.Duration

	// Retry is for requests whose step does not say otherwise.
	Retry Retry

	// CheckpointEvery is the longest time between checkpoints; 0 takes none by time. KeepCheckpoints is how many
	// are kept.
	CheckpointEvery time.Duration
	KeepCheckpoints int

	// Agents are the ids of those that take part; empty is all.
	Agents []string
	// Filter is an expression over agent: those for whom it is false do not take part. "" lets everybody.
	Filter string
	// Sequential lets one agent act after the other in each cycle, in an order drawn from the seed; what one remembers
	// and says is there for the next. The limit counts for nothing then.
	Sequential bool
	// WarmUp is the share of agents active in the first cycles, WarmUpCycles cycles each; empty is all at once.
	WarmUp       []float64
	WarmUpCycles int

	// Preset names the set of settings that some of these come from; "" is none.
	Preset string
	// Batch has the agents of a cycle run in waves of so many: the next wave starts when the last session of the one before
	// has ended. 0 is one wave. The results are the same.
	Batch int
	// SequentialPersonas has a model write the personas of a population one after another.
	SequentialPersonas bool

	// MaxLLMCalls is how many calls of models go on at once, over all services together.
	MaxLLMCalls int
	// LLMRate is how many such calls may start per second at first, where the scenario does not say.
	LLMRate float64

	// SequentialSteps runs the steps of a session one after another, also those that could run beside each other; the
	// results are the same.
	SequentialSteps bool

	// Governor moves the limit between Floor and Ceiling: one of [Governors]; "" is manual.
	Governor string
	// CPUHigh and CPULow bound the machine's CPU for the governor of resources, in percent: above the first it gives way,
	// below the second it may double. 0 is what [DefaultSettings] has.
	CPUHigh, CPULow float64
	// MemoryHigh and MemoryLow bound the machine's memory in use likewise, in percent: above the first it gives way, and it
	// grows below the second only. 0 goes by what is left, health.EnoughMemory.
	MemoryHigh, MemoryLow float64
	// Breaker is what the run does when too much of it fails: one of [Breakers]; "" is probe.
	Breaker string
	// StallAfter is how long no session may have ended, while some are in flight, before that is told; 0 is never.
	StallAfter time.Duration
	// Budget is what the run may take.
	Budget Budget
	// Memory is what large answers of sessions in flight and what agents remember may take.
	Memory MemoryLimit
	// KeepAwake keeps the machine from sleeping while the run goes on.
	KeepAwake bool

	// Services are the addresses to use instead of the scenario's, by service.
	Services map[string]string
	// Remote sends the results to the remote database too.
	Remote bool
	// RemoteCheckpoints sends what checkpoints restore there as well, where results are sent.
	RemoteCheckpoints bool
	// Simulation sends X-Simulation-Mode: true to all services.
	Simulation bool
	// Mock is how the embedded servers behave.
	Mock Mock

	// KeepShare is the share of sessions whose requests and answers are kept after their barrier.
	KeepShare float64
	// Metrics records the state of the run and the machine every second.
	Metrics bool

	// Record keeps every answer of the run, so that another can be answered from it.
	Record bool
	// Cleanup is the run whose agents' doings this one removes at services; "" is none.
	Cleanup RunID
	// Replay is the run whose recording answers in place of all services; "" asks them.
	Replay RunID
}

// Mock is how the embedded servers behave. The zero value is one on this machine that works.
type Mock struct {
	Profile  string            // latency: none, local, remote, slow; "" is local
	Faults   map[string]string // shares by kind of fault, as written
	Scarcity bool              // agents share what there is
}

// Retry says how often a request is tried and how long to wait between: doubling from Wait to Max, with full jitter.
type Retry struct {
	Attempts  int
	Wait, Max time.Duration
}

// DefaultSettings is what a run uses where nobody says otherwise.
func DefaultSettings() Settings {
	return Settings{
		Seed:            1,
		Limit:           50,
		Floor:           1,
		Ceiling:         100,
		Cycles:          1,
		SessionTimeout:  300 * time.Second,
		ChainTimeout:    300 * time.Second,
		Retry:           Retry{Attempts: 5, Wait: 2 * time.Second, Max: time.Minute},
		CheckpointEvery: 300 * time.Second,
		KeepCheckpoints: 10,
		WarmUpCycles:    2,
		MaxLLMCalls:     50,
		LLMRate:         10,
		Governor:        "adaptive",
		CPUHigh:         80,
		CPULow:          50,
		Breaker:         "probe",
		StallAfter:      time.Minute,
		Memory:          MemoryLimit{Share: 0.25},
		KeepAwake:       true,
		Simulation:      true,
		KeepShare:       0.01,
		Metrics:         true,

		RemoteCheckpoints: true,
	}
}

// DefaultWarmUp is the warm-up's shares where one is asked for without figures.
var DefaultWarmUp = []float64{0.10, 0.25, 0.50, 0.75, 1}

// Validate returns every mistake in s as a *FieldError, joined.
func (s *Settings) Validate() error {
	var mistakes []error
	check := func(ok bool, field, problem, hint string) {
		if !ok {
			mistakes = append(mistakes, &FieldError{field, problem, hint})
		}
	}
	check(s.Limit >= 1, LimitSetting, fmt.Sprintf("%d sessions at once cannot start a run", s.Limit), "at least 1; a run in progress can be lowered to 0")
	check(s.Limit <= MaxLimit, LimitSetting, fmt.Sprintf("%d is more than %d", s.Limit, MaxLimit), "")
	check(s.Floor >= 1, FloorSetting, fmt.Sprintf("%d sessions at once", s.Floor), "at least 1")
	check(s.Ceiling >= s.Floor && s.Ceiling <= MaxLimit, CeilingSetting, fmt.Sprintf("%d sessions at once", s.Ceiling), fmt.Sprintf("from the floor, %d, to %d", s.Floor, MaxLimit))
	check(s.Cycles >= 0, "cycles", fmt.Sprintf("%d is negative", s.Cycles), "")
	check(s.Hours >= 0 && s.Hours <= maxHours, "hours", fmt.Sprintf("%v is not a length", s.Hours), fmt.Sprintf("0 to %d", maxHours))
	check(s.Cycles > 0 || s.Hours > 0, "cycles", "the run has no length", "give a number of cycles or hours")
	check(s.TimeScale == 0 || s.TimeScale >= minScale && s.TimeScale <= maxScale, "time-scale", fmt.Sprintf("%v is out of range", s.TimeScale),
		fmt.Sprintf("%v to %v; 0 is as fast as possible", minScale, maxScale))
	check(s.SessionTimeout >= 0, sessionTimeout, "is negative", "0 disables it")
	check(s.ChainTimeout >= 0, "chain-timeout", "is negative", "0 disables it")
	check(s.CycleTimeout >= 0, CycleTimeoutSetting, "is negative", "0 disables it")
	check(s.Retry.Attempts >= 1, "retries", fmt.Sprintf("%d attempts", s.Retry.Attempts), "at least 1")
	check(s.Retry.Wait >= 0 && s.Retry.Max >= 0, "retry-wait", "is negative", "")
	check(s.MaxLLMCalls >= 1 && s.MaxLLMCalls <= MaxLimit, "max-llm-calls", fmt.Sprintf("%d at once", s.MaxLLMCalls), fmt.Sprintf("1 to %d", MaxLimit))
	check(s.LLMRate >= 0.001 && s.LLMRate <= MaxLimit, "llm-rate", fmt.Sprintf("%v calls per second", s.LLMRate), fmt.Sprintf("0.001 to %d", MaxLimit))
	check(s.CheckpointEvery >= 0, CheckpointIntervalSetting, "is negative", "0 takes none by time")
	check(s.KeepCheckpoints >= 1, "keep-checkpoints", fmt.Sprintf("%d", s.KeepCheckpoints), "at least 1")
	check(s.KeepShare >= 0 && s.KeepShare <= 1, "keep-share", fmt.Sprintf("%v is not between 0 and 1", s.KeepShare), "")
	check(s.Memory.Share >= 0 && s.Memory.Share <= 1 && s.Memory.Bytes >= 0, "memory-budget", fmt.Sprintf("%v is not an amount of memory", s.Memory), memoryHint)
	check(s.Governor == "" || slices.ContainsFunc(Governors, func(g Governing) bool { return g.Name == s.Governor }), GovernorSetting,
		fmt.Sprintf("unknown governor %q", s.Governor), "choose "+governorNames())
	check(s.Breaker == "" || slices.Contains(Breakers, s.Breaker), "breaker", fmt.Sprintf("unknown breaker mode %q", s.Breaker), "choose "+OrList(Breakers))
	mistakes = append(mistakes, s.pressure()...)
	check(s.Batch >= 0, "batch", fmt.Sprintf("%d is negative", s.Batch), "0 runs all agents of a cycle in one wave")
	check(s.StallAfter >= 0, "stall-warning", "is negative", "0 warns of nothing")
	if err := s.Budget.Validate(); err != nil {
		mistakes = append(mistakes, err)
	}
	for i, share := range s.WarmUp {
		check(share > 0 && share <= 1, "warm-up", fmt.Sprintf("%v is not a share", share), "above 0, up to 1")
		check(i == 0 || !(share < s.WarmUp[i-1]), "warm-up", fmt.Sprintf("%v comes after %v", share, s.WarmUp[max(i-1, 0)]), "shares grow")
	}
	check(!s.Record || s.Replay == "", "record", "a run that is answered from a recording has nothing to record", "leave out one of the two")
	check(!s.Record || s.CycleTimeout == 0, "record", "the timeout of a cycle ends sessions before they ask, which no recording can repeat", "leave out --cycle-timeout, or --record")
	check(len(s.WarmUp) == 0 || s.WarmUpCycles >= 1, "warm-up", "its steps take no cycles", "at least 1")
	return errors.Join(mistakes...)
}

// pressure finds mistakes in the bounds of the machine's CPU and memory.
func (s *Settings) pressure() (mistakes []error) {
	for _, b := range []struct {
		name      string
		high, low float64
	}{{"cpu", s.CPUHigh, s.CPULow}, {"memory", s.MemoryHigh, s.MemoryLow}} {
		switch {
		case !(b.high >= 0 && b.high <= 100):
			mistakes = append(mistakes, &FieldError{b.name + "-high", fmt.Sprintf("%v is not a percentage", b.high), "0 to 100"})
		case !(b.low >= 0 && b.low <= 100):
			mistakes = append(mistakes, &FieldError{b.name + "-low", fmt.Sprintf("%v is not a percentage", b.low), "0 to 100"})
		case b.high > 0 && b.low >= b.high:
			mistakes = append(mistakes, &FieldError{b.name + "-low", fmt.Sprintf("%v%% is not below %s-high, %v%%", b.low, b.name, b.high), "a lower value"})
		}
	}
	return mistakes
}

// MaxLimit is the most sessions that can be in flight.
const MaxLimit = 1_000_000

const (
	maxHours           = 1_000_000
	minScale, maxScale = 1e-3, 1e9
)
