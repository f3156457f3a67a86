package engine

import (
	"fmt"
	"slices"
	"time"
)

// Reading is the measured state of a run and its machine. Counts and Quantiles cover the time since the previous
// reading.
type Reading struct {
	At    time.Time
	Span  time.Duration // since the previous reading, without Slept
	Slept time.Duration // time that the machine slept or the process was suspended; usually 0
	Phase Phase
	Cycle int

	Limit    int // as set
	InFlight int
	// Busy is the fraction of Span in which all slots were taken while sessions were queued. If the limit was not the
	// bottleneck, the reading says nothing about a higher limit.
	Busy float64

	Ended, Failed int64 // sessions that ended, and how many of them failed or timed out
	// Totals of the open cycle so far.
	CycleEnded, CycleFailed, CycleTotal int64

	Service     Quantiles // time used by services and steps in the sessions that ended, without throttled time
	Host        HostMetrics
	Connections Connections
	Services    []ServiceState
	LastEnd     time.Time  // when the last session ended or work could begin
	Oldest      []Activity // some of the sessions in flight, oldest first
}

// Governor steers a run. The loop calls it about once a second, from one goroutine. Its methods must not block.
type Governor interface {
	// Steer returns the orders for a reading.
	Steer(r Reading) Orders
	// Use changes the policy and its parameters. The current limit stays in force until the next reading.
	Use(s Steering) error
	// Reset clears the failure history after a person resumes the run.
	Reset()
}

// Steering configures what moves the concurrency limit and what stops a failing run. The zero value means manual.
type Steering struct {
	// Governor moves the limit between Floor and Ceiling. It is one of [Governors]; "" means manual.
	Governor       string
	Floor, Ceiling int
	// Manual means that a person has set the limit of a run in progress. It stays as set, whatever the floor and the
	// ceiling, until a person returns it to the governor.
	Manual bool
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
}

// Governed reports whether a governor moves the limit.
func (s *Steering) Governed() bool { return !s.Manual && s.Governor != "" && s.Governor != Manual }

// Orders are the decisions of a governor.
type Orders struct {
	Limit int    // new concurrency limit
	By    string // the governor that decided
	Why   string // reason, such as "25 → 20: CPU 91% for 3 s, above 80%"; "" if the limit stays

	Breaker    BreakerState // of the run; no session starts while it is open
	BreakerWhy string       // reason for the state; "" while closed
	Probe      bool         // start one session even though the breaker is open, to test whether the failure is over
	NextProbe  time.Time    // zero if none is planned

	Stall *Stall // nil while sessions end
}

// Stall reports that sessions are in flight but none has ended for a long time.
type Stall struct {
	Since  time.Time
	Why    string     // describes what they wait for
	Oldest []Activity // oldest first
}

// Activity is the current activity of a session in flight.
type Activity struct {
	Place
	Name        string    `json:"name,omitempty"`         // of the agent; "" if unknown
	Began       time.Time `json:"began"`                  // the session
	Path        string    `json:"step,omitempty"`         // "" before the first step that can wait
	Service     string    `json:"service,omitempty"`      // that the step calls
	ThrottledBy string    `json:"throttled_by,omitempty"` // text of the cause; "" if the session is not throttled
	Since       time.Time `json:"since,omitzero"`         // the beginning of the step or the wait
}

// BreakerState is the state of a circuit breaker. The zero value is closed.
type BreakerState uint8

// The states of a breaker.
const (
	BreakerClosed BreakerState = iota
	BreakerHalfOpen
	BreakerOpen
)

func (b BreakerState) String() string {
	return breakerStates[b]
}

var breakerStates = []string{BreakerClosed: "closed", BreakerHalfOpen: "half-open", BreakerOpen: "open"}

// MarshalText implements [encoding.TextMarshaler].
func (b BreakerState) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (b *BreakerState) UnmarshalText(text []byte) error {
	i := slices.Index(breakerStates, string(text))
	if i < 0 {
		return fmt.Errorf("unknown breaker state %q", text)
	}
	*b = BreakerState(i)
	return nil
}

// Governing is a policy that moves the limit, with its description for users.
type Governing struct{ Name, Title, About string }

// Governors lists all governors.
var Governors = []Governing{
	{"manual", "Manual", "the limit stays as set"},
	{"adaptive", "Adaptive", "the lowest limit of all other governors"},
	{"resources", "CPU and memory", "lowers the limit while the machine is busy"},
	{"success", "Success rate", "raises the limit while sessions succeed"},
	{"latency", "Latency", "stops raising the limit when each session becomes slower"},
	{"connections", "Connections", "leaves connections for other clients of the database server"},
}

// Manual never moves the limit. Adaptive combines all other governors.
const (
	Manual   = "manual"
	Adaptive = "adaptive"
	// ByBreaker is the author of the limit while the run's circuit breaker decides.
	ByBreaker = "breaker"
)

// Automatic is the limit of a run in progress that a governor sets.
const Automatic = "automatic"

// Breakers lists what a run can do when too many sessions fail: probe until the failure is over, wait for a person, or
// continue.
var Breakers = []string{"probe", "wait", BreakerOff}

// BreakerOff is the breaker that never opens.
const BreakerOff = "off"

// BreakerProbe is the value of a service's breaker that sends a probe now.
const BreakerProbe = "probe"

func governorNames() string {
	var names []string
	for _, g := range Governors {
		names = append(names, g.Name)
	}
	return OrList(names)
}
