// Package anthropic is the wire format of Anthropic's Messages API: requests, responses, streams and errors.
package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/service/llm"
)

// API is the Messages API.
type API struct{}

var _ llm.API = API{}

// Version is the version of the API that is requested.
const Version = "2023-06-01"

// DefaultMaxTokens is the limit of an answer's length if the chat has none: the API requires one.
const DefaultMaxTokens = 4096

// Fields of a request, and parts of them, that a model may refuse. They are left out for such a model. output_config and, if that is
// refused, tool_choice request the form of an answer.
const (
	fieldConfig     = "output_config"
	fieldToolChoice = "tool_choice"
	partEffort      = "effort"
	partCache       = "cache_control"
)

// OwnFields are the fields of a request that Throng sets itself, in addition to those of OpenAI's format, with the keys that set them
// in a scenario.
var OwnFields = map[string]string{"system": "system"}

// Request implements [llm.API].
func (API) Request(c *llm.Chat, refused []string) *llm.Request {
	b := &body{chat: c, refused: refused, r: &llm.Request{Path: "/messages", Header: llm.JSONHeader(c.Stream), Bounded: c.MaxTokens > 0}}
	b.r.Header["Anthropic-Version"] = Version
	form := b.form()
	b.add("model", c.Model)
	most := DefaultMaxTokens
	if c.MaxTokens > 0 {
		most = c.MaxTokens
	}
	b.add("max_tokens", most)
	if form == fieldToolChoice { // services put tools in front of everything else
		b.r.Forced = true
		b.add(llm.FieldTools, []tool{{c.Format.Name, "Answers the request.", c.Format.Schema}})
		b.add(fieldToolChoice, map[string]string{"type": "tool", "name": c.Format.Name})
	} else if len(c.Tools) > 0 {
		b.add(llm.FieldTools, toolsOf(c.Tools))
	}
	system, messages := b.split(form == "")
	if len(system) > 0 {
		b.add("system", system)
	}
	b.add("messages", messages)
	if c.Temperature != nil {
		b.add("temperature", *c.Temperature)
	}
	if c.Stream {
		b.add("stream", true)
	}
	b.config(form)
	for _, e := range c.Extra {
		if !slices.Contains(refused, e.Name) && e.Name != partCache { // it is the mark's

			b.r.Fields = append(b.r.Fields, llm.Field{Name: e.Name, Value: e.Value})
		}
	}
	return b.r
}

// body is a request in the making.
type body struct {
	chat    *llm.Chat
	refused []string
	r       *llm.Request
}

// add adds a field, unless it is refused or the scenario has one of that name.
func (b *body) add(name string, value any) {
	if !b.taken(name) {
		b.r.Fields = append(b.r.Fields, llm.Field{Name: name, Value: value})
	}
}

func (b *body) taken(name string) bool {
	return slices.Contains(b.refused, name) || slices.ContainsFunc(b.chat.Extra, func(e llm.Extra) bool { return e.Name == name })
}

// form returns the field that requests the form of the answer: the first that the model and the scenario leave free; "" for none.
// Only a tool accepts schemas of any kind, and a model that must use it cannot ask for others.
func (b *body) form() string {
	f := b.chat.Format
	switch {
	case f.Schema == nil:
		return ""
	case f.Strict && !b.taken(fieldConfig):
		return fieldConfig
	case len(b.chat.Tools) == 0 && !b.taken(fieldToolChoice) && !b.taken(llm.FieldTools):
		return fieldToolChoice
	}
	return ""
}

// config adds the form and the effort.
func (b *body) config(form string) {
	var config outputConfig
	if form == fieldConfig {
		config.Format = &outputFormat{"json_schema", b.chat.Format.Schema}
	}
	if b.chat.Effort != "" && !slices.Contains(b.refused, partEffort) {
		config.Effort = b.chat.Effort
		b.r.Parts = append(b.r.Parts, partEffort)
	}
	extra := slices.ContainsFunc(b.chat.Extra, func(e llm.Extra) bool { return e.Name == fieldConfig })
	if !extra && (config.Format != nil || config.Effort != "") {
		b.r.Fields = append(b.r.Fields, llm.Field{Name: fieldConfig, Value: config})
	}
}

// split separates the instructions, which the messages begin with, from the conversation. Later instructions are sent as the
// user's. words says that the form is requested in words. A mark after the part that is the same for all agents lets the service
// cache it; the field cache_control of the scenario replaces it.
func (b *body) split(words bool) (system []block, messages []message) {
	all := b.chat.Messages
	if words && b.chat.Format.Schema != nil && b.chat.InWords != "" {
		first := llm.Message{Role: "system", Text: b.chat.InWords, Stable: len(b.chat.InWords)}
		all = slices.Insert(slices.Clone(all), 0, first)
	}
	stable, cached := true, -1
	add := func(text string) {
		if strings.TrimSpace(text) != "" { // the API refuses empty blocks
			system = append(system, block{Type: "text", Text: text})
		}
	}
	for i, m := range all {
		if instructs(m.Role) && len(messages) == 0 && i < len(all)-1 {
			if stable {
				add(m.Text[:m.Stable])
				cached = len(system) - 1
				stable = m.Stable == len(m.Text)
				m.Text = m.Text[m.Stable:]
			}
			add(m.Text)
			continue
		}
		messages = appended(messages, &m)
	}
	if cached >= 0 && !slices.Contains(b.refused, partCache) {
		system[cached].Cache = json.RawMessage(`{"type":"ephemeral"}`)
		for _, e := range b.chat.Extra {
			if e.Name == partCache {
				system[cached].Cache = e.Value
			}
		}
		b.r.Parts = append(b.r.Parts, partCache)
	}
	return system, messages
}

func instructs(role string) bool { return role == "system" || role == "developer" }

type (
	block struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Cache json.RawMessage `json:"cache_control,omitempty"`
	}
	outputConfig struct {
		Effort string        `json:"effort,omitempty"`
		Format *outputFormat `json:"format,omitempty"`
	}
	outputFormat struct {
		Type   string          `json:"type"`
		Schema json.RawMessage `json:"schema"`
	}
)
