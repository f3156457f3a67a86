package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// LLM is a client of one service that speaks OpenAI's wire format: chat completions and embeddings. Retries, pacing and
// the journal are those of all services. A field of a request that a model refuses is left out from then on.
type LLM struct {
	*HTTP
	prices  Prices
	meter   meter
	lessons lessons
}

// LLMConfig is what a client of models is made of.
type LLMConfig struct {
	Name, Base string
	Limits     Limits // those of 0 take the defaults of models: 50 calls at once, 60 s
	Shared     *Bound // nil is none
	Prices     Prices
	Mocks      bool // it is the embedded one
}

// NewLLM returns a client. A Rate of 0 leaves the calls unpaced.
func NewLLM(c LLMConfig) (*LLM, error) {
	if c.Limits.Connections == 0 {
		c.Limits.Connections = 50
	}
	if c.Limits.Timeout == 0 {
		c.Limits.Timeout = time.Minute
	}
	if c.Limits.Per == PerDefault { // embeddings apart from chat
		c.Limits.Per = PerEndpoint
	}
	h, err := NewHTTP(c.Name, c.Base, c.Limits, c.Mocks)
	if err != nil {
		return nil, err
	}
	h.kind, h.transport.base = kindLLM, h.pool // whose answers may come in pieces
	if c.Shared != nil {
		h.transport.shared = c.Shared.gate
	}
	return &LLM{HTTP: h, prices: c.Prices}, nil
}

// Message is one of a chat.
type Message struct{ Role, Text string }

// Chat asks for a completion.
type Chat struct {
	Header      http.Header // by canonical names; belongs to the client from here on
	Model       string
	Messages    []Message
	Temperature *float64 // nil is the model's
	MaxTokens   int      // 0 is the model's
	Completion  bool     // MaxTokens is sent as max_completion_tokens, unless the model refuses that
	Effort      string   // of its reasoning; "" is the model's
	Seed        int
	Format      Format
	InWords     string // asks for Format where the model refuses it as a field
	Stream      bool
	Extra       []Extra // further fields
}

// Format is the form that an answer is to have. The zero value is any text.
type Format struct {
	Name   string
	Schema json.RawMessage // nil with JSON is any object
	Strict bool            // the schema is of the kind that services can hold a model to
	JSON   bool
}

// Completion is what a model answered.
type Completion struct {
	Text    string
	Refusal string // why it does not answer
	Cut     bool   // its length ran out
}

// Chat carries out a call for a completion and counts what it took. Its errors are those of [HTTP.Do].
func (l *LLM) Chat(call *Call, c Chat) (*Completion, error) {
	var got *Completion
	call.Accept = func(a *Answer) (err error) {
		if a.Status/100 != 2 {
			return nil
		}
		if c.Stream && isStream(a) {
			got, err = readStream(a.Body, c.Format.JSON)
		} else {
			got, err = readCompletion(a.Body)
		}
		length := 0
		if got != nil {
			length = len(got.Text)
			got.Text, got.Refusal = call.blackedOut(got.Text), call.blackedOut(got.Refusal)
		}
		call.bill.took(tokensOf(a.Body), length, err)
		return err
	}
	call.bill = &bill{from: l, model: c.Model, asked: c.length(), form: len(c.Format.Schema), parts: len(c.Messages), longest: -1}
	if c.MaxTokens > 0 && c.lengthField(l.lessons.of(c.Model)) != "" {
		call.bill.longest = c.MaxTokens
	}
	err := l.complete(call, &c)
	call.charge()
	switch {
	case err != nil:
		return nil, err
	case got == nil:
		return nil, engine.Fail(engine.BadAnswer, "the service gave no completion")
	}
	l.spent(call)
	return got, nil
}

// complete sends a call for a completion, again where the model refuses a field of it. What is journaled of the request
// is what was asked, so that a resume, which knows what is refused, asks for the same.
func (l *LLM) complete(call *Call, c *Chat) error {
	call.Keyless = true
	asked, err := encode(c.fields(nil))
	if err != nil {
		return &engine.StepError{Class: engine.ConfigError, Err: err}
	}
	fields := c.fields(l.lessons.of(c.Model))
	sent, err := encode(fields)
	if err != nil {
		return &engine.StepError{Class: engine.ConfigError, Err: err}
	}
	call.Adapt = func(a *Answer) []byte {
		if !rejects(a.Status) {
			return nil
		}
		if name := readRefusal(a.Body).refused(fields); name != "" {
			l.lessons.learn(l.name, c.Model, name, call.excerpt(a))
		}
		fields = c.fields(l.lessons.of(c.Model))
		if next, err := encode(fields); err == nil && !bytes.Equal(next, sent) {
			sent = next
			return sent
		}
		return nil
	}
	accept := "application/json"
	if c.Stream {
		accept = "text/event-stream"
		call.Pieces = func() func([]byte) bool { return (&completing{wholeJSON: c.Format.JSON}).add }
	}
	_, err = l.Do(call, Request{Method: http.MethodPost, Target: Target{path: "/chat/completions"}, Header: jsonHeader(c.Header, accept), Body: asked, Sent: sent})
	return err
}

// reasons reports whether a model is one of those of OpenAI whose answers max_tokens does not bound.
func reasons(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, family := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return false
}

func (c *Chat) length() (n int) {
	for _, m := range c.Messages {
		n += len(m.Text)
	}
	return n
}

// readCompletion reads the body of an answer.
func readCompletion(body []byte) (*Completion, error) {
	var r wireAnswer
	if err := json.Unmarshal(body, &r); err != nil {
		if text := bytes.TrimSpace(body); len(text) > 0 && text[0] == '<' {
			return nil, fmt.Errorf("the completion cannot be read: it is a page, %.100q; is the service's address the one of its API, which mostly ends with /v1?", text)
		}
		return nil, fmt.Errorf("the completion cannot be read: %w", err)
	}
	if err := told(body); err != nil {
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

// told is the error that a service tells in the body of an answer whose status is good; nil is none. Services that pass
// calls on do so where it went wrong behind them.
func told(body []byte) error {
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
	class := engine.ServerError
	if code, ok := t.Error.Code.(float64); ok && code >= 400 && code < 600 {
		class = statusClass(int(code))
	}
	return engine.Fail(class, "the service answers with an error: %s", shortened(t.Error.Message, 200))
}

// Tunables implements [engine.Service]: those of http services, and unsupported.
func (l *LLM) Tunables() []engine.Tunable { return l.tunables().list() }

// Tune implements [engine.Service].
func (l *LLM) Tune(name, value string) (old string, err error) { return l.tunables().tune(name, value) }

func (l *LLM) tunables() tunables {
	t := l.HTTP.tunables()
	t.all = append(t.all, l.lessons.tunable())
	return t
}

// Moves implements [engine.Service].
func (l *LLM) Moves() []engine.ChangeRow { return append(l.HTTP.Moves(), l.lessons.taken()...) }

// Learn takes over what another client of the service has learned of its models.
func (l *LLM) Learn(from *LLM) {
	for _, t := range from.Tunables() {
		if strings.HasSuffix(t.Name, unsupportedTail) {
			_ = l.lessons.set(t.Value) // it is of the form
		}
	}
}
