// Package ollama is the wire format of Ollama's own chat API, which has options that its copy of OpenAI's format lacks, such as
// num_ctx.
package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/service/llm"
)

// API is Ollama's chat API.
type API struct{}

var _ llm.API = API{}

// Fields of a request that a model may refuse. They are left out for such a model.
const (
	fieldFormat  = "format"
	fieldThink   = "think"
	fieldOptions = "options"
)

type message struct {
	Role  string `json:"role"`
	Text  string `json:"content"`
	Calls []call `json:"tool_calls,omitempty"`
	Tool  string `json:"tool_name,omitempty"` // whose result it is
}

// Request implements [llm.API]. Options of the scenario add to those of the chat, and override them.
func (API) Request(c *llm.Chat, refused []string) *llm.Request {
	r := &llm.Request{Path: "/api/chat", Rooted: true, Header: llm.JSONHeader(false), Seeded: true, Bounded: c.MaxTokens > 0}
	add := func(name string, value any) {
		if !slices.Contains(refused, name) {
			r.Fields = append(r.Fields, llm.Field{Name: name, Value: value})
		}
	}
	var messages []message
	if c.Format.JSON && c.InWords != "" && slices.Contains(refused, fieldFormat) {
		messages = append(messages, message{Role: "system", Text: c.InWords})
	}
	for _, m := range c.Messages {
		role := m.Role
		if role == "developer" {
			role = "system"
		}
		messages = append(messages, message{Role: role, Text: m.Text, Calls: sentCalls(m.Calls), Tool: answered(&m)})
	}
	add("model", c.Model)
	add("messages", messages)
	add("stream", c.Stream) // the default is a stream
	if len(c.Tools) > 0 {
		add(llm.FieldTools, llm.Functions(c.Tools))
	}
	switch {
	case c.Format.Schema != nil:
		add(fieldFormat, c.Format.Schema)
	case c.Format.JSON:
		add(fieldFormat, "json")
	}
	if c.Effort != "" {
		add(fieldThink, c.Effort)
		r.Parts = []string{fieldThink, "thinking"} // errors name it in either way
		if slices.Contains(refused, "thinking") {
			r.Fields = r.Fields[:len(r.Fields)-1]
		}
	}
	options := optionsOf(c)
	for _, e := range c.Extra {
		var more map[string]any
		if e.Name == fieldOptions && json.Unmarshal(e.Value, &more) == nil {
			maps.Copy(options, more)
			continue
		}
		add(e.Name, e.Value)
	}
	add(fieldOptions, options)
	return r
}

func optionsOf(c *llm.Chat) map[string]any {
	options := map[string]any{"seed": c.Seed}
	if c.Temperature != nil {
		options["temperature"] = *c.Temperature
	}
	if c.MaxTokens > 0 {
		options["num_predict"] = c.MaxTokens
	}
	return options
}

// answer is the body of a response, or a line of a stream.
type answer struct {
	Message *message `json:"message"`
	Done    bool     `json:"done"`
	Reason  string   `json:"done_reason"`
	Error   string   `json:"error"`
}

// Read implements [llm.API].
func (API) Read(body []byte) (*llm.Completion, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("the answer cannot be read: %w", err)
	}
	switch {
	case a.Error != "":
		return nil, &llm.Error{Message: a.Error}
	case a.Message == nil || !a.Done:
		return nil, fmt.Errorf("the answer is not one of Ollama's chat API: %.200q", body)
	}
	return &llm.Completion{Text: a.Message.Text, Cut: a.Reason == "length", Calls: callsOf(a.Message.Calls)}, nil
}

// Stream implements [llm.API]. The last line has the usage, so that a complete JSON object is not enough.
func (API) Stream(bool) llm.Stream { return &stream{} }

type stream struct {
	text      strings.Builder
	done, cut bool
	bad       error
}

// Add implements [llm.Stream].
func (s *stream) Add(line []byte) (enough bool) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return false
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		s.bad = fmt.Errorf("a piece of the answer cannot be read: %w", err)
		return true
	}
	if a.Error != "" {
		s.bad = &llm.Error{Message: a.Error}
		return true
	}
	if a.Message != nil {
		s.text.WriteString(a.Message.Text)
	}
	s.done, s.cut = a.Done, a.Reason == "length"
	return a.Done
}

// Completion implements [llm.Stream].
func (s *stream) Completion() (*llm.Completion, error) {
	switch {
	case s.bad != nil:
		return nil, s.bad
	case !s.done:
		return nil, errors.New("the answer breaks off")
	}
	return &llm.Completion{Text: s.text.String(), Cut: s.cut}, nil
}
