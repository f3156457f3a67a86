package engine

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Injection is a message that a person put into inboxes mid-run.
type Injection struct {
	Cycle int    `cbor:"1,keyasint"`           // the first whose sessions find it
	To    []int  `cbor:"2,keyasint,omitempty"` // agents, ascending; empty is everybody
	Body  []byte `cbor:"3,keyasint"`           // JSON text
}

// InjectionText is the text of a change that injects a message.
type InjectionText struct {
	Cycle int             `json:"cycle"`
	To    []int           `json:"to,omitempty"`
	Body  json.RawMessage `json:"said"`
}

// ReadInjection returns what a change put into inboxes; false if it is none that did.
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

// isFor reports whether an agent finds it in its inbox.
func (i *Injection) isFor(agent int) bool {
	if len(i.To) == 0 {
		return true
	}
	_, found := slices.BinarySearch(i.To, agent)
	return found
}

// Injected are the messages that were put into the agent's inbox by hand since it was read last.
func (s *Session) Injected() []Letter {
	return Injected(s.host.Injected(), s.Memory, s.Place)
}

// Injected are those messages of all that an agent with a memory, nil is none, finds in its inbox in a cycle.
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
