package criteria_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/criteria"
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
	totals.Peaks = engine.Peaks{Memory: 3e9, ServerConnections: 55, Connections: 8, Cycle: 59 * time.Second, CheckpointGap: 5 * time.Minute, Elapsed: time.Hour, Overhead: engine.Overhead{Span: 10 * time.Second}}
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
		{"request_p50", "<", 0.2, "100 ms", true},
		{"request_p95", "<", 1, "300 ms", true},
		{"request_max", "<", 0.3, "300 ms", false},
		{"request_error_rate", "<", 0.5, "0%", true},
		{"request_rate", ">", 0.29, "0.3/s", true},
		{"request_p99", "<", 0.3, "300 ms", false},
		{"duration", ">", 3600, "1 h", false},
		{"cost", "<", 0.50, "$0.4125", true},
		{"cost", "<=", 0.41, "$0.4125", false},
		{"latency_p99", "<", 100, "", true},
		{"latency_p95", "<", 80, "", false},
	} {
		got := criteria.Judge([]engine.Criterion{{Metric: c.metric, Op: c.op, Bound: c.bound}}, &totals, 100)[0]
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
	for _, m := range criteria.Metrics() {
		metric := m.Name
		if metric == "checkpoint_gap" || metric == "duration" || metric == "cost" {
			continue // known even if nothing happened in the run
		}
		got := criteria.Judge([]engine.Criterion{{Metric: metric, Op: "<", Bound: 1e12}}, &engine.Totals{}, 10)[0]
		if !got.Unknown || got.Passed || got.Shown != "not known" {
			t.Errorf("%s of a run in which nothing happened: %+v, want unknown", metric, got)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Errorf("%s cannot be written to a manifest: %v", metric, err)
		}
	}
	free := engine.Totals{RequestCounts: engine.RequestCounts{Usage: engine.Usage{Calls: 2, Cost: 5, Unpriced: 1}}}
	if got := criteria.Judge([]engine.Criterion{{Metric: "cost", Op: "<", Bound: 1}}, &free, 10)[0]; !got.Unknown || got.Passed {
		t.Errorf("the cost of models without a price: %+v, want unknown", got)
	}
	if got := criteria.Judge([]engine.Criterion{{Metric: "happiness", Op: ">", Bound: 0}}, &engine.Totals{}, 10)[0]; !got.Unknown || got.Passed {
		t.Errorf("a metric that does not exist: %+v", got)
	}
}

// TestRequestsOfOneService checks that a criterion with steps counts only their requests, and that a failed request counts although its
// session ended ok.
func TestRequestsOfOneService(t *testing.T) {
	var totals engine.Totals
	for agent := range 10 {
		row := engine.SessionRow{Place: engine.Place{Agent: agent}, Outcome: engine.OK, Steps: []engine.StepRecord{
			{Path: "search", Attempts: 1, Service: 10 * time.Millisecond},
			{Path: "cart[0].add", Attempts: 1, Service: 700 * time.Millisecond},
			{Path: "cart[1].add", Attempts: 3, Service: 900 * time.Millisecond},
		}}
		if agent < 2 {
			row.Steps[1].Status, row.Steps[1].Class = engine.StepFailed, engine.ServerError
		}
		totals.Add(&row)
	}
	totals.Peaks.Overhead.Span = 20 * time.Second
	for _, c := range []struct {
		metric string
		steps  []string
		want   float64
	}{
		{"request_error_rate", nil, 2. / 30},
		{"request_error_rate", []string{"cart.add"}, 2. / 20},
		{"request_error_rate", []string{"search"}, 0},
		{"request_rate", nil, 2.5},
		{"request_rate", []string{"cart.add"}, 2},
		{"request_max", nil, 0.9},
		{"request_max", []string{"search"}, 0.01},
		{"request_p50", []string{"cart.add"}, 0.7},
	} {
		got := criteria.Judge([]engine.Criterion{{Metric: c.metric, Of: "some", Steps: c.steps, Op: "<", Bound: 1}}, &totals, 10)[0]
		if got.Unknown || math.Abs(got.Value-c.want) > 0.01*c.want {
			t.Errorf("%s of %v is %v, want %v", c.metric, c.steps, got.Value, c.want)
		}
	}
	if got := criteria.Judge([]engine.Criterion{{Metric: "request_p95", Steps: []string{}}}, &totals, 10)[0]; !got.Unknown {
		t.Errorf("requests of no step: %+v, want unknown", got)
	}
}

// TestLatencyCountsFromTheIntendedStart checks that the wait of a session that arrived and found no slot is part of its latency.
func TestLatencyCountsFromTheIntendedStart(t *testing.T) {
	for isOpen, want := range map[bool]float64{false: 1, true: 31} {
		var totals engine.Totals
		totals.Add(&engine.SessionRow{Outcome: engine.OK, Queue: 30 * time.Second, Open: isOpen, Total: time.Second})
		if got := criteria.Judge([]engine.Criterion{{Metric: "latency_p95", Op: "<", Bound: 9}}, &totals, 1)[0]; math.Abs(got.Value-want) > 0.01*want {
			t.Errorf("arrivals %v: %v s, want %v", isOpen, got.Value, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		metric, text, op string
		bound            float64
	}{
		{"request_p95", "< 800ms", "<", 0.8},
		{"request_rate", "50/s", ">=", 50},
		{"request_rate", "> 600/min", ">", 10},
		{"request_rate", "> 50", ">", 50},
		{"request_error_rate", "1%", "<=", 0.01},
		{"agents_completed", "100%", ">=", 1},
		{"memory", "< 12GB", "<", 12e9},
		{"cost", "< $0.50", "<", 0.5},
	} {
		got, _, ok := criteria.Find(c.metric).Parse(c.text)
		if !ok || got.Op != c.op || math.Abs(got.Bound-c.bound) > 1e-12 || got.Text != c.text {
			t.Errorf("%s %s: %+v %v", c.metric, c.text, got, ok)
		}
	}
	for metric, text := range map[string]string{"request_p95": "< 5/s", "request_rate": "< 5s", "request_error_rate": "< 150%", "memory": "12", "error_rate": ""} {
		if got, bound, ok := criteria.Find(metric).Parse(text); ok {
			t.Errorf("%s %q: %+v %q", metric, text, got, bound)
		}
	}
}
