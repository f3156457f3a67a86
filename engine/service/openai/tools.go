package openai

import (
	"encoding/json"

	"github.com/throng-sim/throng/engine/service/llm"
)

type (
	wireCall struct {
		ID       string     `json:"id,omitempty"`
		Type     string     `json:"type"`
		Function wireCalled `json:"function"`
	}
	wireCalled struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a text; some services send an object
	}
)

type wireMessage struct {
	Role   string     `json:"role"`
	Text   string     `json:"content"`
	Calls  []wireCall `json:"tool_calls,omitempty"`
	CallID string     `json:"tool_call_id,omitempty"`
}

// messageOf returns a message in the wire format.
func messageOf(m *llm.Message) wireMessage {
	w := wireMessage{Role: m.Role, Text: m.Text}
	for _, c := range m.Calls {
		text, err := json.Marshal(c.Arguments)
		if err != nil {
			panic(err) // a string
		}
		w.Calls = append(w.Calls, wireCall{c.ID, "function", wireCalled{c.Name, text}})
	}
	if m.Answers != nil {
		w.CallID = m.Answers.ID
	}
	return w
}

// callsOf returns the tools that an answer asks for.
func callsOf(wire []wireCall) (calls []llm.ToolCall) {
	for _, c := range wire {
		calls = append(calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: llm.ArgumentsOf(c.Function.Arguments)})
	}
	return calls
}
