package service

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/throng-sim/throng/engine/service/llm"
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
			one.Model.Source, one.Reasoning = llm.ReadSource(a.answer.Body), llm.ReadTokens(a.answer.Body).Reasoning
			if one.Model.Prompt != nil {
				one.Model.Reply, _ = c.display().replied(a.answer)
			}
		}
	}
	trail.Attempt(one)
}

// about describes a call of a model for the trail of its session; nil if it is not recorded. describe adds the request.
func (l *LLM) about(call *Call, operation, name string, describe func(m *spans.Model)) *spans.Model {
	if call.Session.Trail() == nil {
		return nil
	}
	m := &spans.Model{Operation: operation, Provider: l.transport.spans.Provider, Host: l.base.Hostname(), Port: port(l.base), Name: name}
	describe(m)
	return m
}

// told returns how prompts are shown in traces; nil if they are not.
func (l *LLM) told(call *Call) func(text string) string {
	if !l.transport.spans.Content {
		return nil
	}
	return call.display().said
}
