// Package openai is OpenAI's wire format for completions and embeddings: requests, responses, streams, usage and errors.
package openai

import (
	"encoding/json"
	"slices"

	"github.com/throng-sim/throng/engine/service/llm"
)

// Fields of a completion request that a model may refuse. They are left out for such a model.
const (
	fieldMaxTokens           = "max_tokens"
	fieldMaxCompletionTokens = "max_completion_tokens"
	fieldTemperature         = "temperature"
	fieldSeed                = "seed"
	// FieldStream asks for a stream.
	FieldStream        = "stream"
	fieldStreamOptions = "stream_options"
	fieldFormat        = "response_format"
	fieldEffort        = "reasoning_effort"
)

// OwnFields are the fields of a completion request that Throng sets itself, with the keys that set them in a scenario; "" for none.
var OwnFields = map[string]string{
	"model": "model", "messages": "messages", fieldMaxTokens: fieldMaxTokens, fieldMaxCompletionTokens: fieldMaxCompletionTokens,
	fieldTemperature: fieldTemperature, fieldSeed: "", FieldStream: FieldStream, fieldStreamOptions: "", fieldFormat: "answer", fieldEffort: fieldEffort, "n": "",
}

// Request implements [llm.API].
func (API) Request(c *llm.Chat, refused []string) *llm.Request {
	r := &llm.Request{Path: "/chat/completions", Header: llm.JSONHeader(c.Stream), Seeded: true}
	add := func(name string, value any) {
		if !slices.Contains(refused, name) {
			r.Fields = append(r.Fields, llm.Field{Name: name, Value: value})
		}
	}
	add("model", c.Model)
	add("messages", sent(c, refused))
	if name := lengthField(c, refused); c.MaxTokens > 0 && name != "" {
		add(name, c.MaxTokens)
		r.Bounded = true
	}
	if c.Temperature != nil {
		add(fieldTemperature, *c.Temperature)
	}
	add(fieldSeed, c.Seed)
	if c.Stream && !slices.Contains(refused, FieldStream) {
		add(FieldStream, true)
		add(fieldStreamOptions, map[string]bool{"include_usage": true})
	}
	if len(c.Tools) > 0 {
		add(llm.FieldTools, llm.Functions(c.Tools))
	}
	switch f := c.Format; {
	case f.Schema != nil:
		add(fieldFormat, wireFormat{Type: "json_schema", Schema: &wireSchema{f.Name, f.Schema, f.Strict}})
	case f.JSON:
		add(fieldFormat, wireFormat{Type: "json_object"})
	}
	if c.Effort != "" {
		add(fieldEffort, c.Effort)
	}
	for _, e := range c.Extra {
		add(e.Name, e.Value)
	}
	return r
}

// lengthField returns the field that limits the answer's length: the preferred one, or the other if the model refuses it; "" if it
// refuses both.
func lengthField(c *llm.Chat, refused []string) string {
	names := []string{fieldMaxTokens, fieldMaxCompletionTokens}
	if c.Completion || reasons(c.Model) {
		slices.Reverse(names)
	}
	for _, name := range names {
		if !slices.Contains(refused, name) {
			return name
		}
	}
	return ""
}

// sent returns the messages, preceded by the format in words if it cannot be a field.
func sent(c *llm.Chat, refused []string) []wireMessage {
	var all []wireMessage
	if c.InWords != "" && c.Format.JSON && slices.Contains(refused, fieldFormat) {
		all = append(all, wireMessage{Role: "system", Text: c.InWords})
	}
	for _, m := range c.Messages {
		all = append(all, messageOf(&m))
	}
	return all
}

type wireFormat struct {
	Type   string      `json:"type"`
	Schema *wireSchema `json:"json_schema,omitempty"`
}

type wireSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

// wireAnswer is the body of a response with completions.
type wireAnswer struct {
	Choices []struct {
		Message wireReply `json:"message"`
		Finish  string    `json:"finish_reason"`
	} `json:"choices"`
}

// wirePiece is an event of a stream.
type wirePiece struct {
	Choices []struct {
		Delta  wireReply `json:"delta"`
		Finish string    `json:"finish_reason"`
	} `json:"choices"`
}

// wireReply is a message of a model, or a piece of it.
type wireReply struct {
	Content llm.Content `json:"content"`
	Refusal string      `json:"refusal"`
	Calls   []wireCall  `json:"tool_calls"`
}

// whole returns the text and the refusal, which may be a part of the content.
func (r *wireReply) whole() (text, refusal string) {
	return r.Content.Text, r.Refusal + r.Content.Refusal
}
