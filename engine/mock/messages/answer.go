package messages

import (
	"encoding/json"

	"github.com/throng-sim/throng/engine/mock/toolmock"
)

// Answer is what the model says.
type Answer struct {
	ID, Text           string
	Pieces             []string // of Text, as a stream has them
	Cut, Refused       bool
	Prompt, Completion int // tokens
	Cached             int // tokens of Prompt that are read from the cache
	Calls              []toolmock.Call
}

type (
	sent struct {
		ID      string  `json:"id"`
		Type    string  `json:"type"`
		Role    string  `json:"role"`
		Model   string  `json:"model"`
		Content []block `json:"content"`
		Stop    *string `json:"stop_reason"`
		At      *string `json:"stop_sequence"`
		Usage   usage   `json:"usage"`
	}
	block struct {
		Type  string          `json:"type"`
		Text  *string         `json:"text,omitempty"`
		ID    string          `json:"id,omitempty"`
		Name  string          `json:"name,omitempty"`
		Input json.RawMessage `json:"input,omitempty"`
	}
	usage struct {
		Input   int `json:"input_tokens"`
		Created int `json:"cache_creation_input_tokens"`
		Read    int `json:"cache_read_input_tokens"`
		Output  int `json:"output_tokens"`
	}
)

func (a *Answer) stop(r *Request) string {
	switch {
	case a.Refused:
		return "refusal"
	case a.Cut:
		return "max_tokens"
	case r.tool != "", a.Calls != nil:
		return "tool_use"
	}
	return "end_turn"
}

func (a *Answer) message(r *Request, content []block, output int) sent {
	return sent{
		ID: "msg_" + a.ID, Type: "message", Role: "assistant", Model: r.Model, Content: content,
		Usage: usage{Input: a.Prompt - a.Cached, Read: a.Cached, Output: output},
	}
}

// Body returns the answer as one body. A tool's input that was cut off is sent as a text, since it is not JSON.
func (r *Request) Body(a *Answer) []byte {
	content := []block{{Type: "text", Text: &a.Text}}
	if r.tool != "" && json.Valid([]byte(a.Text)) {
		content = []block{{Type: "tool_use", ID: "toolu_" + a.ID, Name: r.tool, Input: json.RawMessage(a.Text)}}
	}
	if a.Text == "" {
		content = []block{}
	}
	for _, c := range a.Calls {
		content = append(content, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage(c.Arguments)})
	}
	m := a.message(r, content, a.Completion)
	stop := a.stop(r)
	m.Stop = &stop
	return encode(m)
}

// Events returns the answer as the data of the events of a stream.
func (r *Request) Events(a *Answer) []string {
	type data = map[string]any
	var all []string
	add := func(d data) { all = append(all, string(encode(d))) }
	add(data{"type": "message_start", "message": a.message(r, []block{}, 1)})
	begin, kind, field := block{Type: "text", Text: new(string)}, "text_delta", "text"
	if r.tool != "" && json.Valid([]byte(a.Text)) {
		begin, kind, field = block{Type: "tool_use", ID: "toolu_" + a.ID, Name: r.tool, Input: json.RawMessage("{}")}, "input_json_delta", "partial_json"
	}
	add(data{"type": "content_block_start", "index": 0, "content_block": begin})
	for _, piece := range a.Pieces {
		add(data{"type": "content_block_delta", "index": 0, "delta": data{"type": kind, field: piece}})
	}
	add(data{"type": "content_block_stop", "index": 0})
	for i, c := range a.Calls {
		add(data{"type": "content_block_start", "index": 1 + i, "content_block": block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage("{}")}})
		add(data{"type": "content_block_delta", "index": 1 + i, "delta": data{"type": "input_json_delta", "partial_json": c.Arguments}})
		add(data{"type": "content_block_stop", "index": 1 + i})
	}
	add(data{"type": "message_delta", "delta": data{"stop_reason": a.stop(r), "stop_sequence": nil}, "usage": data{"output_tokens": a.Completion}})
	add(data{"type": "message_stop"})
	return all
}

// Event returns an event with its name, as it is sent. Data that is not JSON has none.
func Event(data string) string {
	var e struct {
		Type string `json:"type"`
	}
	if json.Unmarshal([]byte(data), &e) != nil {
		return "data: " + data + "\n\n"
	}
	return "event: " + e.Type + "\ndata: " + data + "\n\n"
}

// kinds are the types of errors by status.
var kinds = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error", 405: "invalid_request_error",
	413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error", 529: "overloaded_error",
}

// Error returns the body of an error.
func Error(status int, message string) []byte {
	kind, ok := kinds[status]
	if !ok {
		kind = "api_error"
	}
	return encode(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}})
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the mock's own answers have a JSON form
	}
	return b
}
