// Package messages is Anthropic's wire format for the mock model: requests as those of OpenAI's format, and answers.
package messages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/mock/toolmock"
)

// Request is a request for a message.
type Request struct {
	Model  string
	Stream bool
	Chat   []byte // the same request in OpenAI's format
	Cached string // the part of the prompt up to the last mark of the cache

	tool string // that the model must use; "" for none
}

// body is the body of a request.
type body struct {
	Model      string          `json:"model"`
	MaxTokens  *int            `json:"max_tokens"`
	System     content         `json:"system"`
	Messages   []message       `json:"messages"`
	Stream     bool            `json:"stream"`
	Heat       *float64        `json:"temperature"`
	TopP       *float64        `json:"top_p"`
	TopK       *int            `json:"top_k"`
	Stops      []string        `json:"stop_sequences"`
	Config     config          `json:"output_config"`
	Tools      []tool          `json:"tools"`
	ToolChoice toolChoice      `json:"tool_choice"`
	Metadata   json.RawMessage `json:"metadata"`
	Thinking   json.RawMessage `json:"thinking"`
	Tier       string          `json:"service_tier"`
}

type (
	message struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	}
	config struct {
		Effort string `json:"effort"`
		Format *struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	}
	tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	}
	toolChoice struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}
)

// content is a text, or blocks: texts, uses of tools and their results.
type content struct {
	text    string
	cached  int // bytes up to the last mark
	given   bool
	calls   []toolmock.Call
	results []result
}

// result is the result of a tool.
type result struct{ id, text string }

var errBlock = errors.New("the mock reads blocks of the types 'text', with a text that is not empty, 'tool_use' and 'tool_result' only")

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(data []byte) error {
	c.given = true
	if len(data) > 0 && data[0] != '[' {
		return json.Unmarshal(data, &c.text)
	}
	var blocks []struct {
		Type   string          `json:"type"`
		Text   string          `json:"text"`
		Cache  json.RawMessage `json:"cache_control"`
		ID     string          `json:"id"`
		Name   string          `json:"name"`
		Input  json.RawMessage `json:"input"`
		Of     string          `json:"tool_use_id"`
		Result content         `json:"content"`
	}
	if err := json.Unmarshal(data, &blocks); err != nil {
		return err
	}
	for _, b := range blocks {
		switch {
		case b.Type == "tool_use" && len(b.Input) > 0 && b.Input[0] == '{':
			c.calls = append(c.calls, toolmock.Call{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		case b.Type == "tool_result":
			c.results = append(c.results, result{b.Of, b.Result.text})
		case b.Type != "text" || b.Text == "":
			return errBlock
		}
		c.text += b.Text
		if b.Cache != nil {
			c.cached = len(c.text)
		}
	}
	return nil
}

// fields are the fields of a request that are known. Others are refused.
var fields = []string{
	"model", "max_tokens", "system", "messages", "stream", "temperature", "top_p", "top_k", "stop_sequences", "output_config", "tools",
	"tool_choice", "metadata", "thinking", "service_tier",
}

// Read reads the body of a request. seed is the seed of the answer as a number; "" is the mock's. The error is for the caller of the
// API.
func Read(data []byte, header http.Header, seed string) (*Request, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, errors.New("the request body is not valid JSON")
	}
	for name := range all {
		if !slices.Contains(fields, name) {
			return nil, fmt.Errorf("%s: Extra inputs are not permitted", name)
		}
	}
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, err
	}
	if err := b.check(header); err != nil {
		return nil, err
	}
	r := &Request{Model: b.Model, Stream: b.Stream, Cached: b.System.text[:b.System.cached]}
	if b.ToolChoice.Type == "tool" {
		r.tool = b.ToolChoice.Name
	}
	chat, err := b.chat(seed)
	r.Chat = chat
	return r, err
}

// check returns what is wrong with a request.
func (b *body) check(header http.Header) error {
	switch {
	case header.Get("Anthropic-Version") == "":
		return errors.New("anthropic-version: header is required")
	case b.Model == "":
		return errors.New("model: Field required")
	case b.MaxTokens == nil:
		return errors.New("max_tokens: Field required")
	case *b.MaxTokens < 1:
		return errors.New("max_tokens: must be greater than or equal to 1")
	case b.Heat != nil && !(*b.Heat >= 0 && *b.Heat <= 1):
		return errors.New("temperature: range: 0..1")
	case len(b.Messages) == 0:
		return errors.New("messages: at least one message is required")
	case b.Config.Format != nil && b.Config.Format.Type != "json_schema":
		return errors.New("output_config.format.type: Input should be 'json_schema'")
	case b.ToolChoice.Type == "tool" && b.tool() == nil:
		return fmt.Errorf("tool_choice.name: Tool '%s' not found in provided tools", b.ToolChoice.Name)
	}
	for i, m := range b.Messages {
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return fmt.Errorf("messages.%d.role: Input should be 'user' or 'assistant'", i)
		case !m.Content.given:
			return fmt.Errorf("messages.%d.content: Field required", i)
		case strings.TrimSpace(m.Content.text) == "" && m.Content.calls == nil && m.Content.results == nil:
			return fmt.Errorf("messages.%d: content must be non-empty", i)
		}
	}
	return nil
}

// tool returns the tool that the model must use; nil if there is none.
func (b *body) tool() *tool {
	i := slices.IndexFunc(b.Tools, func(t tool) bool { return t.Name == b.ToolChoice.Name && len(t.Schema) > 0 })
	if b.ToolChoice.Type != "tool" || i < 0 {
		return nil
	}
	return &b.Tools[i]
}

// offered returns the tools in OpenAI's form.
func (b *body) offered() (all []toolmock.Tool) {
	for _, t := range b.Tools {
		all = append(all, toolmock.Tool{Name: t.Name, About: t.Description, Schema: t.Schema})
	}
	return all
}

// formName names the form of an answer that has no name in the request. It is the name that the engine uses in other formats, so
// that the mock answers the same.
const formName = "answer"

// noHint is a limit of an answer's length from which it does not hint at how long the answer should be. The API requires a limit.
const noHint = 4096

// chat returns the request in OpenAI's format.
func (b *body) chat(seed string) ([]byte, error) {
	type said struct {
		Role  string `json:"role"`
		Text  string `json:"content"`
		Calls any    `json:"tool_calls,omitempty"`
		Of    string `json:"tool_call_id,omitempty"`
	}
	chat := struct {
		Model    string          `json:"model"`
		Messages []said          `json:"messages"`
		Most     *int            `json:"max_tokens,omitempty"`
		Heat     *float64        `json:"temperature,omitempty"`
		Stops    []string        `json:"stop,omitempty"`
		Stream   bool            `json:"stream,omitempty"`
		Seed     json.RawMessage `json:"seed,omitempty"`
		Format   any             `json:"response_format,omitempty"`
		Tools    any             `json:"tools,omitempty"`
	}{Model: b.Model, Most: b.MaxTokens, Heat: b.Heat, Stops: b.Stops, Stream: b.Stream}
	if *b.MaxTokens >= noHint {
		chat.Most = nil
	}
	if b.System.text != "" {
		chat.Messages = append(chat.Messages, said{Role: "system", Text: b.System.text})
	}
	for _, m := range b.Messages {
		for _, r := range m.Content.results {
			chat.Messages = append(chat.Messages, said{Role: "tool", Text: r.text, Of: r.id})
		}
		if m.Content.results == nil || m.Content.text != "" {
			chat.Messages = append(chat.Messages, said{Role: m.Role, Text: m.Content.text, Calls: toolmock.Wire(m.Content.calls)})
		}
	}
	if seed != "" {
		chat.Seed = json.RawMessage(seed)
	}
	form := func(name string, schema json.RawMessage) {
		chat.Format = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": name, "schema": schema}}
	}
	if t := b.tool(); t != nil {
		form(t.Name, t.Schema)
	} else {
		chat.Tools = toolmock.Offer(b.offered())
		if b.Config.Format != nil {
			form(formName, b.Config.Format.Schema)
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(chat); err != nil {
		return nil, errors.New("seed: Input should be a valid integer")
	}
	return out.Bytes(), nil
}
