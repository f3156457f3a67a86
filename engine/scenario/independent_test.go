package scenario

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestShared checks which scenarios have agents that are independent of each other.
func TestShared(t *testing.T) {
	const head = `
title: t
population: {count: 3}
services:
  model: {kind: llm, provider: mock}
  shop: {kind: http, url: mock:shop}
chain work:
`
	for _, c := range []struct{ name, steps, want string }{
		{"models and computing", `
  step a: {kind: llm, service: model, prompt: hi}
  step b: {kind: emit, event: said, data: {text: "${steps.a.text}"}}
  step c: {kind: remember, note: x}
`, ""},
		{"a service with a state", `
  step a: {kind: http, service: shop, get: /products}
`, "service shop may keep what they do"},
		{"messages in a branch", `
  step a:
    kind: if
    condition: agent.index == 1
    then:
      step b: {kind: say, to: all, text: hi}
`, "they send messages to each other (a.b)"},
		{"shared answers", `
  step a: {kind: llm, service: model, cache: {kind: agent.index % 2}, prompt: "${kind}", answer: {n: int}}
`, "they share answers of models (a)"},
	} {
		s, err := Read("s.yaml", fstest.MapFS{"s.yaml": {Data: []byte(head + strings.TrimPrefix(c.steps, "\n"))}}.ReadFile, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := s.Shared(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for file, shared := range map[string]bool{"shopping.yaml": true, "world.yaml": true, "conversation.yaml": false, "analysis.ai": false} {
		s, err := Load("../../assets/scenarios/"+file, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Shared(); (got != "") != shared {
			t.Errorf("%s: %q", file, got)
		}
	}
}
