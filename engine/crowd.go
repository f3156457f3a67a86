package engine

import "time"

// AgentState is the state of an agent in the current cycle.
type AgentState uint8

// The states of an agent. AgentOK and later states are outcomes of the agent's session in the cycle.
const (
	AgentWaiting AgentState = iota // queued
	AgentResting                   // inactive in the cycle
	AgentRetired
	AgentInFlight  // its session is running
	AgentThrottled // its session waits for a rate limiter, a bound or a retry
	AgentOK
	AgentStopped
	AgentFailed
	AgentTimedOut
	AgentCanceled
	NumAgentStates
)

var agentStateNames = [...]string{"waiting", "resting", "retired", "in flight", "throttled", "ok", "stopped", "failed", "timeout", "canceled"}

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

// AgentView is the information about one agent for display: secrets are masked and long texts shortened.
type AgentView struct {
	Index    int
	ID       string
	State    AgentState
	Activity *Activity      // while its session is in flight and may wait; otherwise nil
	Persona  []Fact         // its attributes
	Memory   []Fact         // as of the latest barrier; values are JSON texts
	Notes    []string       // JSON texts, oldest first
	Inbox    []InboxMessage // newest last
	// Sessions lists the latest sessions, newest first, with all their takes. The first may be in progress: its Outcome is
	// Unfinished, and its steps are not known yet.
	Sessions []AgentTurn
	Earlier  int   // number of earlier cycles whose sessions are omitted because there are too many
	Usage    Usage // of the listed sessions
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// InboxMessage is a message in an inbox.
type InboxMessage struct {
	From  string // the agent's ID; "" for a sender outside the run
	Cycle int
	Body  string // JSON text
}

// AgentTurn is one session of an agent.
type AgentTurn struct {
	SessionRow
	Exchanges []Exchange // with services, oldest first, as far as known
}

// Exchange is one request with its answer, for display: secrets are masked and long texts shortened.
type Exchange struct {
	Place
	At      time.Time     `cbor:"1,keyasint"`
	Path    string        `cbor:"2,keyasint"`           // of the step
	Attempt int           `cbor:"3,keyasint,omitempty"` // from 1
	Service string        `cbor:"4,keyasint,omitempty"`
	Request string        `cbor:"5,keyasint,omitempty"` // such as POST /orders, a SQL statement, or the name of a model
	Headers string        `cbor:"6,keyasint,omitempty"` // of the request, one per line, secrets masked; "" if not known
	Sent    string        `cbor:"7,keyasint,omitempty"` // body
	Status  int           `cbor:"8,keyasint,omitempty"` // 0 without an answer
	Answer  string        `cbor:"9,keyasint,omitempty"` // body
	Took    time.Duration `cbor:"10,keyasint,omitempty"`
	Error   string        `cbor:"11,keyasint,omitempty"` // set if there was no answer or it was unusable
	// Kept reports that the answer comes from the journal, which does not store requests.
	Kept bool `cbor:"12,keyasint,omitempty"`
	Speech
}

// Speech is what was said in an exchange with a model, or in a message to other agents.
type Speech struct {
	Speaker string `cbor:"13,keyasint,omitempty"` // the person that the instructions of a model name; "" if they name none
	Prompt  string `cbor:"14,keyasint,omitempty"` // the last message to a model
	Reply   string `cbor:"15,keyasint,omitempty"` // what the model answered, or the text of the message
	To      string `cbor:"16,keyasint,omitempty"` // the recipients of a message; "" for a model
	Calls   string `cbor:"17,keyasint,omitempty"` // the tools that the model asks for, one on each line
}

// Mark records that a session is in flight, and whether the engine throttles it.
func (c *Crowd) Mark(d *Activity) {
	if d.Cycle != c.Cycle || c.States[d.Agent] >= AgentOK { // the session has ended since
		return
	}
	c.States[d.Agent] = AgentInFlight
	if d.ThrottledBy != "" {
		c.States[d.Agent] = AgentThrottled
	}
}

// StateOf returns the state of an agent whose session ended with outcome o.
func StateOf(o Outcome) AgentState {
	switch o {
	case Unfinished:
		return AgentInFlight
	case Cut: // the session will run again
		return AgentWaiting
	default:
		return AgentOK + AgentState(o-OK)
	}
}
