package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Settings control how a run is executed. They are not part of the scenario. The zero value is not valid; start from
// [DefaultSettings].
type Settings struct {
	Seed uint64

	// Preset names the setting preset that was applied, or is "".
	Preset string

	Length
	Selection
	Concurrency
	Steering
	Timeouts
	Models
	Storage

	// Budget limits what the run may use.
	Budget Budget
	// Memory limits the memory for large answers of sessions in flight and for what agents remember.
	Memory MemoryLimit
	// KeepAwake prevents the machine from sleeping during the run.
	KeepAwake bool

	// Services maps services to the addresses that replace those in the scenario.
	Services map[string]string
	// Simulation sends X-Simulation-Mode: true to all services.
	Simulation bool
	// Mock configures the embedded servers.
	Mock Mock

	// Cleanup is the run whose changes at services this run removes, or "".
	Cleanup RunID
	// Replay is the run whose recording replaces all services; "" calls the services.
	Replay RunID
}

// Length is how long a run takes, in cycles or in hours.
type Length struct {
	// Cycles is the length of the run in cycles; 0 if Hours sets the length.
	Cycles int
	// Hours is the wall time after which no further cycle begins. It includes pauses but not the time that the machine
	// sleeps. It applies only if Cycles is 0.
	Hours float64
	// TimeScale is simulated time per wall time; 0 runs as fast as possible.
	TimeScale float64
}

// Selection chooses the active agents of a population.
type Selection struct {
	// Agents lists the IDs of the active agents; empty means all.
	Agents []string
	// Filter is an expression over agent. Agents for which it is false are excluded. "" selects all agents.
	Filter string
	// WarmUp lists the fractions of agents active in the first cycles, for WarmUpCycles cycles each. If empty, all agents
	// are active from the start.
	WarmUp       []float64
	WarmUpCycles int
}

// Concurrency is what runs at the same time. Except for Sequential, it does not change results.
type Concurrency struct {
	// Limit is the concurrency limit in sessions at the start of the run.
	Limit int
	// Batch runs the agents of a cycle in batches of this size. A batch starts when the last session of the previous one
	// has ended. 0 disables batches.
	Batch int
	// Sequential runs the agents of a cycle one after another, in an order drawn from the seed. Each agent sees the
	// memory and messages of the previous ones. The concurrency limit is ignored.
	Sequential bool
	// SequentialSteps runs the steps of a session one after another, including those that could run in parallel.
	SequentialSteps bool
}

// Timeouts limit how long a session, a chain and a cycle may take, and how requests are retried. Their clocks are paused
// while throttled. 0 disables a timeout.
type Timeouts struct {
	SessionTimeout, ChainTimeout, CycleTimeout time.Duration
	// Retry applies to requests whose step does not set its own.
	Retry Retry
}

// Models are settings of model calls.
type Models struct {
	// MaxLLMCalls limits concurrent model calls over all services.
	MaxLLMCalls int
	// LLMRate is the initial rate of model calls per second, unless the scenario sets one.
	LLMRate float64
	// SequentialPersonas makes a model write the personas of a population one after another.
	SequentialPersonas bool
}

// Storage is what a run stores, and where.
type Storage struct {
	// CheckpointEvery is the longest time between checkpoints; 0 disables periodic checkpoints.
	CheckpointEvery time.Duration
	// CheckpointCycles takes a checkpoint at the start of every so many cycles; 0 takes none then.
	CheckpointCycles int
	KeepCheckpoints  int // number of checkpoints to keep
	// KeepShare is the fraction of sessions whose requests and answers are kept after their barrier.
	KeepShare float64
	// KeepContent is how many bytes of prompts, requests and answers are kept for reading, compressed; 0 keeps none.
	KeepContent int64
	// Metrics records the state of the run and the machine every second.
	Metrics bool
	// Record keeps every answer of the run so that another run can replay it.
	Record bool
	// Remote also sends the results to the remote database.
	Remote bool
	// RemoteCheckpoints also sends checkpoint data to the remote database. It requires Remote.
	RemoteCheckpoints bool
}

// Mock configures the embedded servers. The zero value is a local server without faults.
type Mock struct {
	Profile  string            // latency: none, local, remote or slow; "" means local
	Faults   map[string]string // fraction by kind of fault, as text
	Scarcity bool              // agents share limited stock
}

// Retry is the number of attempts and the wait between them, which doubles from Wait to Max with full jitter.
type Retry struct {
	Attempts  int
	Wait, Max time.Duration
}

// DefaultContent is how many bytes of content a run keeps by default.
const DefaultContent = 200_000_000

// DefaultSettings returns the default settings of a run.
func DefaultSettings() Settings {
	return Settings{
		Seed:        1,
		Length:      Length{Cycles: 1},
		Selection:   Selection{WarmUpCycles: 2},
		Concurrency: Concurrency{Limit: 50},
		Steering:    Steering{Governor: "adaptive", Floor: 1, Ceiling: 100, CPUHigh: 80, CPULow: 50, Breaker: "probe", StallAfter: time.Minute},
		Timeouts: Timeouts{
			SessionTimeout: 300 * time.Second, ChainTimeout: 300 * time.Second, Retry: Retry{Attempts: 5, Wait: 2 * time.Second, Max: time.Minute},
		},
		Models:     Models{MaxLLMCalls: 50, LLMRate: 10},
		Storage:    Storage{CheckpointEvery: 300 * time.Second, KeepCheckpoints: 10, KeepShare: 0.01, KeepContent: DefaultContent, Metrics: true, RemoteCheckpoints: true},
		Memory:     MemoryLimit{Share: 0.25},
		KeepAwake:  true,
		Simulation: true,
	}
}

// DefaultWarmUp is the warm-up used when no fractions are specified.
var DefaultWarmUp = []float64{0.10, 0.25, 0.50, 0.75, 1}

// Validate returns all errors in s as joined *FieldError values.
func (s *Settings) Validate() error {
	var mistakes []error
	check := func(ok bool, field, problem, hint string) {
		if !ok {
			mistakes = append(mistakes, &FieldError{field, problem, hint})
		}
	}
	check(s.Limit >= 1, LimitSetting, fmt.Sprintf("a run cannot start with %d concurrent sessions", s.Limit), "at least 1; a run in progress can be lowered to 0")
	check(s.Limit <= MaxLimit, LimitSetting, fmt.Sprintf("%d is more than %d", s.Limit, MaxLimit), "")
	check(s.Floor >= 1, FloorSetting, fmt.Sprintf("%d is out of range", s.Floor), "at least 1")
	check(s.Ceiling >= s.Floor && s.Ceiling <= MaxLimit, CeilingSetting, fmt.Sprintf("%d is out of range", s.Ceiling), fmt.Sprintf("%d, the lowest limit (floor), to %d", s.Floor, MaxLimit))
	check(s.Cycles >= 0, "cycles", fmt.Sprintf("%d is negative", s.Cycles), "")
	check(s.Hours >= 0 && s.Hours <= maxHours, "hours", fmt.Sprintf("%v is not a length", s.Hours), fmt.Sprintf("0 to %d", maxHours))
	check(s.Cycles > 0 || s.Hours > 0, "cycles", "the run has no length", "set a number of cycles or hours")
	check(s.TimeScale == 0 || s.TimeScale >= minScale && s.TimeScale <= maxScale, "time-scale", fmt.Sprintf("%v is out of range", s.TimeScale),
		fmt.Sprintf("%v to %v; 0 is as fast as possible", minScale, maxScale))
	check(s.SessionTimeout >= 0, sessionTimeout, "is negative", "0 disables it")
	check(s.ChainTimeout >= 0, "chain-timeout", "is negative", "0 disables it")
	check(s.CycleTimeout >= 0, CycleTimeoutSetting, "is negative", "0 disables it")
	check(s.Retry.Attempts >= 1, "retries", fmt.Sprintf("%d attempts", s.Retry.Attempts), "at least 1")
	check(s.Retry.Wait >= 0 && s.Retry.Max >= 0, "retry-wait", "is negative", "")
	check(s.MaxLLMCalls >= 1 && s.MaxLLMCalls <= MaxLimit, "max-llm-calls", fmt.Sprintf("%d is out of range", s.MaxLLMCalls), fmt.Sprintf("1 to %d", MaxLimit))
	check(s.LLMRate >= 0.001 && s.LLMRate <= MaxLimit, "llm-rate", fmt.Sprintf("%v is out of range", s.LLMRate), fmt.Sprintf("0.001 to %d", MaxLimit))
	check(s.CheckpointEvery >= 0, CheckpointIntervalSetting, "is negative", "0 disables checkpoints by time")
	check(s.CheckpointCycles >= 0, "checkpoint-cycles", "is negative", "0 disables checkpoints by cycle")
	check(s.KeepCheckpoints >= 1, "keep-checkpoints", fmt.Sprintf("%d", s.KeepCheckpoints), "at least 1")
	check(s.KeepShare >= 0 && s.KeepShare <= 1, "keep-share", fmt.Sprintf("%v is not between 0 and 1", s.KeepShare), "")
	check(s.KeepContent >= 0, "keep-content", "is negative", "0 keeps none")
	check(s.Memory.Share >= 0 && s.Memory.Share <= 1 && s.Memory.Bytes >= 0, "memory-budget", fmt.Sprintf("%v is not an amount of memory", s.Memory), memoryHint)
	check(s.Governor == "" || slices.ContainsFunc(Governors, func(g Governing) bool { return g.Name == s.Governor }), GovernorSetting,
		fmt.Sprintf("unknown governor %q", s.Governor), "choose "+governorNames())
	check(s.Breaker == "" || slices.Contains(Breakers, s.Breaker), "breaker", fmt.Sprintf("unknown breaker mode %q", s.Breaker), "choose "+OrList(Breakers))
	mistakes = append(mistakes, s.pressure()...)
	check(s.Batch >= 0, "batch", fmt.Sprintf("%d is negative", s.Batch), "0 runs all agents of a cycle in one wave")
	check(s.StallAfter >= 0, "stall-warning", "is negative", "0 disables the warning")
	if err := s.Budget.Validate(); err != nil {
		mistakes = append(mistakes, err)
	}
	for i, share := range s.WarmUp {
		check(share > 0 && share <= 1, "warm-up", fmt.Sprintf("%v is not a fraction", share), "above 0, up to 1")
		check(i == 0 || !(share < s.WarmUp[i-1]), "warm-up", fmt.Sprintf("%v follows %v", share, s.WarmUp[max(i-1, 0)]), "fractions must not decrease")
	}
	check(!s.Record || s.Replay == "", "record", "a run that replays a recording has nothing to record", "omit one of the two")
	check(!s.Record || s.CycleTimeout == 0, "record", "a cycle timeout ends sessions at a moment that a recording cannot repeat", "omit --cycle-timeout or --record")
	check(len(s.WarmUp) == 0 || s.WarmUpCycles >= 1, "warm-up", "its steps have no cycles", "at least 1")
	return errors.Join(mistakes...)
}

// pressure validates the thresholds for the machine's CPU and memory.
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

// MaxLimit is the largest concurrency limit.
const MaxLimit = 1_000_000

const (
	maxHours           = 1_000_000
	minScale, maxScale = 1e-3, 1e9
)
