package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

const paidAndFree = `
title: Paid
population: {count: 1}
services:
  paid: {kind: llm, provider: openai, model: [gpt-4o-mini, gpt-unheard-of]}
  local: {kind: llm, provider: ollama, model: [whatever]}
  other: {kind: llm, url: "http://models.example/v1", model: gpt-4o-mini, embedding_model: unheard-embedding}
  model: {kind: llm, provider: mock}
chain ask:
  step a: {kind: llm, service: paid, prompt: Yes or no}
  step b: {kind: llm, service: other, prompt: Yes or no}
  step c: {kind: embed, service: other, input: Yes or no}
`

// paid returns a launch of paidAndFree.
func paid(t *testing.T) Launch {
	t.Helper()
	data := t.TempDir()
	path := filepath.Join(data, "paid.yaml")
	if err := os.WriteFile(path, []byte(paidAndFree), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := authoring.LoadWith(path, scenario.Extras{})
	if err != nil {
		t.Fatal(err)
	}
	return Launch{Services: Services{Data: data, Scenario: s, Settings: engine.DefaultSettings()}, Trusted: true}
}

// TestUnpricedModels checks that only models of paid services need a price.
func TestUnpricedModels(t *testing.T) {
	l := paid(t)
	for _, c := range []struct {
		name   string
		at     map[string]string
		prices string
		want   []string
	}{
		{"as it stands", nil, "{}", []string{"gpt-unheard-of", "unheard-embedding"}},
		{"a remote service", map[string]string{"local": "http://models.example/v1"}, "{}", []string{"gpt-unheard-of", "unheard-embedding", "whatever"}},
		{"all priced", nil, `{"gpt-unheard-of": {"input_cost_per_token": 1e-6}, "unheard-embedding": {"input_cost_per_token": 0}}`, nil},
		{
			"on the user's own machine", map[string]string{"paid": "http://192.168.1.9:8000/v1", "other": "http://gpu.local/v1#mine", "local": "http://localhost:1/v1"}, "{}", nil,
		},
		{"in the mock", map[string]string{"paid": "mock:model", "other": "mock:model"}, "{}", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, l.Data, c.prices)
			l.Settings.Services = c.at
			if got, err := l.unpriced(); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
	write(t, l.Data, "{")
	l.Settings.Services = nil
	if _, err := l.unpriced(); err == nil {
		t.Error("a broken table of prices was accepted")
	}
}

// TestBudgetWithoutAPrice checks that the launch is rejected before anything is created.
func TestBudgetWithoutAPrice(t *testing.T) {
	l := paid(t)
	l.Allow, l.Settings.Budget.Dollars = []string{"api.openai.com", "models.example"}, 5
	_, err := l.Start(t.Context())
	if mistake, ok := errors.AsType[*engine.FieldError](err); !ok || mistake.Field != "budget" || !strings.Contains(mistake.Problem, "gpt-unheard-of") {
		t.Errorf("got %v", err)
	}
}
