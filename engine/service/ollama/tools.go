package ollama

import (
	"encoding/json"

	"github.com/throng-sim/throng/engine/service/llm"
)

// call is a call of a tool. Ollama's calls have no IDs: results name the tool.
type call struct {
	Function called `json:"function"`
}

type called struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // an object
}

func sentCalls(calls []llm.ToolCall) (all []call) {
	for _, c := range calls {
		all = append(all, call{called{c.Name, c.Object()}})
	}
	return all
}

// answered returns the name of the tool whose result a message is; "" for any other message.
func answered(m *llm.Message) string {
	if m.Answers == nil {
		return ""
	}
	return m.Answers.Name
}

// callsOf returns the tools that an answer asks for.
func callsOf(calls []call) (all []llm.ToolCall) {
	for _, c := range calls {
		all = append(all, llm.ToolCall{Name: c.Function.Name, Arguments: llm.ArgumentsOf(c.Function.Arguments)})
	}
	return all
}
