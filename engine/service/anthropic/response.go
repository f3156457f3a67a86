package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/throng-sim/throng/engine/service/llm"
)

// StatusOverloaded is the status of an overloaded service.
const StatusOverloaded = 529

// answer is the body of a response.
type answer struct {
	Type    string  `json:"type"`
	Content []piece `json:"content"`
	Stop    string  `json:"stop_reason"`
}

// piece is a content block. Others than text and uses of tools, such as reasoning, are left out.
type piece struct {
	Type string `json:"type"`
	Text string `json:"text"`
	use
}

// Read implements [llm.API].
func (API) Read(body []byte) (*llm.Completion, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		if text := bytes.TrimSpace(body); len(text) > 0 && text[0] == '<' {
			return nil, fmt.Errorf("the message cannot be read: it is a page, %.100q; is the service's address the one of its API, which mostly ends with /v1?", text)
		}
		return nil, fmt.Errorf("the message cannot be read: %w", err)
	}
	if err := errorIn(body); err != nil {
		return nil, err
	}
	if a.Type != "message" {
		return nil, fmt.Errorf("the answer is not a message of the Messages API: %.200q", body)
	}
	text, input := "", ""
	var calls []llm.ToolCall
	for _, p := range a.Content {
		switch {
		case p.Type == "text":
			text += p.Text
		case p.Type == "tool_use" && p.Name == llm.FormName:
			input = string(p.Input)
		case p.Type == "tool_use":
			calls = append(calls, llm.ToolCall{ID: p.ID, Name: p.Name, Arguments: llm.ArgumentsOf(p.Input)})
		}
	}
	c := completionOf(text, input, a.Stop)
	c.Calls = calls
	return c, nil
}

// completionOf returns a completion. input is what the model hands to the tool that requests the form of the answer: the answer.
func completionOf(text, input, stop string) *llm.Completion {
	c := &llm.Completion{Text: text, Cut: stop == "max_tokens" || stop == "model_context_window_exceeded"}
	if input != "" {
		c.Text = input
	}
	if stop == "refusal" {
		c.Text, c.Refusal = "", text
		if text == "" {
			c.Refusal = "the service's safety filter"
		}
	}
	return c
}

// statuses are the HTTP statuses of errors, by their types.
var statuses = map[string]int{
	"invalid_request_error": http.StatusBadRequest,
	"authentication_error":  http.StatusUnauthorized,
	"billing_error":         http.StatusPaymentRequired,
	"permission_error":      http.StatusForbidden,
	"not_found_error":       http.StatusNotFound,
	"request_too_large":     http.StatusRequestEntityTooLarge,
	"rate_limit_error":      http.StatusTooManyRequests,
	"api_error":             http.StatusInternalServerError,
	"timeout_error":         http.StatusGatewayTimeout,
	"overloaded_error":      StatusOverloaded,
}

// errorIn returns the error in a body or an event, or nil.
func errorIn(body []byte) error {
	if !bytes.Contains(body, []byte(`"error"`)) {
		return nil
	}
	var e struct {
		Type  string `json:"type"`
		Error *struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil || e.Error == nil {
		return nil
	}
	text := e.Error.Message
	if text == "" {
		text = e.Error.Type
	}
	return &llm.Error{Status: statuses[e.Error.Type], Message: text}
}

// event is the data of a server-sent event.
type event struct {
	Type  string `json:"type"`
	Block piece  `json:"content_block"`
	Delta struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Partial string `json:"partial_json"`
		Stop    string `json:"stop_reason"`
	} `json:"delta"`
}

// Stream implements [llm.API]. It reads to the end even if a JSON object is complete: only the last events say how many tokens the
// answer has.
func (API) Stream(bool) llm.Stream { return &stream{} }

type stream struct {
	text, input bytes.Buffer
	stop        string
	bad         error
}

// Add implements [llm.Stream].
func (s *stream) Add(line []byte) (enough bool) {
	data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
	if !ok {
		return false
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		s.bad = fmt.Errorf("a piece of the message cannot be read: %w", err)
		return true
	}
	switch e.Type {
	case "error":
		if s.bad = errorIn(data); s.bad == nil {
			s.bad = &llm.Error{Message: string(data)}
		}
		return true
	case "content_block_start":
		s.text.WriteString(e.Block.Text)
	case "content_block_delta":
		s.text.WriteString(e.Delta.Text)
		s.input.WriteString(e.Delta.Partial)
	case "message_delta":
		s.stop = e.Delta.Stop
	case "message_stop":
		return true
	}
	return false
}

// Completion implements [llm.Stream].
func (s *stream) Completion() (*llm.Completion, error) {
	switch {
	case s.bad != nil:
		return nil, s.bad
	case s.stop == "":
		return nil, errors.New("the message breaks off")
	}
	return completionOf(s.text.String(), s.input.String(), s.stop), nil
}
