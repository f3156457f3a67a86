package control

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

func TestStatus(t *testing.T) {
	r := newFakeRun()
	at := time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)
	r.snap = engine.Snapshot{
		Run:           runID,
		At:            at,
		Phase:         engine.Paused,
		Reason:        "lunch",
		CycleState:    engine.CycleState{Cycle: 2, Cycles: 24, CycleEnded: 100, CycleTotal: 372},
		SessionCounts: engine.SessionCounts{Ended: 844, Total: 8928, Outcomes: map[engine.Outcome]int64{engine.Failed: 3, engine.TimedOut: 2}},
		Pace:          engine.Pace{PerSecond: 84.2, Elapsed: time.Minute, Remaining: 90 * time.Second},
		SessionTimes:  engine.SessionTimes{Speedup: math.NaN()},
		LimitState:    engine.LimitState{Limit: 20, InFlight: 7, Floor: 1, Ceiling: 100, Governor: "adaptive", SteerBy: "resources", Steer: "25 → 20: CPU 91% for 3 s, above 80%", Steered: at.Add(-time.Second), Breaker: engine.BreakerOpen, BreakerWhy: "half of the cycle failed", NextProbe: at.Add(time.Minute), Stall: &engine.Stall{Since: at.Add(-70 * time.Second), Why: "they wait for model"}},
		Services: []engine.ServiceState{{
			Name: "model", Kind: "llm", InFlight: 3, Bound: 50, Breaker: engine.BreakerHalfOpen,
			LimiterState: engine.LimiterState{Waiting: 4, Rate: 8, MaxRate: 50, RateWhy: "a 429", Blocked: at, Refused: 9, Exhausted: "the quota of the day is gone"},
			Buckets:      []engine.BucketState{{Name: "POST /embeddings", LimiterState: engine.LimiterState{Rate: 8, MaxRate: 50, RateWhy: "a 429", Blocked: at, Waiting: 4, Refused: 9}}},
		}},
		Budget:          engine.BudgetState{Budget: engine.Budget{Dollars: 5}, Spent: engine.Amount{Cost: 1_250_000_000, Tokens: 10, Requests: 2}, Short: "dollars"},
		Oldest:          []engine.Activity{{Place: engine.Place{Agent: 4}, Name: "eve", Began: at, Path: "ask", Service: "model", ThrottledBy: "rate limiter"}, {}, {}, {}, {}, {}},
		Inexact:         &engine.Inexact{Cycle: 1, Why: "told"},
		CheckpointState: engine.CheckpointState{Checkpoints: 2, LastCheckpoint: at.Add(-time.Minute)},
		Metrics:         engine.MetricsRow{At: at, Host: engine.HostMetrics{CPU: 95, ProcessCPU: 95, Available: 9e9, MemoryTotal: 16e9}, DatabaseUse: engine.DatabaseUse{ServerConnections: -1, Unsent: -1}},
	}
	data, _ := serve(t, r)
	got, err := dial(t, data).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"run":"20300301-120000-abcd","at":"2030-03-01T12:00:00Z","phase":"paused","reason":"lunch"`, `"title":"Hamlet"`,
		`"inexact":"inexact since cycle 1: told"`, `"cycle":2,"cycles":24,"sessions":844,"planned_sessions":8928,"failed_sessions":5,"limit":20,"in_flight":7`, `"cycle_sessions":100,"cycle_planned_sessions":372`,
		`"elapsed_seconds":60,"remaining_seconds":90`, `"floor":1,"ceiling":100,"governor":"adaptive","steered_by":"resources"`,
		`"breaker":"open","breaker_why":"half of the cycle failed","next_probe":"2030-03-01T12:01:00Z"`,
		`"stall":{"since":"2030-03-01T11:58:50Z","why":"they wait for model"}`,
		`"buckets":[{"name":"POST /embeddings","waiting":4,"requests_per_second":8,"max_requests_per_second":50,"rate_why":"a 429","blocked_until":"2030-03-01T12:00:00Z","rate_limited":9}]`,
		`{"name":"model","kind":"llm","in_flight":3,"max_in_flight":50,"waiting":4,"requests_per_second":8,"max_requests_per_second":50,"rate_why":"a 429"`,
		`"exhausted":"the quota of the day is gone"`, `"breaker":"half-open","buckets"`,
		`"budget":{"limit":{"usd":5},"spent":{"usd":1.25,"tokens":10,"requests":2,"seconds":60},"short":"dollars"}`,
		`"agent":4,"take":0,"name":"eve","began":"2030-03-01T12:00:00Z","step":"ask","service":"model","throttled_by":"rate limiter"}`,
		`{"metric":"CPU","level":"healthy","value":"95%","threshold":"from 70%, critical above 90%"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if len(got.Oldest) != 6 {
		t.Errorf("%d of the oldest", len(got.Oldest))
	}
}

// TestStatusOfNothing checks that unknown values are left out.
func TestStatusOfNothing(t *testing.T) {
	text, err := json.Marshal(view.NewStatus("", &engine.Snapshot{Pace: engine.Pace{Remaining: -1}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"remaining", "budget", "stall", "services", "steered_at", "next_probe", "last_checkpoint", "inexact", "ending"} {
		if strings.Contains(string(text), word) {
			t.Errorf("%s is in %s", word, text)
		}
	}
}
