package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// asking is a program whose sessions call a model twice.
type asking struct{ engine.Usage }

func (a *asking) Session(s *engine.Session) {
	s.Row.Outcome = engine.OK
	s.Row.Steps = append(s.Row.Steps, engine.StepRecord{Path: "ask", Attempts: 1, Usage: &a.Usage})
	took := engine.Outlay{Requests: 1, Usage: a.Usage}
	took.Usage.Hits, took.Usage.Again = 0, 0 // which steps count, and no request
	if settle, ok := s.TryClaim(took); ok {
		settle(took)
	}
}

// TestSummaryOfModels checks the line about model calls at the end of a run; there is none without calls.
func TestSummaryOfModels(t *testing.T) {
	for want, usage := range map[string]engine.Usage{
		"model calls    20, 900 tokens in, 120 out, $0.0123 · 10 answers from the cache":             {Calls: 2, Input: 90, Output: 12, Cost: 1_230_000, Hits: 1},
		"model calls    10, 10 tokens in, 0 out (estimated for 10 calls), cost unknown for 10 calls": {Calls: 1, Input: 1, Unpriced: 1, Estimated: 1},
		"": {},
	} {
		run, err := run.Start(t.Context(), enginetest.Config(10, &asking{usage}, nil))
		if err != nil {
			t.Fatal(err)
		}
		result := run.Wait()
		var out bytes.Buffer
		show.Summary(&out, &app.Job{Run: run}, &result)
		if want == "" && strings.Contains(out.String(), "model") || !strings.Contains(out.String(), want) {
			t.Errorf("%+v: want %q in\n%s", usage, want, out.String())
		}
	}
}

// TestSummaryOfTime checks the shares of the time of a run, and what limited its speed.
func TestSummaryOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(20, thinking{}, nil)
		cfg.Settings.Limit = 2
		cfg.Purpose = func(string) engine.Purpose { return engine.ForThinking }
		cfg.Probe.Host = func() engine.HostMetrics {
			return engine.HostMetrics{CPU: 97, ProcessCPU: 180, Collector: 18, Cores: 2}
		}
		run, err := run.Start(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		result := run.Wait()
		var out bytes.Buffer
		show.Summary(&out, &app.Job{Run: run}, &result)
		for _, want := range []string{
			"time spent wait steps 75%, engine 25%", "97% of 2 cores in use, by Throng 90%, garbage collection 9.0%",
			"limited by This machine is the limit: 97% of its 2 cores are in use; 25% engine overhead",
		} {
			if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
				t.Errorf("want %q in\n%s", want, out.String())
			}
		}
		if line := show.Describe(run.Snapshot()); !strings.Contains(line, "limited by this machine") {
			t.Errorf("line of the run: %s", line)
		}
	})
}

// thinking is a program whose sessions take a second. No step uses a quarter of it.
type thinking struct{}

func (thinking) Session(s *engine.Session) {
	s.Clock()
	time.Sleep(time.Second)
	s.Row.Outcome, s.Row.Service = engine.OK, 750*time.Millisecond
	s.Row.Steps = append(s.Row.Steps, engine.StepRecord{Path: "think", Service: s.Row.Service})
}
