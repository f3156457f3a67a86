package engine

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Injection is a message that a person sends to agents during a run.
type Injection struct {
	Cycle int    `cbor:"1,keyasint"`           // first cycle whose sessions receive it
	To    []int  `cbor:"2,keyasint,omitempty"` // agents, ascending; empty means all
	Body  []byte `cbor:"3,keyasint"`           // JSON text
}

// InjectionText is the text of an injection in a change.
type InjectionText struct {
	Cycle int             `json:"cycle"`
	To    []int           `json:"to,omitempty"`
	Body  json.RawMessage `json:"said"`
}

// ReadInjection returns the injection of a change. The result is false if the change is not an injection.
func ReadInjection(what, text string) (Injection, bool, error) {
	if what != InjectChange {
		return Injection{}, false, nil
	}
	var t InjectionText
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return Injection{}, false, fmt.Errorf("what was injected cannot be read: %w", err)
	}
	return Injection{t.Cycle, t.To, t.Body}, true, nil
}

// isFor reports whether the injection is for an agent.
func (i *Injection) isFor(agent int) bool {
	if len(i.To) == 0 {
		return true
	}
	_, found := slices.BinarySearch(i.To, agent)
	return found
}

// Injected returns the messages injected by hand that the agent has not read yet.
func (s *Session) Injected() []Letter {
	return Injected(s.host.Injected(), s.Memory, s.Place)
}

// Injected returns the messages of all that an agent finds in its inbox in a cycle. m is the agent's memory and may be nil.
func Injected(all []Injection, m *Memory, of Place) []Letter {
	from := 0
	if m != nil {
		from = m.ReadTo
	}
	var letters []Letter
	for _, i := range all {
		if i.Cycle >= from && i.Cycle <= of.Cycle && i.isFor(of.Agent) {
			letters = append(letters, Letter{Outside, i.Cycle, i.Body})
		}
	}
	return letters
}
