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

	// Limit is the concurrency limit in sessions at the start of the run. Floor and Ceiling bound it.
	Limit, Floor, Ceiling int

	// Cycles is the length of the run in cycles; 0 if Hours sets the length.
	Cycles int
	// Hours is the wall time after which no further cycle begins. It includes pauses but not the time that the machine
	// sleeps. It applies only if Cycles is 0.
	Hours float64
	// TimeScale is simulated time per wall time; 0 runs as fast as possible.
	TimeScale float64

	// Timeouts. Their clocks are paused while throttled. 0 disables a timeout.
	SessionTimeout, ChainTimeout, CycleTimeout time.Duration

	// Retry applies to requests whose step does not set its own.
	Retry Retry

	// CheckpointEvery is the longest time between checkpoints; 0 disables periodic checkpoints. KeepCheckpoints is the
	// number of checkpoints to keep.
	CheckpointEvery time.Duration
	KeepCheckpoints int

	// Agents lists the IDs of the active agents; empty means all.
	Agents []string
	// Filter is an expression over agent. Agents for which it is false are excluded. "" selects all agents.
	Filter string
	// Sequential runs the agents of a cycle one after another, in an order drawn from the seed. Each agent sees the
	// memory and messages of the previous ones. The concurrency limit is ignored.
	Sequential bool
	// WarmUp lists the fractions of agents active in the first cycles, for WarmUpCycles cycles each. If empty, all agents
	// are active from the start.
	WarmUp       []float64
	WarmUpCycles int

	// Preset names the setting preset that was applied, or is "".
	Preset string
	// Batch runs the agents of a cycle in waves of this size. A wave starts when the last session of the previous wave has
	// ended. 0 disables waves. The results are the same.
	Batch int
	// SequentialPersonas makes a model write the personas of a population one after another.
	SequentialPersonas bool

	// MaxLLMCalls limits concurrent model calls over all services.
	MaxLLMCalls int
	// LLMRate is the initial rate of model calls per second, unless the scenario sets one.
	LLMRate float64

	// SequentialSteps runs the steps of a session one after another, including those that could run in parallel. The
	// results are the same.
	SequentialSteps bool

	// Governor moves the limit between Floor and Ceiling. It is one of [Governors]; "" means manual.
	Governor string
	// CPUHigh and CPULow are thresholds for the machine's CPU in percent. The governor lowers the limit above CPUHigh, and
	// may double it below CPULow. 0 uses the value of [DefaultSettings].
	CPUHigh, CPULow float64
	// MemoryHigh and MemoryLow are thresholds for the machine's memory in use, in percent. The governor lowers the limit
	// above MemoryHigh, and raises it only below MemoryLow. 0 uses the remaining memory, health.EnoughMemory.
	MemoryHigh, MemoryLow float64
	// Breaker is what the run does when too many sessions fail: one of [Breakers]; "" means probe.
	Breaker string
	// StallAfter is how long sessions may be in flight without one ending before the run counts as stalled; 0 disables the
	// check.
	StallAfter time.Duration
	// Budget limits what the run may use.
	Budget Budget
	// Memory limits the memory for large answers of sessions in flight and for what agents remember.
	Memory MemoryLimit
	// KeepAwake prevents the machine from sleeping during the run.
	KeepAwake bool

	// Services maps services to the addresses that replace those in the scenario.
	Services map[string]string
	// Remote also sends the results to the remote database.
	Remote bool
	// RemoteCheckpoints also sends checkpoint data to the remote database. It requires Remote.
	RemoteCheckpoints bool
	// Simulation sends X-Simulation-Mode: true to all services.
	Simulation bool
	// Mock configures the embedded servers.
	Mock Mock

	// KeepShare is the fraction of sessions whose requests and answers are kept after their barrier.
	KeepShare float64
	// Metrics records the state of the run and the machine every second.
	Metrics bool

	// Record keeps every answer of the run so that another run can replay it.
	Record bool
	// Cleanup is the run whose changes at services this run removes, or "".
	Cleanup RunID
	// Replay is the run whose recording replaces all services; "" calls the services.
	Replay RunID
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

// DefaultSettings returns the default settings of a run.
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
