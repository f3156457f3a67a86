package scenario

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/message"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// intervention is a message from outside that is in inboxes from a cycle on.
type intervention struct {
	cycle int
	to    []string // ids; nil is everybody
	body  []byte
}

// nameless evaluates what sees nothing but the parameters.
type nameless struct{}

// Context implements chain.Contexts.
func (nameless) Context(field string) *script.Context { return &script.Context{Field: field} }

// interventions reads the messages from outside, in the order of their cycles.
func (r *reader) interventions(n *doc.Node) {
	for _, item := range n.List() {
		item.Fields("cycle", "to", "text", "data")
		item.Require("cycle", "to")
		if item.Get("text") == nil && item.Get("data") == nil {
			item.Errorf("`text: …` or `data: {…}`", "an intervention that says nothing")
		}
		in := intervention{to: r.recipients(item.Get("to"))}
		if c := item.Get("cycle"); c != nil {
			in.cycle = c.Int(0, math.MaxInt32)
		}
		text, data := r.said(item.Get("text")), r.said(item.Get("data"))
		var err error
		if in.body, err = message.AppendBody(nil, text, data); err != nil {
			item.Errorf("", "%v", err)
		}
		r.s.outside = append(r.s.outside, in)
	}
	slices.SortStableFunc(r.s.outside, func(a, b intervention) int { return a.cycle - b.cycle })
}

// recipients reads whom a message is for; nil is everybody.
func (r *reader) recipients(n *doc.Node) []string {
	if n == nil {
		return nil // reported
	}
	nodes := []*doc.Node{n}
	if n.Kind() == doc.List {
		nodes = n.List()
	} else if v, ok := r.constant(n); ok && v == starlark.String(message.All) {
		return nil
	}
	ids := []string{}
	for _, id := range nodes {
		if v, ok := r.constant(id); ok {
			text, err := value.Text(v)
			if err != nil {
				id.Errorf("", "%v", err)
			}
			ids = append(ids, text)
		}
	}
	return ids
}

// said is the value of a node; nil where there is none.
func (r *reader) said(n *doc.Node) value.Value {
	value := r.chains.Value(n, "said", nil)
	if value == nil || r.chains.Blind || r.report.Err() != nil {
		return nil
	}
	v, err := value.Eval(nameless{})
	if err != nil {
		n.Errorf("", "%v", err)
		return nil
	}
	return v
}

// arrivals are the messages from outside that a session begins with: those since its agent's inbox was read last, the
// file's before those by hand.
func (p *Program) arrivals(s *engine.Session) ([]engine.Letter, error) {
	return p.Arrivals(s.Place, s.Memory, s.Injected())
}

// Arrivals returns the messages from outside in an agent's inbox in a cycle. The agent's memory may be nil; injected
// are messages sent by hand.
func (p *Program) Arrivals(of engine.Place, m *engine.Memory, injected []engine.Letter) ([]engine.Letter, error) {
	if len(p.s.outside) == 0 {
		return injected, nil
	}
	from, id := 0, ""
	if m != nil {
		from = m.ReadTo
	}
	var letters []engine.Letter
	for _, in := range p.s.outside {
		if in.cycle < from || in.cycle > of.Cycle {
			continue
		}
		if in.to != nil {
			if id == "" {
				var err error
				if id, err = p.AgentID(of.Agent); err != nil {
					return nil, err
				}
			}
			if !slices.Contains(in.to, id) {
				continue
			}
		}
		letters = append(letters, engine.Letter{From: engine.Outside, Cycle: in.cycle, Body: in.body})
	}
	letters = append(letters, injected...)
	slices.SortStableFunc(letters, func(a, b engine.Letter) int { return a.Cycle - b.Cycle })
	return letters, nil
}

// Message is what a person tells agents mid-run, those with the ids or, without any, everybody; data is JSON text or
// empty. Mistakes are *engine.FieldError, joined.
func (p *Program) Message(ids []string, text, data string) (engine.Message, error) {
	var said value.Value
	var mistakes error
	if data != "" {
		var err error
		if said, err = value.DecodeJSON([]byte(data)); err != nil {
			mistakes = errors.Join(mistakes, &engine.FieldError{Field: "data", Problem: err.Error(), Hint: "JSON"})
		}
	}
	if text == "" && data == "" {
		mistakes = errors.Join(mistakes, &engine.FieldError{Field: "text", Problem: "nothing to say"})
	}
	var m engine.Message
	if len(ids) > 0 {
		var err error
		m.To, err = p.Find(ids)
		mistakes = errors.Join(mistakes, err)
	}
	if mistakes != nil {
		return engine.Message{}, mistakes
	}
	var line value.Value
	if text != "" {
		line = starlark.String(text)
	}
	body, err := message.AppendBody(nil, line, said)
	m.Body = body
	return m, err
}

// Check finds what shows only when the agents are known: interventions for somebody who is not there. Its error is a
// *engine.FieldError.
func (p *Program) Check() error {
	for _, in := range p.s.outside {
		for _, id := range in.to {
			_, ok, err := p.directory.Index(id)
			if err != nil {
				return &engine.FieldError{Field: "interventions", Problem: err.Error()}
			}
			if !ok {
				return &engine.FieldError{Field: "interventions", Problem: fmt.Sprintf("the one of cycle %d is for %q, and there is no such agent", in.cycle, id)}
			}
		}
	}
	return nil
}
