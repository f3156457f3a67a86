package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// picky is a server with a reasoning model. It rejects fields, one per error, and answers in parts.
type picky struct {
	lists   string // its models
	refuses []string
	answer  string // the same for every request

	mu      sync.Mutex
	refused map[string]int // errors by field
	asked   map[string]int // requests by model
	said    []string       // bodies that were answered
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if strings.HasSuffix(r.URL.Path, "/models") {
		fmt.Fprint(w, `{"data":[{"id":"`+strings.Join(strings.Fields(p.lists), `"},{"id":"`)+`"}]}`)
		return
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[body["model"].(string)]++
	for _, field := range p.refuses {
		if _, ok := body[field]; ok {
			p.refused[field]++
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":"Unsupported parameter: '%s' is not supported with this model.","param":"%s","code":"unsupported_parameter"}}`, field, field)
			return
		}
	}
	text, _ := json.Marshal(body)
	p.said = append(p.said, string(text))
	fmt.Fprintf(w, `{"choices":[{"message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":%q},{"type":"text","text":"}"}]},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":20,"completion_tokens":30}}`, strings.TrimSuffix(p.answer, "}"))
}

// errors returns the number of rejected requests.
func (p *picky) errors() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, of := range p.refused {
		n += of
	}
	return n
}

func startPicky(t *testing.T, p *picky) string {
	t.Helper()
	p.refused, p.asked = map[string]int{}, map[string]int{}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

const reasoning = `
title: A reasoning model
clock: {cycle: 1h, cycles: 1}
population: {count: 6}
services:
  model: {kind: llm, provider: mock, extra: {top_k: 40, service_tier: flex}}
chain ask:
  step a: {kind: llm, service: model, prompt: "Shop, ${agent.id}?", temperature: 0.2, max_tokens: 50, reasoning_effort: low, answer: {shop: bool}}
  step b: {kind: emit, event: said, data: {shop: "${steps.a.shop}"}}
`

// TestAModelThatRefusesFields runs with a model server that is given by address only, rejects nearly all optional fields
// and answers in parts. Each rejected field costs one request, is reported and journaled, and is not sent again after a
// resume.
func TestAModelThatRefusesFields(t *testing.T) {
	p := &picky{lists: "reasoner", refuses: []string{"max_tokens", "temperature", "response_format", "top_k"}, answer: `{"shop": true}`}
	address := startPicky(t, p)
	data := t.TempDir()
	file := filepath.Join(data, "reasoning.yaml")
	if err := os.WriteFile(file, []byte(reasoning), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(data, "out")
	code, stdout, stderr := ctl(t, "run", file, "--data", data, "--service", "model="+address, "--max-concurrent", "1", "--llm-rate", "1000", "--no-dashboard", "--export", out)
	if code != exitDone || !strings.Contains(stdout, "exact") || strings.Contains(stdout, "inexact") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if p.errors() != 4 || len(p.said) != 6 || p.asked["reasoner"] != 10 || len(p.asked) != 1 {
		t.Errorf("refused %v, answered %d, requested models %v", p.refused, len(p.said), p.asked)
	}
	for _, want := range []string{`"max_completion_tokens":50`, `"reasoning_effort":"low"`, `"service_tier":"flex"`, "JSON"} {
		if !strings.Contains(p.said[5], want) {
			t.Errorf("sent %s, want %s", p.said[5], want)
		}
	}
	if events := read(t, data, "out", "events.csv"); strings.Count(events, ",true\n") != 6 {
		t.Errorf("events:\n%s", events)
	}
	for _, row := range timings(t, data) {
		if row["cost_usd"] != "0" || row["output_tokens"] != "30" {
			t.Errorf("cost %q of %s tokens", row["cost_usd"], row["output_tokens"])
		}
	}
	code, changes, stderr := ctl(t, "export", "--data", data, "--what", "changes", "-o", "-")
	for _, want := range []string{"model.unsupported", "reasoner: max_tokens, temperature, response_format, top_k", "the model reasoner refuses top_k: "} {
		if code != exitDone || !strings.Contains(changes, want) {
			t.Errorf("the changes lack %q:\n%s%s", want, changes, stderr)
		}
	}
	p.lists = "reasoner another" // a resume asks for the model that the run began with
	if code, stdout, stderr := ctl(t, "resume", "--data", data, "--cycles", "2", "--no-dashboard"); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if p.errors() != 4 || len(p.said) != 12 || len(p.asked) != 1 {
		t.Errorf("after the resume: refused %v, answered %d, requested models %v", p.refused, len(p.said), p.asked)
	}
}

// TestAModelMustBeNamed checks that a model must be named if a service at another address has several.
func TestAModelMustBeNamed(t *testing.T) {
	p := &picky{lists: "one two", answer: `{"shop": true}`}
	address := startPicky(t, p)
	data := t.TempDir()
	file := filepath.Join(data, "reasoning.yaml")
	if err := os.WriteFile(file, []byte(reasoning), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := ctl(t, "run", file, "--data", data, "--service", "model="+address, "--no-dashboard")
	if code != exitUsage || !strings.Contains(stderr, "no model specified for "+address+": it has one, two") || !strings.Contains(stderr, "--service 'model="+address+"#one'") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = ctl(t, "run", file, "--data", data, "--service", "model="+address+"#two", "--no-dashboard")
	if code != exitDone || p.asked["two"] != 6 || len(p.asked) != 1 {
		t.Errorf("exit code %d, requested models %v\n%s%s", code, p.asked, stdout, stderr)
	}
}

// TestExhaustedBadAnswersAreInexact checks that a run is inexact if a model never returns a valid answer, since another
// attempt might have succeeded.
func TestExhaustedBadAnswersAreInexact(t *testing.T) {
	t.Parallel()
	p := &picky{lists: "one", answer: `{"shop": "perhaps"}`}
	address := startPicky(t, p)
	data := t.TempDir()
	file := filepath.Join(data, "reasoning.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(reasoning, "answer: {shop: bool}", `answer: {shop: bool}, retry: {attempts: 2}, otherwise: '{"shop": False}'`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := ctl(t, "run", file, "--data", data, "--service", "model="+address, "--no-dashboard")
	if code != exitDone || !strings.Contains(stdout, "inexact since cycle 0, agent 0, step a: a step gave up: bad_answer") || len(p.said) != 12 {
		t.Errorf("exit code %d, %d answers\n%s%s", code, len(p.said), stdout, stderr)
	}
	if code, audit, stderr := ctl(t, "audit", "--data", data); code != exitDone {
		t.Errorf("the audit disagrees:\n%s%s", audit, stderr)
	}
}
