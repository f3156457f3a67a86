package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// TestStepLines checks the columns of steps: the rate over the run, the mean size of an answer, and what was not measured.
func TestStepLines(t *testing.T) {
	figures := []engine.StepFigures{
		{Path: "browse", Statuses: [5]int64{engine.StepOK: 40, engine.StepFailed: 8, engine.StepTimedOut: 2}, Requests: 61, Retries: 11, RateLimited: 3, Size: 100_000, Service: engine.Quantiles{Count: 50, P50: 10 * time.Millisecond, P95: 1200 * time.Millisecond, P99: 2 * time.Second, Max: 3 * time.Second}},
		{Path: "fill", Statuses: [5]int64{engine.StepOK: 10}, Service: engine.Quantiles{Count: 10}},
		{Path: "fill.add", Statuses: [5]int64{engine.StepOK: 20}, Sum: 410 * time.Millisecond, Service: engine.Quantiles{Count: 20, P50: 20 * time.Millisecond, P95: 30 * time.Millisecond, P99: 30 * time.Millisecond, Max: 30 * time.Millisecond}},
		{Path: "think"},
	}
	graph := engine.Graph{Segments: [][]engine.GraphStep{
		{{Path: "browse", Name: "browse", Label: "Look around", Service: "shop", Endpoint: "GET /products/{}"}, {Path: "think", Name: "think", Label: "think"}},
		{{Path: "fill", Name: "fill", Label: "fill", Inner: []engine.Graph{{Segments: [][]engine.GraphStep{{{Path: "fill.add", Name: "add", Label: "add"}}}}}}},
	}}
	lines := view.StepLines(figures, view.StepCalls(&graph), 5*time.Second)
	table := view.StepTable(lines)
	for i, want := range []string{
		"Step Endpoint Executions Rate p50 p95 p99 Failures Size Requests Retries 429s Timed out Skipped Longest",
		"Look around · browse shop GET /products/{} 50 10/s 10 ms 1.2 s 2 s 10 2.5 kB 61 11 3 2  3 s",
		"fill – 10 2/s – mean 41 ms –  –      –",
		"fill.add – 20 4/s 20 ms 30 ms 30 ms  –      30 ms",
		"think –  0/s – – –  –      –",
	} {
		rows := append([][]string{table.Head}, table.Rows...)
		if got := strings.Join(rows[i], " "); got != want {
			t.Errorf("row %d is\n%s, want\n%s", i, got, want)
		}
	}
	if by := view.StepColumns[view.StepP95]; by.Title != "p95" || by.Compare(&lines[0], &lines[1]) <= 0 || view.StepColumns[view.StepFailures].Title != "Failures" {
		t.Error("the columns have moved")
	}
}
