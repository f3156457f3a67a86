package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/wire"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// asking is a program whose sessions call a model twice.
type asking struct{ engine.Usage }

func (a *asking) Session(s *engine.Session) {
	s.Row.Outcome = engine.OK
	s.Row.Steps = append(s.Row.Steps, engine.StepRecord{Path: "ask", Attempts: 1, Usage: &a.Usage})
}

// TestSummaryOfModels is of what a run says of its models at the end; nothing where it called none.
func TestSummaryOfModels(t *testing.T) {
	for want, usage := range map[string]engine.Usage{
		"model calls    20, 900 tokens in, 120 out, $0.0123 · 10 answers from the cache":             {Calls: 2, Input: 90, Output: 12, Cost: 1_230_000, Hits: 1},
		"model calls    10, 10 tokens in, 0 out (estimated for 10 calls), cost unknown for 10 calls": {Calls: 1, Input: 1, Unpriced: 1, Estimated: 1},
		"": {},
	} {
		run, err := engine.Start(t.Context(), enginetest.Config(10, &asking{usage}, nil))
		if err != nil {
			t.Fatal(err)
		}
		result := run.Wait()
		var out bytes.Buffer
		(&terminal{out: &out}).summary(&wire.Job{Run: run}, &result)
		if want == "" && strings.Contains(out.String(), "model") || !strings.Contains(out.String(), want) {
			t.Errorf("%+v: want %q in\n%s", usage, want, out.String())
		}
	}
}
