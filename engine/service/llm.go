package service

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/throng-sim/throng/engine"
)

// LLM is a client of one service that speaks OpenAI's wire format: chat completions and embeddings. The library behind
// it builds requests and reads answers; retries, pacing and the journal are those of all services.
type LLM struct {
	*HTTP
	api    *openai.Client
	prices Prices
	meter  meter
}

// LLMConfig is what a client of models is made of.
type LLMConfig struct {
	Name, Base string
	Limits     Limits // those of 0 take the defaults of models: 50 calls at once, 60 s
	Shared     *Bound // nil is none
	Prices     Prices
	Rehearses  bool // it is the embedded one
}

// NewLLM returns a client. A Rate of 0 leaves the calls unpaced.
func NewLLM(c LLMConfig) (*LLM, error) {
	if c.Limits.Connections == 0 {
		c.Limits.Connections = 50
	}
	if c.Limits.Timeout == 0 {
		c.Limits.Timeout = time.Minute
	}
	h, err := NewHTTP(c.Name, c.Base, c.Limits, c.Rehearses)
	if err != nil {
		return nil, err
	}
	h.kind, h.transport.base = kindLLM, h.pool // whose answers may come in pieces
	if c.Shared != nil {
		h.transport.shared = c.Shared.gate
	}
	l := &LLM{HTTP: h, prices: c.Prices}
	config := openai.DefaultConfig("")
	config.BaseURL, config.HTTPClient = carried, carrier{h}
	l.api = openai.NewClientWithConfig(config)
	return l, nil
}

// carried stands for the service's address in what the library asks for.
const carried = "http://carried"

// asking is a call on its way through the library.
type asking struct {
	call   *Call
	header http.Header
	failed error // of the transport; nil is that it has an answer, or was not asked
}

type askingKey struct{}

// carrier is the HTTP client that the library sees: it hands its requests to the service's transport.
type carrier struct{ http *HTTP }

// Do implements openai.HTTPDoer.
func (c carrier) Do(req *http.Request) (*http.Response, error) {
	a := req.Context().Value(askingKey{}).(*asking)
	target, err := ParseTarget(req.URL.Path)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r := Request{Method: req.Method, Target: target, Header: a.header, Body: body}
	for _, name := range []string{"Accept", "Content-Type"} {
		if r.Header[name] == nil {
			r.Header[name] = req.Header[name]
		}
	}
	answer, err := c.http.Do(a.call, r)
	if a.failed = err; err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: answer.Status, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(answer.Body)), Request: req}, nil
}

// ask prepares a call for the library. header belongs to it from here on.
func ask(call *Call, header http.Header) (context.Context, *asking) {
	call.Keyless = true
	a := &asking{call: call, header: header}
	return context.WithValue(call.Clock.Context(), askingKey{}, a), a
}

// failure is how a call ended, by the error of the library: what the transport says, or that the library did not want
// to send the request.
func (a *asking) failure(err error) error {
	switch {
	case a.failed != nil:
		return a.failed
	case err != nil:
		return &engine.StepError{Class: engine.ConfigError, Err: err}
	}
	return nil
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
	Seed        int
	Format      Format
	Stream      bool
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
			got, _, err = readStream(a.Body, c.Format.JSON)
		} else {
			got, _, err = readCompletion(a.Body)
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
	if c.MaxTokens > 0 {
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
	l.spent(call.Record.Usage)
	return got, nil
}

// complete sends a call for a completion through the library.
func (l *LLM) complete(call *Call, c *Chat) error {
	ctx, asked := ask(call, c.Header)
	if !c.Stream {
		_, err := l.api.CreateChatCompletion(ctx, c.request())
		return asked.failure(err)
	}
	call.Pieces = func() func([]byte) bool { return (&completing{wholeJSON: c.Format.JSON}).add }
	stream, err := l.api.CreateChatCompletionStream(ctx, c.request())
	if err == nil {
		_ = stream.Close() // it was read
	}
	return asked.failure(err)
}

func (c *Chat) request() openai.ChatCompletionRequest {
	r := openai.ChatCompletionRequest{Model: c.Model, Seed: &c.Seed, Stream: c.Stream}
	for _, m := range c.Messages {
		r.Messages = append(r.Messages, openai.ChatCompletionMessage{Role: m.Role, Content: m.Text})
	}
	if t := c.Temperature; t != nil && !reasons(c.Model) { // those have theirs
		r.Temperature = float32(*t)
		if *t == 0 {
			r.Temperature = math.SmallestNonzeroFloat32 // the library leaves 0 out
		}
	}
	if c.MaxTokens > 0 && reasons(c.Model) {
		r.MaxCompletionTokens = c.MaxTokens
	} else {
		r.MaxTokens = c.MaxTokens //nolint:staticcheck // most services know no other
	}
	if c.Stream {
		r.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	switch f := c.Format; {
	case f.Schema != nil:
		r.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: f.Name, Schema: f.Schema, Strict: f.Strict},
		}
	case f.JSON:
		r.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return r
}

// reasons reports whether a model is one of those of OpenAI that refuse max_tokens and a temperature.
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
func readCompletion(body []byte) (*Completion, openai.Usage, error) {
	var r openai.ChatCompletionResponse
	if err := json.Unmarshal(body, &r); err != nil {
		if text := bytes.TrimSpace(body); len(text) > 0 && text[0] == '<' {
			return nil, r.Usage, fmt.Errorf("the completion cannot be read: it is a page, %.100q; is the service's address the one of its API, which mostly ends with /v1?", text)
		}
		return nil, r.Usage, fmt.Errorf("the completion cannot be read: %w", err)
	}
	if err := told(body); err != nil {
		return nil, r.Usage, err
	}
	if len(r.Choices) == 0 {
		return nil, r.Usage, fmt.Errorf("the answer has no completion: %.200q", body)
	}
	m := r.Choices[0]
	return completionOf(m.Message.Content, m.Message.Refusal, m.FinishReason), r.Usage, nil
}

func completionOf(text, refusal string, finish openai.FinishReason) *Completion {
	if finish == openai.FinishReasonContentFilter && text == "" && refusal == "" {
		refusal = "the service's content filter"
	}
	return &Completion{text, refusal, finish == openai.FinishReasonLength}
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
