package view_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
)

var (
	noon  = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	local = time.FixedZone("UTC+2", 2*60*60)
)

// snapshot returns a run in the middle of its second cycle.
func snapshot() *engine.Snapshot {
	return &engine.Snapshot{
		Run:           "night",
		At:            noon.In(local),
		Phase:         engine.Running,
		CycleState:    engine.CycleState{Cycle: 1, Cycles: 4, CycleEnded: 30, CycleTotal: 50, CycleTook: 6 * time.Second, LastCycle: engine.ClosedCycle{Took: 10 * time.Second, Sessions: 50, Work: engine.CycleWork{OK: 46, Failed: 3, TimedOut: 1, Busy: 30 * time.Second}}},
		SessionCounts: engine.SessionCounts{Ended: 80, Total: 200, Outcomes: map[engine.Outcome]int64{engine.OK: 74, engine.Failed: 4, engine.TimedOut: 2}, Events: 12, Errors: []engine.ErrorNote{{Class: engine.Script, Count: 4}}},
		RequestCounts: engine.RequestCounts{Requests: 300, Retries: 7, RateLimited: 5, Labels: engine.Labels{engine.Unconfirmed: 3}, Usage: engine.Usage{Cost: 1_250_000_000}},
		LimitState:    engine.LimitState{Limit: 20, Floor: 2, Ceiling: 40, Governor: "latency", SteerBy: "latency", Steer: "10 → 20: no queue", InFlight: 18, Breaker: engine.BreakerClosed},
		Pace:          engine.Pace{Elapsed: 20 * time.Second, Remaining: 40 * time.Second, PerSecond: 4},
		SessionTimes:  engine.SessionTimes{Speedup: 3.5, Latency: engine.Quantiles{Count: 80, Mean: 100 * time.Millisecond, P50: 90 * time.Millisecond, P95: 200 * time.Millisecond, P99: 300 * time.Millisecond, Max: time.Second}},
	}
}

// fields returns a value's JSON object.
func fields(t *testing.T, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// has checks fields of a JSON object. A want of nil means that the field is absent.
func has(t *testing.T, got, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if found, ok := got[name]; ok != (value != nil) || !reflect.DeepEqual(found, value) {
			t.Errorf("%s is %v (present: %v), want %v", name, found, ok, value)
		}
	}
}

// TestStatusInEachPhase checks what the phases of a run change in its status.
func TestStatusInEachPhase(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*engine.Snapshot)
		want   map[string]any
	}{
		{"preparing", func(s *engine.Snapshot) {
			*s = engine.Snapshot{Run: "night", At: noon, CycleState: engine.CycleState{Cycles: 4}, Pace: engine.Pace{Remaining: -1}, SessionTimes: engine.SessionTimes{Speedup: math.NaN()}, LimitState: engine.LimitState{Limit: 20}}
		}, map[string]any{
			"phase": "preparing", "sessions": 0., "remaining_seconds": nil, "speedup": nil, "latency_seconds": nil, "last_cycle": nil, "last_second": nil,
			"sim_time": nil, "stall": nil, "budget": nil, "connections": nil, "steered_by": nil, "planned_sessions": nil, "limit": 20., "breaker": "closed",
		}},
		{"running", func(*engine.Snapshot) {}, map[string]any{
			"phase": "running", "title": "Night", "run": "night", "at": "2026-01-02T12:00:00Z", "cycle": 1., "cycles": 4., "cycle_sessions": 30.,
			"cycle_planned_sessions": 50., "sessions": 80., "planned_sessions": 200., "failed_sessions": 6., "limit": 20., "in_flight": 18.,
			"remaining_seconds": 40., "elapsed_seconds": 20., "cycle_seconds": 6., "requests": 300., "rate_limited": 5., "cost_usd": 1.25, "retries": 7.,
			"unconfirmed": 3., "speedup": 3.5, "steered_by": "latency", "floor": 2., "ceiling": 40., "reason": nil, "inexact": nil,
			"outcomes": map[string]any{"ok": 74., "failed": 4., "timeout": 2.},
		}},
		{"by the clock", func(s *engine.Snapshot) { s.Cycles, s.Total = 0, 0 }, map[string]any{"cycles": nil, "planned_sessions": nil, "cycle": 1.}},
		{"paused", func(s *engine.Snapshot) { s.Phase, s.InFlight, s.Remaining = engine.Paused, 0, -1 }, map[string]any{
			"phase": "paused", "in_flight": 0., "remaining_seconds": nil,
		}},
		{"open breaker", func(s *engine.Snapshot) {
			s.Breaker, s.BreakerWhy, s.NextProbe = engine.BreakerOpen, "60 of 60 sessions failed", noon.In(local).Add(time.Minute)
		}, map[string]any{"breaker": "open", "breaker_why": "60 of 60 sessions failed", "next_probe": "2026-01-02T12:01:00Z"}},
		{"stalled", func(s *engine.Snapshot) {
			s.Stall = &engine.Stall{Since: noon.In(local), Why: "18 sessions wait for shop"}
		}, map[string]any{
			"stall": map[string]any{"since": "2026-01-02T12:00:00Z", "why": "18 sessions wait for shop"},
		}},
		{"draining", func(s *engine.Snapshot) { s.Phase, s.Reason = engine.Draining, "budget used up" }, map[string]any{
			"phase": "stopping", "reason": "budget used up", "in_flight": 18.,
		}},
		{"ended", func(s *engine.Snapshot) {
			s.Phase, s.Ending, s.InFlight = engine.Ended, engine.EndFinished, 0
			s.Inexact = &engine.Inexact{Cycle: 1, Agent: 3, Path: "order", Why: "timed out"}
		}, map[string]any{"phase": "ended", "ending": "finished", "inexact": "inexact since cycle 1, agent 3, step order: timed out"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snapshot()
			c.change(s)
			has(t, fields(t, view.NewStatus("Night", s, nil)), c.want)
		})
	}
}

// TestStatusIsACopy checks that the snapshot can be reused: lists are copied, and their longest length is limited.
func TestStatusIsACopy(t *testing.T) {
	s := snapshot()
	s.Services = make([]engine.ServiceState, 1)
	s.Services[0].Blocked = noon.In(local)
	for i := range 300 {
		s.Oldest = append(s.Oldest, engine.Activity{Path: "browse", Since: noon.In(local)})
		s.Changes = append(s.Changes, engine.ChangeRow{Who: "ann", At: noon.In(local).Add(time.Duration(i) * time.Second)})
		s.Steps = append(s.Steps, engine.StepFigures{Path: "browse"})
	}
	st := view.NewStatus("Night", s, []health.Finding{{Metric: health.MetricCPU, Level: health.Warning}})
	if len(st.Oldest) != 20 || len(st.Changes) != 100 || len(st.Steps) != 200 || len(st.Health) != 1 {
		t.Errorf("%d oldest, %d changes, %d steps, %d findings", len(st.Oldest), len(st.Changes), len(st.Steps), len(st.Health))
	}
	if last := st.Changes[len(st.Changes)-1].At; !last.Equal(s.Changes[299].At) || last.Location() != time.UTC {
		t.Errorf("the newest change is of %v", last)
	}
	if s.Services[0].Blocked.Location() != local || s.Oldest[0].Since.Location() != local {
		t.Error("the snapshot was changed")
	}
}

// TestProgress checks the values of progress against the snapshot.
func TestProgress(t *testing.T) {
	p := view.NewProgress(snapshot())
	if p.Latency == nil || p.Latency.P95 != 0.2 || p.Latency.Max != 1 || p.SessionRate != 4 {
		t.Errorf("latency %+v, %v sessions per second", p.Latency, p.SessionRate)
	}
	c := p.LastCycle
	if c == nil || c.Seconds != 10 || c.OK != 46 || c.Failed != 3 || c.TimedOut != 1 || c.Speedup == nil || *c.Speedup != 3 {
		t.Errorf("the last cycle is %+v", c)
	}
}

// TestOfRecord checks the status of a run without a process.
func TestOfRecord(t *testing.T) {
	record := &engine.RunRecord{ID: "night", Title: "Night", Cycle: 4, Cycles: 4, Done: 200, Total: 200, Limit: 20, Settings: engine.DefaultSettings()}
	totals := &engine.Totals{Events: 9}
	totals.Outcomes[engine.OK], totals.Outcomes[engine.Failed] = 190, 10
	for range 200 {
		totals.Total.Record(50 * time.Millisecond)
	}
	for _, c := range []struct {
		name   string
		ending engine.Ending
		want   string
	}{{"finished", engine.EndFinished, "finished"}, {"killed", engine.NotEnded, "interrupted"}} {
		record.Ending = c.ending
		s := view.OfRecord(record, totals, noon.In(local))
		if s.Ending != c.want || s.Phase != "ended" || s.Sessions != 200 || s.Failed != 10 || s.Events != 9 || s.At != noon || s.Remaining != nil {
			t.Errorf("%s: %+v", c.name, s)
		}
		if s.Latency == nil || math.Abs(s.Latency.P50-0.05) > 0.0005 || math.Abs(s.Latency.Mean-0.05) > 1e-9 {
			t.Errorf("%s: latency %+v", c.name, s.Latency)
		}
		if want := map[string]int64{"ok": 190, "failed": 10}; !reflect.DeepEqual(s.Outcomes, want) {
			t.Errorf("%s: outcomes %v, want %v", c.name, s.Outcomes, want)
		}
		has(t, fields(t, s), map[string]any{"errors": []any{}, "in_flight": 0., "overhead": nil, "budget": nil, "services": nil})
	}
}

// TestBudget checks that a budget is shown only with limits, and how much of it is spent.
func TestBudget(t *testing.T) {
	s := snapshot()
	s.Budget = engine.BudgetState{Budget: engine.Budget{Dollars: 5, Wall: time.Hour}, Spent: engine.Amount{Cost: 2_000_000_000, Tokens: 900, Requests: 300}}
	b := view.NewStatus("", s, nil).Budget
	if b == nil || b.Limit != (view.Amounts{Cost: 5, Seconds: 3600}) || b.Spent != (view.Amounts{Cost: 2, Tokens: 900, Requests: 300, Seconds: 20}) {
		t.Errorf("budget %+v", b)
	}
}

// TestConnections checks that unknown connections of the server are absent.
func TestConnections(t *testing.T) {
	s := snapshot()
	s.Metrics.Pool = engine.Pool{Size: 8, InUse: 3, Idle: 1, Waiting: 2}
	s.Metrics.Connections, s.Metrics.ServerConnections, s.Metrics.ServerMax = 4, -1, -1
	want := map[string]any{"open": 4., "max_open": 8., "in_use": 3., "idle": 1., "waiting": 2., "server": nil, "server_max": nil}
	has(t, fields(t, view.NewStatus("", s, nil).Connections), want)
	s.Metrics.ServerConnections, s.Metrics.ServerMax = 50, 100
	want["server"], want["server_max"] = 50., 100.
	has(t, fields(t, view.NewStatus("", s, nil).Connections), want)
}

// TestSteps checks the totals of steps: only statuses that occurred are listed.
func TestSteps(t *testing.T) {
	one := engine.StepFigures{Path: "order", Requests: 12, Retries: 2, RateLimited: 1}
	one.Statuses[engine.StepOK], one.Statuses[engine.StepFailed] = 9, 1
	steps := view.NewSteps([]engine.StepFigures{one})
	if len(steps) != 1 || steps[0].Ran != 10 || steps[0].Errors != 1 || steps[0].Requests != 12 || steps[0].Latency != nil {
		t.Fatalf("steps %+v", steps)
	}
	if want := map[string]int64{engine.StepOK.String(): 9, engine.StepFailed.String(): 1}; !reflect.DeepEqual(steps[0].Statuses, want) {
		t.Errorf("statuses %v, want %v", steps[0].Statuses, want)
	}
}

// TestOverhead checks the overhead of a run on a busy machine, and that there is none before anything was measured.
func TestOverhead(t *testing.T) {
	if o := view.NewOverhead(&engine.Overhead{}, engine.Late{}, 20, ""); o != nil {
		t.Errorf("without measurements: %+v", o)
	}
	o := &engine.Overhead{Span: time.Minute, Cores: 2 * time.Minute, Machine: 117 * time.Second, Process: 110 * time.Second, Collector: 11 * time.Second}
	o.Times[engine.ForServices], o.Times[engine.ForEngine] = 75*time.Second, 25*time.Second
	v := view.NewOverhead(o, engine.Late{Tick: 2 * time.Millisecond}, 20, "")
	if v.Lost == nil || *v.Lost != 0.25 || v.Limit != health.BoundByMachine.String() || v.Advice == "" || !strings.Contains(v.Why, v.Limit[5:]) {
		t.Errorf("overhead %+v", v)
	}
	if len(v.SessionSeconds) != len(slices.Collect(slices.Values(engine.Purposes()))) || v.SessionSeconds[engine.ForServices.String()] != 75 {
		t.Errorf("session seconds %v", v.SessionSeconds)
	}
	has(t, fields(t, v), map[string]any{"span_seconds": 60., "core_seconds": 120., "machine_cpu_seconds": 117., "timer_lag_seconds": 0.002, "window_cpu_seconds": nil})
}

// TestJudgments checks that unknown values are null.
func TestJudgments(t *testing.T) {
	got := view.NewJudgments([]engine.Judgment{
		{Criterion: engine.Criterion{Metric: "error_rate", Text: "< 1%"}, Value: 0.02, Shown: "2%"},
		{Criterion: engine.Criterion{Metric: "memory", Text: "< 1GB"}, Value: math.NaN(), Unknown: true},
	})
	if len(got) != 2 || got[0].Passed == nil || *got[0].Passed || *got[0].Value != 0.02 || got[1].Passed != nil || got[1].Value != nil {
		t.Errorf("judgments %+v", got)
	}
	if text, err := json.Marshal(view.NewJudgments(nil)); err != nil || string(text) != "[]" {
		t.Errorf("no criteria: %s, %v", text, err)
	}
}

func TestFormatWaits(t *testing.T) {
	var none engine.Waits
	if got := view.FormatWaits(&none); got != "" {
		t.Errorf("no waits are %q", got)
	}
	some := engine.Waits{engine.ThrottledByRate: 90 * time.Second, engine.ThrottledByJournal: 3 * time.Millisecond}
	if got, want := view.FormatWaits(&some), "rate limiter 1 min 30 s, journal 3 ms"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
