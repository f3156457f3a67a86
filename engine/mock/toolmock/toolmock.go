// Package toolmock is the use of tools by the mock model: which tools it asks for, with arguments that fit their schemas.
package toolmock

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/mock/wire"
)

// Tool is a tool that a request offers.
type Tool struct {
	Name   string          `json:"name"`
	About  string          `json:"description,omitempty"`
	Schema json.RawMessage `json:"parameters"`
}

// Call is a call of a tool that an answer asks for.
type Call struct{ ID, Name, Arguments string }

// The forms of tools and calls in OpenAI's format.
type (
	wireTool struct {
		Type     string `json:"type"`
		Function Tool   `json:"function"`
	}
	wireCall struct {
		ID       string     `json:"id"`
		Type     string     `json:"type"`
		Function wireCalled `json:"function"`
	}
	wireCalled struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// ReadTools reads the tools of a request in OpenAI's format. The error is for the caller of the API.
func ReadTools(raw json.RawMessage) ([]Tool, error) {
	var list []wireTool
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("invalid 'tools': expected an array of functions")
	}
	var all []Tool
	for i, t := range list {
		switch {
		case t.Type != "function":
			return nil, fmt.Errorf("invalid value for 'tools[%d].type': the mock has functions only", i)
		case len(t.Function.Name) > 64 || !toolName.MatchString(t.Function.Name):
			return nil, fmt.Errorf("invalid 'tools[%d].function.name': letters, digits, _ and - only, at most 64", i)
		case len(t.Function.Schema) == 0:
			t.Function.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		all = append(all, t.Function)
	}
	return all, nil
}

// ReadCalls reads the calls of an assistant's message in OpenAI's format. The error is for the caller of the API.
func ReadCalls(raw json.RawMessage) ([]Call, error) {
	var list []wireCall
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("invalid 'tool_calls': expected an array of calls")
	}
	var all []Call
	for _, c := range list {
		if c.ID == "" || c.Function.Name == "" {
			return nil, errors.New("invalid 'tool_calls': a call has an id and the name of a function")
		}
		all = append(all, Call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return all, nil
}

// Wire returns calls in OpenAI's format; nil for none.
func Wire(calls []Call) any {
	var all []wireCall
	for _, c := range calls {
		all = append(all, wireCall{c.ID, "function", wireCalled{c.Name, c.Arguments}})
	}
	if all == nil {
		return nil
	}
	return all
}

// Offer returns tools in OpenAI's format; nil for none.
func Offer(tools []Tool) any {
	var all []wireTool
	for _, t := range tools {
		all = append(all, wireTool{"function", t})
	}
	if all == nil {
		return nil
	}
	return all
}

// Text returns what calls count as in tokens.
func Text(calls []Call) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(c.Name + c.Arguments)
	}
	return b.String()
}

// Pending are the calls that the messages of a request have not answered yet.
type Pending struct{ ids []string }

// Add notes a message: its calls, or the ID of the call that it answers. The error is for the caller of the API.
func (p *Pending) Add(role string, calls []Call, answers string) error {
	if role == "tool" {
		for i, id := range p.ids {
			if id == answers {
				p.ids = append(p.ids[:i], p.ids[i+1:]...)
				return nil
			}
		}
		return fmt.Errorf("messages with role 'tool' must answer a call of the message before: there is no call %q", answers)
	}
	if err := p.End(); err != nil {
		return err
	}
	for _, c := range calls {
		p.ids = append(p.ids, c.ID)
	}
	return nil
}

// End returns an error if a call has no answer.
func (p *Pending) End() error {
	if len(p.ids) > 0 {
		return fmt.Errorf("an assistant message with 'tool_calls' must be followed by tool messages for each call: %q has none", p.ids[0])
	}
	return nil
}

// twoCalls is the share of answers that ask for two tools, if they ask for any.
const twoCalls = 0.3

// Choose draws the calls of an answer; none if the model answers. answered reports whether the messages have results of tools: then a
// model asks again only if faults say so. document returns arguments that fit a schema.
func Choose(key draw.Key, tools []Tool, answered bool, faults wire.Tools, document func(schema json.RawMessage, key draw.Key) (string, error)) ([]Call, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	key = key.Text("tools")
	source := key.Source()
	if again := source.Float64() < faults.Again; answered && !again {
		return nil, nil
	}
	unknown, misfit := source.Float64() < faults.Unknown, source.Float64() < faults.Misfit
	n := uint64(1)
	if source.Float64() < twoCalls {
		n = 2
	}
	var all []Call
	for i := range n {
		t := tools[int(source.Float64()*float64(len(tools)))]
		arguments, err := document(t.Schema, key.Int(i))
		if err != nil {
			return nil, fmt.Errorf("invalid schema of the function '%s': %w", t.Name, err)
		}
		if unknown {
			t.Name += "_that_is_not_there"
		}
		if misfit {
			arguments = `["these", "do", "not", "fit"]`
		}
		hi, _ := key.Text("call").Int(i).Sum()
		all = append(all, Call{"call_" + hex.EncodeToString([]byte{byte(hi), byte(hi >> 8), byte(hi >> 16), byte(hi >> 24), byte(hi >> 32), byte(hi >> 40)}), t.Name, arguments})
	}
	return all, nil
}
