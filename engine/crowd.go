package engine

import "time"

// AgentState is what an agent is doing in the open cycle.
type AgentState uint8

// The states of an agent. Those from AgentOK on are how its session of the cycle ended.
const (
	AgentWaiting AgentState = iota // for its turn
	AgentResting                   // it takes no part in the cycle
	AgentRetired
	AgentInFlight  // its session goes on
	AgentThrottled // its session goes on, and the engine holds it back: a rate, a bound, a wait before a retry
	AgentOK
	AgentStopped
	AgentFailed
	AgentTimedOut
	AgentCancelled
	NumAgentStates
)

var agentStateNames = [...]string{"waiting", "resting", "retired", "in flight", "throttled", "ok", "stopped", "failed", "timeout", "cancelled"}

func (s AgentState) String() string { return agentStateNames[s] }

// Crowd is the state of every agent at a moment.
type Crowd struct {
	At     time.Time
	Cycle  int
	States []AgentState // by index
}

// Counts returns how many agents are in each state.
func (c *Crowd) Counts() (n [NumAgentStates]int) {
	for _, s := range c.States {
		n[s]++
	}
	return n
}

// AgentView is what is known of one agent, for people: secrets are masked, long texts shortened.
type AgentView struct {
	Index   int
	ID      string
	State   AgentState
	Doing   *Doing   // while its session is in flight and may wait; nil else
	Persona []Fact   // its attributes
	Memory  []Fact   // as of the newest barrier; values are JSON texts
	Notes   []string // JSON texts, oldest first
	Inbox   []Heard  // newest last
	// Sessions are the newest, newest first, with all their takes. The first may be one that goes on: its Outcome is
	// Unfinished, and nothing is known of its steps yet.
	Sessions []AgentTurn
	Earlier  int   // cycles before, of whose sessions none is listed, as there are too many
	Usage    Usage // of the sessions that are listed
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// Heard is a message in an inbox.
type Heard struct {
	From  string // the agent's id; "" is somebody outside
	Cycle int
	Body  string // JSON text
}

// AgentTurn is one session of an agent.
type AgentTurn struct {
	SessionRow
	Exchanges []Exchange // with services, oldest first, as far as they are known
}

// Exchange is one request with its answer, for people: secrets are masked, long texts shortened.
type Exchange struct {
	Place
	At      time.Time
	Path    string // of the step
	Attempt int    // from 1
	Service string
	Request string // such as POST /orders, a statement, or the model that is asked
	Headers string // of the request, a line each, those that are secrets masked; "" where they are not known
	Sent    string // body
	Status  int    // 0 where there was none
	Answer  string // body
	Took    time.Duration
	Error   string // where there was no answer, or none that could be used
	// Kept says that it is from the journal, which holds what was answered, not what was sent.
	Kept bool
}

// Mark shows a session in flight, and whether the engine throttles it.
func (c *Crowd) Mark(d *Doing) {
	if d.Cycle != c.Cycle || c.States[d.Agent] >= AgentOK { // it has ended since
		return
	}
	c.States[d.Agent] = AgentInFlight
	if d.Gate != "" {
		c.States[d.Agent] = AgentThrottled
	}
}

// StateOf is the state of an agent whose session ended so.
func StateOf(o Outcome) AgentState {
	switch o {
	case Unfinished:
		return AgentInFlight
	case Cut: // it will be had again
		return AgentWaiting
	default:
		return AgentOK + AgentState(o-OK)
	}
}
