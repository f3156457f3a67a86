package service

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/batches"
	"github.com/throng-sim/throng/engine/internal/concurrency"
	"github.com/throng-sim/throng/engine/service/batch"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/openai"
	"github.com/throng-sim/throng/engine/service/pricing"
	"github.com/throng-sim/throng/engine/spans"
)

// LLM is the client of one service. Retries, rate limits and the journal are those of [HTTP]. A request field that a model
// refuses is left out from then on.
type LLM struct {
	*HTTP
	prices  pricing.Prices
	meter   pricing.Meter
	lessons lessons
	api     llm.API
	batches *batch.Queue // nil if calls are sent alone
}

// The endpoints of a service.
const chatPath, embeddingsPath = "/chat/completions", "/embeddings"

// LLMConfig configures a [LLM].
type LLMConfig struct {
	Name, Base string
	Limits     Limits // zero values take the defaults of models: 50 concurrent calls, 60 s
	Shared     *Bound // limit shared with other services; nil if there is none
	Prices     pricing.Prices
	Mocks      bool          // the service is the embedded one
	API        llm.API       // wire format of completions; nil is OpenAI's
	Batch      *batch.Config // sends calls of sessions in batches; nil sends each alone. Only OpenAI's format has batches
}

// NewLLM returns a client.
func NewLLM(c LLMConfig) (*LLM, error) {
	if c.Limits.Connections == 0 {
		c.Limits.Connections = 50
	}
	if c.Limits.Timeout == 0 {
		c.Limits.Timeout = time.Minute
	}
	if c.Limits.Per == PerDefault { // embeddings and chat have rates of their own
		c.Limits.Per = PerEndpoint
	}
	var shared *concurrency.Limit
	if c.Shared != nil {
		shared = c.Shared.limit
	}
	h, err := newHTTP(c.Name, c.Base, c.Limits, c.Mocks, shared)
	if err != nil {
		return nil, err
	}
	h.kind, h.transport.base = kindLLM, h.pool // responses may be streams
	if c.API == nil {
		c.API = openai.API{}
	}
	l := &LLM{HTTP: h, prices: c.Prices, api: c.API}
	if c.Batch != nil {
		l.batches = newBatches(h, *c.Batch)
	}
	return l, nil
}

// Chat asks for a completion and counts its usage. Its errors are those of [HTTP.Do].
func (l *LLM) Chat(call *Call, c llm.Chat) (*llm.Completion, error) {
	var got *llm.Completion
	bill := &bill{from: l, model: c.Model, asked: c.Bytes(), form: c.FormBytes(), parts: len(c.Messages), longest: -1}
	request := l.api.Request(&c, l.lessons.of(c.Model))
	if request.Bounded {
		bill.longest = c.MaxTokens
	}
	bill.about = l.about(call, "chat", c.Model, func(m *spans.Model) { c.Describe(m, request.Seeded, l.told(call)) })
	call.bill = bill
	bill.batched = l.inBatch(call, chatPath, c.Model)
	call.Accept = func(a *Answer) (err error) {
		if a.Status/100 != 2 {
			return nil
		}
		if c.Stream && llm.IsStream(a.Header) {
			got, err = llm.ReadStream(l.api.Stream(c.Format.JSON), a.Body)
		} else {
			got, err = l.api.Read(a.Body)
		}
		length := 0
		if got != nil {
			length = len(got.Text) + len(llm.CallsText(got.Calls))
			got.Text, got.Refusal = call.display().redacted(got.Text), call.display().redacted(got.Refusal)
			for i := range got.Calls {
				got.Calls[i].Arguments = call.display().redacted(got.Calls[i].Arguments)
			}
		}
		bill.count(llm.ReadTokens(a.Body), length, err)
		return classified(err)
	}
	if err := l.complete(call, &c); err != nil {
		return nil, err
	}
	if got == nil {
		return nil, engine.Fail(engine.BadAnswer, "the service returned no completion")
	}
	return got, nil
}

// complete sends the request, and again without a field that the model refuses. The journal holds the request with all of its
// fields, so that a resumed run, which already knows what is refused, asks for the same.
func (l *LLM) complete(call *Call, c *llm.Chat) error {
	call.Keyless = true
	asked, err := l.api.Request(c, nil).Body()
	if err != nil {
		return &engine.StepError{Class: engine.ConfigError, Err: err}
	}
	leaving := *c
	leaving.Stream = c.Stream && call.batched == nil // a batch has no streams
	request := l.api.Request(&leaving, l.lessons.of(c.Model))
	sent, err := request.Body()
	if err != nil {
		return &engine.StepError{Class: engine.ConfigError, Err: err}
	}
	call.Adapt = func(a *Answer) []byte {
		if !rejects(a.Status) {
			return nil
		}
		if name := request.Refused(a.Body); name != "" {
			l.lessons.learn(l.name, c.Model, name, call.display().excerpt(a))
		}
		request = l.api.Request(&leaving, l.lessons.of(c.Model))
		if next, err := request.Body(); err == nil && !bytes.Equal(next, sent) {
			sent = next
			return sent
		}
		return nil
	}
	if leaving.Stream {
		call.Pieces = func() func([]byte) bool { return l.api.Stream(c.Format.JSON).Add }
	}
	header := request.Complete(c.Header)
	if l.Mocks() && !request.Seeded { // the mock answers with the same text in every format
		header["X-Throng-Seed"] = []string{strconv.Itoa(c.Seed)}
	}
	return l.post(call, Request{Target: Target{path: request.Path}, rooted: request.Rooted, Header: header, Body: asked, Sent: sent})
}

// Embed asks for embeddings, a vector for each text in their order, all of one length, and counts the usage. Its errors are those of [HTTP.Do].
func (l *LLM) Embed(call *Call, e openai.Embedding) ([][]float32, error) {
	var vectors [][]float32
	bill := &bill{from: l, model: e.Model, asked: e.Bytes(), parts: len(e.Texts)}
	bill.about = l.about(call, "embeddings", e.Model, func(m *spans.Model) { m.Dimensions = e.Dimensions })
	call.bill, call.Keyless = bill, true
	bill.batched = l.inBatch(call, embeddingsPath, e.Model)
	call.Accept = func(a *Answer) (err error) {
		if a.Status/100 == 2 {
			vectors, err = openai.ReadVectors(a.Body, len(e.Texts))
			bill.count(llm.ReadTokens(a.Body), 0, err)
		}
		return classified(err)
	}
	body, err := e.Body()
	if err != nil {
		return nil, err
	}
	if err := l.post(call, Request{Target: Target{path: embeddingsPath}, Header: (&llm.Request{Header: llm.JSONHeader(false)}).Complete(e.Header), Body: body}); err != nil {
		return nil, err
	}
	return vectors, nil
}

// post sends a request.
func (l *LLM) post(call *Call, r Request) error {
	r.Method = http.MethodPost
	_, err := l.Do(call, r)
	call.space().trim(-1) // what the step keeps of the answer is a copy
	return err
}

// classified returns an error that the service reports in a good response as the failure of the step.
func classified(err error) error {
	reported, ok := errors.AsType[*llm.Error](err)
	switch {
	case !ok:
		return err
	case reported.Status == 0:
		return &engine.StepError{Class: engine.ServerError, Err: reported}
	}
	return &engine.StepError{Class: statusClass(reported.Status), Err: reported}
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

// State implements [engine.Service].
func (l *LLM) State(now time.Time) engine.ServiceState {
	s := l.HTTP.State(now)
	if l.batches != nil {
		if waiting := l.batches.State(); waiting != (batches.State{}) {
			s.Batches = &waiting
		}
	}
	return s
}

// Close ends the work on batches, which stay with the provider, and closes idle connections. No call may be in progress.
func (l *LLM) Close() {
	if l.batches != nil {
		l.batches.Close()
	}
	l.HTTP.Close()
}

// Moves implements [engine.Service].
func (l *LLM) Moves() []engine.ChangeRow { return append(l.HTTP.Moves(), l.lessons.taken()...) }

// Teach adds request fields that models refuse, in the format of the tunable "unsupported", and returns all of them before and after.
func (l *LLM) Teach(fields string) (old, now string) { return l.lessons.add(fields) }

// Learn copies what another client of the service has learned about its models.
func (l *LLM) Learn(from *LLM) {
	for _, t := range from.Tunables() {
		if strings.HasSuffix(t.Name, unsupportedTail) {
			_ = l.lessons.set(t.Value) // the format is its own
		}
	}
}
