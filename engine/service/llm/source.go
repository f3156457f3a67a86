package llm

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/throng-sim/throng/engine/spans"
)

// sourceTold is what a response or an event of a stream says about itself, in the fields of different services.
type sourceTold struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Stop    string `json:"stop_reason"`
	Done    string `json:"done_reason"`
	Choices []struct {
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Message struct {
		ID    string `json:"id"`
		Model string `json:"model"`
	} `json:"message"`
	Delta struct {
		Stop string `json:"stop_reason"`
	} `json:"delta"`
}

// ReadSource returns what the body of a response says about itself. It understands streams and all wire formats.
func ReadSource(body []byte) (s spans.Source) {
	if add(&s, body) {
		return s
	}
	for line := range bytes.Lines(body) {
		line, _ = bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		add(&s, line)
	}
	return s
}

// add adds what a piece of JSON says, and reports whether it is one.
func add(s *spans.Source, data []byte) bool {
	var t sourceTold
	if json.Unmarshal(data, &t) != nil {
		return false
	}
	for _, id := range []string{t.ID, t.Message.ID} {
		if s.ID == "" {
			s.ID = id
		}
	}
	for _, model := range []string{t.Model, t.Message.Model} {
		if s.Model == "" {
			s.Model = model
		}
	}
	ends := []string{t.Stop, t.Done, t.Delta.Stop}
	for _, c := range t.Choices {
		ends = append(ends, c.Finish)
	}
	for _, end := range ends {
		if end != "" && !slices.Contains(s.Finish, end) {
			s.Finish = append(s.Finish, end)
		}
	}
	return true
}

// Describe adds the chat to the description of its call. seeded says that the request has the seed. shown returns a text of the prompt for
// display; nil leaves the prompt out.
func (c *Chat) Describe(m *spans.Model, seeded bool, shown func(text string) string) {
	m.Temperature, m.MaxTokens, m.JSON, m.Stream = c.Temperature, c.MaxTokens, c.Format.JSON, c.Stream
	if seeded {
		m.Seed = &c.Seed
	}
	if shown == nil {
		return
	}
	m.Prompt = []spans.Message{}
	for _, said := range c.Messages {
		m.Prompt = append(m.Prompt, spans.Message{Role: said.Role, Text: shown(said.Text)})
	}
}
