package scenario

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// Requests to models and databases are limited before they are built, and none is sent.
func TestAskingBombs(t *testing.T) {
	const head = `
services:
  m: {kind: llm, url: "mock:model"}
  d: {kind: postgres, url: "postgres://me@127.0.0.1:1/x"}
functions: |
  def megabytes(n): return "x" * (n << 20)
`
	for name, c := range map[string]struct{ step, says string }{
		"texts to embed": {"{kind: embed, service: m, input: '${[megabytes(20)] * 1000}'}", "more than 32 MB of texts"},
		"messages":       {"{kind: llm, service: m, messages: '${[{\"role\": \"user\", \"content\": megabytes(20)}] * 1000}'}", "more than 32 MB"},
		"a role":         {"{kind: llm, service: m, messages: '${[{\"role\": megabytes(20), \"content\": \"x\"}]}'}", "the role of a message"},
		"a temperature":  {"{kind: llm, service: m, prompt: x, temperature: '${[megabytes(20)] * 1000}'}", "temperature is from 0"},
		"a prompt":       {"{kind: llm, service: m, prompt: '${megabytes(20)}${megabytes(20)}'}", "too much data"},
		"args":           {"{kind: sql, service: d, query: 'select $1, $2', args: ['${megabytes(20)}', '${megabytes(20)}']}", "more than 32 MB of args"},
		"an array":       {"{kind: sql, service: d, query: 'select $1::text[]', args: ['${[megabytes(20)] * 1000}']}", "32 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := read(head+"chain c: {step a: "+c.step+"}", nil, nil)
			if err != nil {
				t.Fatal(all(err))
			}
			var row engine.SessionRow
			mb := allocated(func() { row = alone(t, s) })
			if row.Class != engine.Script || !strings.Contains(row.Error, c.says) || len(row.Error) > 20_000 {
				t.Errorf("got %v: %.300s, want %q", row.Class, row.Error, c.says)
			}
			if mb > 512 {
				t.Errorf("allocated %d MB", mb)
			}
		})
	}
}

// alone runs a scenario of one agent for a cycle; its services are not connected.
func alone(t *testing.T, s *Scenario) engine.SessionRow {
	t.Helper()
	settings := engine.DefaultSettings()
	settings.Cycles = 1
	journal := &enginetest.Journal{}
	run, err := run.Start(t.Context(), run.Config{
		ID: "test", Program: s.Program(1), Agents: s.Agents, Clock: s.Clock, Settings: settings, Journal: journal,
	})
	if err != nil {
		t.Fatal(err)
	}
	run.Wait()
	sessions := journal.Sessions()
	if len(sessions) != 1 {
		t.Fatalf("%d sessions", len(sessions))
	}
	return sessions[0]
}
