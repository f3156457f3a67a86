package scenario

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestSampleAsking checks that a sample counts the sessions that would send a request or run a python step, and that it sends nothing.
func TestSampleAsking(t *testing.T) {
	const head = `
title: Idle agents
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 4}
population: {count: 100, id: "a-${agent.index}"}
services:
  shop: {kind: http, url: "http://127.0.0.1:1"}
  model: {kind: llm, provider: openai}
chain day:
`
	for _, c := range []struct {
		name, steps string
		sessions    int
		asks, of    int
	}{
		{"a quarter goes", `
  step stay: {kind: stop, when: agent.index % 4 > 0}
  step wait: {kind: wait, for: 1h}
  step get: {kind: http, service: shop, get: /}
`, 1000, 100, 400},
		{"only in one cycle", `
  step stay: {kind: stop, when: now.hour != 9}
  step get: {kind: http, service: shop, get: /}
`, 200, 50, 200},
		{"a model that is never asked", `
  step decide: {kind: llm, service: model, share: 0, prompt: hello, answer: {go: bool}, otherwise: '{"go": agent.index < 10}'}
  step stay: {kind: stop, when: not steps.decide.go}
  step get: {kind: http, service: shop, get: /}
`, 1000, 40, 400},
		{"a model that half of the agents ask", `
  step decide: {kind: llm, service: model, share: 0.5, prompt: hello, answer: {go: bool}, otherwise: '{"go": False}'}
  step stay: {kind: stop, when: not steps.decide.go}
  step get: {kind: http, service: shop, get: /}
`, 400, 216, 400},
		{"a model that is asked", `
  step decide: {kind: llm, service: model, prompt: hello}
  step stay: {kind: stop, when: agent.index >= 0}
`, 1000, 400, 400},
		{"nothing is asked", "  step note: {kind: remember, set: {a: 1}}\n", 1000, 0, 400},
		{"a mistake", "  step note: {kind: remember, set: {a: \"${1 // (agent.index % 2)}\"}}\n", 1000, 200, 400},
	} {
		s, err := read(head+c.steps, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		set := engine.DefaultSettings()
		began := time.Now()
		a := s.Program(1).SampleAsking(t.Context(), &set, s.Cycles, c.sessions, time.Minute)
		if a.Asks != c.asks || a.Sessions != c.of {
			t.Errorf("%s: %d of %d, want %d of %d", c.name, a.Asks, a.Sessions, c.asks, c.of)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s: it took %v", c.name, took)
		}
	}
}
