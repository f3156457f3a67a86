package engine

import (
	"context"
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

// injectionText is what a change says of an injection.
type injectionText struct {
	Cycle int             `json:"cycle"`
	To    []int           `json:"to,omitempty"`
	Body  json.RawMessage `json:"said"`
}

// ReadInjection returns what a change put into inboxes; false if it is none that did.
func ReadInjection(what, text string) (Injection, bool, error) {
	if what != InjectChange {
		return Injection{}, false, nil
	}
	var t injectionText
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

// Inject puts a message from outside into inboxes at the next barrier and waits until that is durable: m.To are the
// agents, ascending, none is everybody, and to says who they are for people. The run is inexact from then on.
func (r *Run) Inject(ctx context.Context, m Message, to, who string) error {
	if !json.Valid(m.Body) {
		return &FieldError{"message", "it is no JSON text", ""}
	}
	return r.answered(ctx, func(_ *node, id answerID) event { return injectOrder{m, to, who, id} })
}

// hear waits for what the loop says once something is durable.
func (r *Run) hear(ctx context.Context, saved <-chan error) error {
	select {
	case err := <-saved:
		return err
	case <-r.done:
		select {
		case err := <-saved:
			return err
		default:
			return ErrEnded
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// withNewest adds an injection to those in inboxes; of more than an inbox holds, the newest stay. Snapshots and checkpoints
// share the list.
func withNewest(all []Injection, i Injection) []Injection {
	return append(slices.Clip(all[max(0, len(all)-MostLetters+1):]), i)
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
