package llm

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// RoleTool is the role of a message that answers a call of a tool.
const RoleTool = "tool"

// FieldTools is the field that offers tools, in all wire formats. A model that refuses it fails the call: without its tools, it would
// answer another question.
const FieldTools = "tools"

// FormName names the form of an answer. Formats that request a form by a tool give the tool this name, so no other tool may have it.
const FormName = "answer"

// Tool is a tool that a model may ask for.
type Tool struct {
	Name   string
	About  string          // what it does, for the model
	Schema json.RawMessage // of its arguments, an object
}

type (
	wireTool struct {
		Type     string       `json:"type"`
		Function wireFunction `json:"function"`
	}
	wireFunction struct {
		Name   string          `json:"name"`
		About  string          `json:"description,omitempty"`
		Schema json.RawMessage `json:"parameters"`
	}
)

// Functions returns tools as the functions of a request, the form of OpenAI's and Ollama's formats.
func Functions(tools []Tool) any {
	all := make([]wireTool, len(tools))
	for i, t := range tools {
		all[i] = wireTool{"function", wireFunction(t)}
	}
	return all
}

// ToolCall is a model's request to call a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // as JSON; models may write anything
}

// String returns the call as text: name(arguments).
func (c ToolCall) String() string { return c.Name + "(" + c.Arguments + ")" }

// CallsText returns calls as text, one on each line.
func CallsText(calls []ToolCall) string {
	lines := make([]string, len(calls))
	for i, c := range calls {
		lines[i] = c.String()
	}
	return strings.Join(lines, "\n")
}

// NumberedCalls sets the missing IDs of the calls of a message, which answers refer to. before is how many calls the chat has before them.
func NumberedCalls(calls []ToolCall, before int) {
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = "call_" + strconv.Itoa(before+i+1)
		}
	}
}

// ArgumentsOf returns arguments as text: those that a format has as an object or as a text. Missing ones are an empty object.
func ArgumentsOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "{}"
	case json.Unmarshal(raw, &text) == nil:
		if strings.TrimSpace(text) == "" {
			return "{}"
		}
		return text
	}
	return string(raw)
}

// Object returns the arguments as JSON for formats that need an object. Arguments that are not one become an object with their text.
func (c ToolCall) Object() json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Arguments), &members) == nil && members != nil {
		return json.RawMessage(c.Arguments)
	}
	return asRaw(map[string]string{"arguments": c.Arguments})
}
