package run_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

func TestJudge(t *testing.T) {
	var totals engine.Totals
	for agent := range 100 {
		row := engine.SessionRow{Place: engine.Place{Agent: agent}, Outcome: engine.OK, Total: time.Duration(agent+1) * time.Second}
		if agent < 4 {
			row.Outcome, row.Class = engine.Failed, engine.Script
		}
		if agent == 99 {
			row.Steps = []engine.StepRecord{
				{Path: "a", Attempts: 1, Service: 100 * time.Millisecond}, {Path: "b[0].c", Attempts: 2, Service: 300 * time.Millisecond}, {Path: "think", Service: time.Hour},
			}
		}
		totals.Add(&row)
		totals.Add(&engine.SessionRow{Place: engine.Place{Cycle: 1, Agent: agent}, Outcome: row.Outcome, Class: row.Class})
	}
	totals.Usage = engine.Usage{Calls: 3, Cost: 400_000_000}
	totals.Shared.Usage = engine.Usage{Calls: 1, Cost: 12_500_000}
	totals.Peaks = engine.Peaks{Memory: 3e9, ServerConnections: 55, Connections: 8, Cycle: 59 * time.Second, CheckpointGap: 5 * time.Minute, Elapsed: time.Hour}
	for _, c := range []struct {
		metric, op string
		bound      float64
		shown      string
		passed     bool
	}{
		{"agents_completed", ">=", 0.96, "96%", true},
		{"agents_completed", "=", 1, "96%", false},
		{"error_rate", "<", 0.05, "4%", true},
		{"error_rate", "<", 0.04, "4%", false},
		{"cycle_time", "<", 60, "59 s", true},
		{"memory", "<", 12e9, "3 GB", true},
		{"db_connections", "<=", 55, "55", true},
		{"db_connections", "<", 55, "55", false},
		{"checkpoint_gap", "<=", 300, "5 min", true},
		{"request_p95", "<", 1, "300 ms", true},
		{"request_p99", "<", 0.3, "300 ms", false},
		{"duration", ">", 3600, "1 h", false},
		{"cost", "<", 0.50, "$0.4125", true},
		{"cost", "<=", 0.41, "$0.4125", false},
		{"latency_p99", "<", 100, "", true},
		{"latency_p95", "<", 80, "", false},
	} {
		got := engine.Judge([]engine.Criterion{{Metric: c.metric, Op: c.op, Bound: c.bound}}, &totals, 100)[0]
		if got.Passed != c.passed || got.Unknown || c.shown != "" && got.Shown != c.shown {
			t.Errorf("%s %s %v: %+v; want %q, passed %v", c.metric, c.op, c.bound, got, c.shown, c.passed)
		}
	}
}

func TestUnitShowsBytes(t *testing.T) {
	for v, want := range map[float64]string{41_200_000: "41 MB", 1e9: "1 GB", 11.99e9: "12.0 GB", 12.5e9: "12.5 GB"} {
		if got := engine.UnitBytes.Show(v); got != want {
			t.Errorf("%v: got %q, want %q", v, got, want)
		}
	}
}

func TestJudgeUnknownMetrics(t *testing.T) {
	for metric := range engine.SuccessMetrics() {
		if metric == "checkpoint_gap" || metric == "duration" || metric == "agents_completed" || metric == "cost" {
			continue // known even if nothing happened in the run
		}
		got := engine.Judge([]engine.Criterion{{Metric: metric, Op: "<", Bound: 1e12}}, &engine.Totals{}, 10)[0]
		if !got.Unknown || got.Passed || got.Shown != "not known" {
			t.Errorf("%s of a run in which nothing happened: %+v, want unknown", metric, got)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Errorf("%s cannot be written to a manifest: %v", metric, err)
		}
	}
	free := engine.Totals{RequestCounts: engine.RequestCounts{Usage: engine.Usage{Calls: 2, Cost: 5, Unpriced: 1}}}
	if got := engine.Judge([]engine.Criterion{{Metric: "cost", Op: "<", Bound: 1}}, &free, 10)[0]; !got.Unknown || got.Passed {
		t.Errorf("the cost of models without a price: %+v, want unknown", got)
	}
	if got := engine.Judge([]engine.Criterion{{Metric: "happiness", Op: ">", Bound: 0}}, &engine.Totals{}, 10)[0]; !got.Unknown || got.Passed {
		t.Errorf("a metric that does not exist: %+v", got)
	}
}

func TestPassed(t *testing.T) {
	passed, failed, unknown := engine.Judgment{Passed: true}, engine.Judgment{}, engine.Judgment{Unknown: true}
	for _, c := range []struct {
		ending  engine.Ending
		verdict []engine.Judgment
		want    bool
	}{
		{engine.EndFinished, nil, true},
		{engine.EndFinished, []engine.Judgment{passed, unknown}, true},
		{engine.EndFinished, []engine.Judgment{passed, failed}, false},
		{engine.EndStopped, []engine.Judgment{passed}, false},
	} {
		r := run.Result{Ending: c.ending, Verdict: c.verdict}
		if got := r.Passed(); got != c.want {
			t.Errorf("%v with %+v: passed %v, want %v", c.ending, c.verdict, got, c.want)
		}
	}
}
