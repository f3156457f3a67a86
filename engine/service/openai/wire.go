// Package openai is OpenAI's wire format for completions and embeddings: requests, responses, streams, usage and errors.
package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
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

// Extra is an additional field of a completion request, named by the scenario.
type Extra struct {
	Name  string
	Value json.RawMessage
}

// field is a field of a request.
type field struct {
	name  string
	value any
}

// Body returns the request as JSON, without the fields that the model refuses.
func (c *Chat) Body(refused []string) ([]byte, error) {
	return encode(c.fields(refused))
}

// Refused returns the field that an error response refuses, or "" if the error is about something else. refused lists the fields
// that were left out of the request.
func (c *Chat) Refused(response []byte, refused []string) string {
	return readRefusal(response).refused(c.fields(refused))
}

// BoundsLength reports whether the request bounds the length of the answer.
func (c *Chat) BoundsLength(refused []string) bool {
	return c.MaxTokens > 0 && c.lengthField(refused) != ""
}

// fields returns the fields of the request in order, without those that are refused.
func (c *Chat) fields(refused []string) (all []field) {
	add := func(name string, value any) {
		if !slices.Contains(refused, name) {
			all = append(all, field{name, value})
		}
	}
	add("model", c.Model)
	add("messages", c.sent(refused))
	if name := c.lengthField(refused); c.MaxTokens > 0 && name != "" {
		add(name, c.MaxTokens)
	}
	if c.Temperature != nil {
		add(fieldTemperature, *c.Temperature)
	}
	add(fieldSeed, c.Seed)
	if c.Stream && !slices.Contains(refused, FieldStream) {
		add(FieldStream, true)
		add(fieldStreamOptions, map[string]bool{"include_usage": true})
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
	return all
}

// lengthField returns the field that limits the answer's length: the preferred one, or the other if the model refuses it; "" if it
// refuses both.
func (c *Chat) lengthField(refused []string) string {
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
func (c *Chat) sent(refused []string) []wireMessage {
	var all []wireMessage
	if c.InWords != "" && c.Format.JSON && slices.Contains(refused, fieldFormat) {
		all = append(all, wireMessage{"system", c.InWords})
	}
	for _, m := range c.Messages {
		all = append(all, wireMessage(m))
	}
	return all
}

type wireMessage struct {
	Role string `json:"role"`
	Text string `json:"content"`
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

// encode writes fields as a JSON object, in their order.
func encode(fields []field) ([]byte, error) {
	out := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// JSONHeader adds Accept and Content-Type to the header of a request with a JSON body. It may change h.
func JSONHeader(h http.Header, accept string) http.Header {
	if h == nil {
		h = http.Header{}
	}
	for name, value := range map[string]string{"Accept": accept, "Content-Type": "application/json"} {
		if h[name] == nil {
			h[name] = []string{value}
		}
	}
	return h
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
	Content wireContent `json:"content"`
	Refusal string      `json:"refusal"`
}

// whole returns the text and the refusal, which may be a part of the content.
func (r *wireReply) whole() (text, refusal string) {
	return r.Content.Text, r.Refusal + r.Content.Refusal
}

// wireContent is a text, or a list of parts: texts, refusals and reasoning, which is left out.
type wireContent struct{ Text, Refusal string }

// UnmarshalJSON implements [json.Unmarshaler].
func (c *wireContent) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, &c.Text) // null changes nothing
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var text, refusal strings.Builder
	for _, raw := range parts {
		part, err := readPart(raw)
		if err != nil {
			return err
		}
		text.WriteString(part.Text)
		refusal.WriteString(part.Refusal)
	}
	c.Text, c.Refusal = text.String(), refusal.String()
	return nil
}

var errPart = errors.New("a part of the content is neither a text nor an object")

// readPart reads a part of a content. Types other than text, such as reasoning and images, are ignored.
func readPart(raw json.RawMessage) (c wireContent, err error) {
	if len(raw) > 0 && raw[0] == '"' {
		return c, json.Unmarshal(raw, &c.Text)
	}
	var part struct {
		Type    string          `json:"type"`
		Text    json.RawMessage `json:"text"`
		Refusal string          `json:"refusal"`
	}
	if json.Unmarshal(raw, &part) != nil {
		return c, errPart
	}
	switch part.Type {
	case "refusal":
		c.Refusal = part.Refusal
	case "text", "output_text", "":
		var long struct {
			Value string `json:"value"`
		}
		if len(part.Text) > 0 && part.Text[0] == '{' {
			err = json.Unmarshal(part.Text, &long)
			return wireContent{Text: long.Value}, err
		}
		if len(part.Text) > 0 {
			err = json.Unmarshal(part.Text, &c.Text)
		}
	}
	return c, err
}
