package service

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/openai"
	"github.com/throng-sim/throng/engine/spans"
)

// Trace sets what the service contributes to traces. Call it before any request.
func (h *HTTP) Trace(o spans.Options) { h.transport.spans = o }

// announce adds a header traceparent, unless the scenario sets one, and notes the request that it announces.
func (t *transport) announce(r *http.Request, call *Call) {
	s := call.Session
	if !t.spans.Propagate || s == nil || call.announced == 0 && r.Header["Traceparent"] != nil {
		return
	}
	call.announced++
	trace := spans.Trace(string(s.Run().ID), s.Cycle, s.Agent, s.Take)
	sent := &spans.Request{Span: trace.Span(call.Path, call.announced), Method: r.Method, Host: r.URL.Hostname(), Port: port(r.URL)}
	call.sent = sent
	r.Header["Traceparent"] = []string{trace.Header(sent.Span)}
}

// port returns the port of an address; 0 is that of its scheme.
func port(u *url.URL) int {
	n, _ := strconv.Atoi(u.Port()) // an error for ""
	return n
}

// noteTrail adds a finished attempt to the session's trail.
func (a *attempted) noteTrail(c *Call, service string, failed bool) {
	trail := c.Session.Trail()
	if trail == nil {
		return
	}
	one := spans.Attempt{Path: c.Path, Service: service, Began: a.began, Took: a.took, Failed: failed, Request: c.sent}
	if a.answer != nil {
		one.Status = a.answer.Status
	}
	if c.bill != nil && c.bill.about != nil {
		one.Model = c.bill.about
		if a.answer != nil {
			one.Model.Source = llm.ReadSource(a.answer.Body)
			if one.Model.Prompt != nil {
				one.Model.Reply = c.display().said(a.answer.completion())
			}
		}
	}
	trail.Attempt(one)
}

// model describes calls of a model for the trail of a session; nil if it is not recorded.
func (l *LLM) model(call *Call, operation, name string) *spans.Model {
	if call.Session.Trail() == nil {
		return nil
	}
	return &spans.Model{Operation: operation, Provider: l.transport.spans.Provider, Host: l.base.Hostname(), Port: port(l.base), Name: name}
}

// chat describes a chat; nil if the trail is not recorded.
func (l *LLM) chat(call *Call, c *llm.Chat, seeded bool) *spans.Model {
	m := l.model(call, "chat", c.Model)
	if m == nil {
		return nil
	}
	m.Temperature, m.MaxTokens, m.JSON, m.Stream = c.Temperature, c.MaxTokens, c.Format.JSON, c.Stream
	if seeded {
		m.Seed = &c.Seed
	}
	if l.transport.spans.Content {
		m.Prompt = []spans.Message{}
		for _, said := range c.Messages {
			m.Prompt = append(m.Prompt, spans.Message{Role: said.Role, Text: call.display().said(said.Text)})
		}
	}
	return m
}

// embedding describes a request for vectors; nil if the trail is not recorded.
func (l *LLM) embedding(call *Call, e *openai.Embedding) *spans.Model {
	m := l.model(call, "embeddings", e.Model)
	if m != nil {
		m.Dimensions = e.Dimensions
	}
	return m
}
