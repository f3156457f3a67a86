package engine

import (
	"fmt"
	"slices"
	"time"
)

// Reading is what is known of a run and its machine at a moment. Counts and Quantiles are of the time since the reading
// before it.
type Reading struct {
	At    time.Time
	Span  time.Duration // since the reading before, without Slept
	Slept time.Duration // in which the machine slept, or the process stood still; mostly 0
	Phase Phase
	Cycle int

	Limit    int // as set
	InFlight int
	// Busy is the share of Span in which all places were taken while sessions waited for one: a limit that was not the
	// bound says nothing about a higher one.
	Busy float64

	Ended, Failed int64 // sessions that ended, and of them those that failed or timed out
	// Of the open cycle so far.
	CycleEnded, CycleFailed, CycleTotal int64

	Service     Quantiles // what services and steps took in the sessions that ended, without what the engine throttled
	Host        HostMetrics
	Connections Connections
	Services    []ServiceState
	LastEnd     time.Time // when a session ended last, or work could begin
	Oldest      []Doing   // sessions in flight, the oldest first, some
}

// Governor steers a run: the loop asks it about once a second, from one goroutine. It does not wait.
type Governor interface {
	// Steer says what is to be done now.
	Steer(r Reading) Orders
	// Use changes what it goes by; the limit that is in force stays until the next reading.
	Use(s Steering) error
	// Reset forgets what went wrong so far: a person resumed the run.
	Reset()
}

// Steering is what the limit goes by. The zero value is by hand.
type Steering struct {
	Governor       string // one of Governors; "" is manual
	Floor, Ceiling int
	// Bounds of the machine's CPU and memory, as in [Settings].
	CPUHigh, CPULow       float64
	MemoryHigh, MemoryLow float64
	Breaker               string        // one of Breakers; "" is probe
	StallAfter            time.Duration // 0 warns of nothing
}

// Steering is what the limit goes by.
func (s *Settings) Steering() Steering {
	return Steering{s.Governor, s.Floor, s.Ceiling, s.CPUHigh, s.CPULow, s.MemoryHigh, s.MemoryLow, s.Breaker, s.StallAfter}
}

// Governed reports whether a governor moves the limit.
func (s *Settings) Governed() bool { return s.Governor != "" && s.Governor != Manual }

// Orders are what a governor wants.
type Orders struct {
	Limit int    // of sessions in flight, from now on
	By    string // the governor whose word that is
	Why   string // in words, such as "25 → 20: CPU 91 % for 3 s, above 80 %"; "" where the limit stays

	Breaker    BreakerState // of the run; while it is open no session starts
	BreakerWhy string       // in words; "" while it is closed
	Probe      bool         // start one session although the breaker is open, to see whether all is well again
	NextProbe  time.Time    // zero without

	Stall *Stall // nil while sessions end
}

// Stall says that sessions are in flight and none has ended for long.
type Stall struct {
	Since  time.Time
	Why    string  // in words: what they wait for
	Oldest []Doing // first
}

// Doing is what a session in flight is at.
type Doing struct {
	Place
	Name    string    `json:"name,omitempty"`    // of the agent; "" if unknown
	Began   time.Time `json:"began"`             // the session
	Path    string    `json:"step,omitempty"`    // "" before the first step that can wait
	Service string    `json:"service,omitempty"` // that the step calls
	Gate    string    `json:"waiting_for,omitempty"`
	Since   time.Time `json:"since,omitzero"` // the beginning of the step or the wait
}

// BreakerState is that of a circuit breaker. The zero value lets everything through.
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

// Governing is a policy that moves the limit, with what people are told of it.
type Governing struct{ Name, Title, About string }

// Governors are all of them.
var Governors = []Governing{
	{"manual", "Manual", "the slider is the limit"},
	{"adaptive", "Adaptive", "all of the others, and the smallest wins"},
	{"resources", "CPU and memory", "gives way to what else the machine does"},
	{"success", "Success rate", "grows while sessions succeed"},
	{"latency", "Latency", "stays where more at once would only make each slower"},
	{"connections", "Connections", "leaves the database server's clients room"},
}

// Manual is the governor that moves nothing, Adaptive the one that is all the others.
const (
	Manual   = "manual"
	Adaptive = "adaptive"
)

// Breakers are what a run does when too much of it fails: probe until all is well again, wait for a person, or go on.
var Breakers = []string{"probe", "wait", BreakerOff}

// BreakerOff is the breaker that never opens.
const BreakerOff = "off"

func governorNames() string {
	var names []string
	for _, g := range Governors {
		names = append(names, g.Name)
	}
	return OrList(names)
}
