package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/throng-sim/throng/engine/service/redact"
)

// Message is a message of a chat.
type Message struct{ Role, Text string }

// Chat is a request for a completion.
type Chat struct {
	Header      http.Header // by canonical names; the client owns it from here on
	Model       string
	Messages    []Message
	Temperature *float64 // nil is the model's default
	MaxTokens   int      // 0 is the model's default
	Completion  bool     // MaxTokens is sent as max_completion_tokens, unless the model refuses that
	Effort      string   // reasoning effort; "" is the model's default
	Seed        int
	Format      Format
	InWords     string // asks for Format in words if the model refuses it as a field
	Stream      bool
	Extra       []Extra // additional fields
}

// Format is the required form of an answer. The zero value allows any text.
type Format struct {
	Name   string
	Schema json.RawMessage // with JSON, nil allows any object
	Strict bool            // services can enforce the schema
	JSON   bool
}

// Completion is the answer of a model.
type Completion struct {
	Text    string
	Refusal string // why it does not answer
	Cut     bool   // cut off at its maximum length
}

// reasons reports whether a model is one of OpenAI's models whose answers max_tokens does not limit.
func reasons(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, family := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return false
}

// Bytes returns the length of the messages, in bytes.
func (c *Chat) Bytes() (n int) {
	for _, m := range c.Messages {
		n += len(m.Text)
	}
	return n
}

// ReadCompletion reads the body of a response. Its error is an [Error] if the service reports one.
func ReadCompletion(body []byte) (*Completion, error) {
	var r wireAnswer
	if err := json.Unmarshal(body, &r); err != nil {
		if text := bytes.TrimSpace(body); len(text) > 0 && text[0] == '<' {
			return nil, fmt.Errorf("the completion cannot be read: it is a page, %.100q; is the service's address the one of its API, which mostly ends with /v1?", text)
		}
		return nil, fmt.Errorf("the completion cannot be read: %w", err)
	}
	if err := errorIn(body); err != nil {
		return nil, err
	}
	if len(r.Choices) == 0 {
		return nil, fmt.Errorf("the answer has no completion: %.200q", body)
	}
	text, refusal := r.Choices[0].Message.whole()
	return completionOf(text, refusal, r.Choices[0].Finish), nil
}

func completionOf(text, refusal, finish string) *Completion {
	if finish == "content_filter" && text == "" && refusal == "" {
		refusal = "the service's content filter"
	}
	return &Completion{text, refusal, finish == "length"}
}

// Error is an error that a service reports in the body of a response with a good status. Gateways do so if a call fails behind
// them.
type Error struct {
	Status  int // HTTP status from 400 to 599; 0 if the body has none
	Message string
}

func (e *Error) Error() string {
	return "the service answers with an error: " + redact.Shorten(e.Message, 200)
}

// errorIn returns the error in the body of a response, or nil.
func errorIn(body []byte) error {
	if !bytes.Contains(body, []byte(`"error"`)) {
		return nil
	}
	var t struct {
		Error *struct {
			Message string `json:"message"`
			Code    any    `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &t); err != nil || t.Error == nil {
		return nil
	}
	e := &Error{Message: t.Error.Message}
	if code, ok := t.Error.Code.(float64); ok && code >= 400 && code < 600 {
		e.Status = int(code)
	}
	return e
}
