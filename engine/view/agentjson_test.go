package view_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// TestAgentViewAsJSON checks that JSON texts are embedded as JSON, and that durations are in milliseconds.
func TestAgentViewAsJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)
	v := &engine.AgentView{
		Index: 3, ID: "ada", State: engine.AgentThrottled, Persona: []engine.Fact{{Name: "age", Value: "41"}, {Name: "city", Value: "Ulm"}},
		Memory: []engine.Fact{{Name: "seen", Value: `["a"]`}}, Notes: []string{`{"n":1}`}, Inbox: []engine.InboxMessage{{From: "bob", Cycle: 1, Body: `"hello"`}}, Earlier: 2,
		Activity: &engine.Activity{Place: engine.Place{Cycle: 5, Agent: 3}, Began: at, Path: "pay", Service: "shop", ThrottledBy: "rate limiter", Since: at},
		Usage:    engine.Usage{Calls: 1, Input: 10, Output: 5, Cost: 2e6},
		Sessions: []engine.AgentTurn{{
			SessionRow: engine.SessionRow{
				Place: engine.Place{Cycle: 4, Agent: 3, Take: 1}, Outcome: engine.Failed, Class: engine.ServerError, Path: "pay", Error: "status 500", Started: at,
				Total: 1500 * time.Millisecond, Throttled: time.Millisecond / 2,
				Steps:  []engine.StepRecord{{Path: "pay", Status: engine.StepFailed, Class: engine.ServerError, Attempts: 2, Statuses: []int{500, 500}}},
				Events: []engine.Event{{Path: "say", Name: "said", Data: []byte(`{"x":1}`)}, {Path: "say", Name: "left"}},
			},
			Exchanges: []engine.Exchange{
				{At: at, Path: "pay", Attempt: 1, Service: "shop", Request: "POST /pay", Sent: `{"sum":3}`, Status: 500, Answer: "no <b>", Took: time.Second},
				{Path: "pay", Attempt: 2, Error: "reset", Kept: true},
			},
		}},
	}
	text, err := view.AgentJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"id":"ada","index":3,"state":"throttled","doing":{"cycle":5,"began":"2026-01-02T08:00:00Z","path":"pay","service":"shop","throttled_by":"rate limiter","since":"2026-01-02T08:00:00Z"},` +
		`"persona":{"age":41,"city":"Ulm"},"memory":{"seen":["a"]},"notes":[{"n":1}],"inbox":[{"from":"bob","cycle":1,"body":"hello"}],` +
		`"usage":{"calls":1,"input_tokens":10,"output_tokens":5,"dollars":0.002},` +
		`"sessions":[{"cycle":4,"take":1,"outcome":"failed","class":"server_error","path":"pay","error":"status 500","started":"2026-01-02T08:00:00Z","queue_ms":0,"throttled_ms":0.5,"service_ms":0,"total_ms":1500,` +
		`"steps":[{"path":"pay","status":"failed","class":"server_error","attempts":2,"statuses":[500,500],"throttled_ms":0,"answer":"fresh","service_ms":0}],` +
		`"events":[{"path":"say","name":"said","data":{"x":1}},{"path":"say","name":"left"}],` +
		`"exchanges":[{"path":"pay","attempt":1,"service":"shop","at":"2026-01-02T08:00:00Z","request":"POST /pay","sent":{"sum":3},"status":500,"answer":"no <b>","took_ms":1000},` +
		`{"path":"pay","attempt":2,"error":"reset","from_journal":true}]}],"earlier_cycles":2}`
	if got := compact(t, text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	empty, err := view.AgentJSON(&engine.AgentView{ID: "bob"})
	if got := compact(t, empty); err != nil || got != `{"id":"bob","index":0,"state":"waiting","sessions":[]}` {
		t.Errorf("an agent without data: %s, %v", got, err)
	}
	odd := &engine.AgentView{ID: "\xff", Persona: []engine.Fact{{Name: "n", Value: "NaN"}}, Usage: engine.Usage{Cost: math.MaxInt64}}
	if text, err := view.AgentJSON(odd); err != nil || !json.Valid(text) {
		t.Errorf("odd texts: %s, %v", text, err)
	}
}

// compact returns a JSON text without spaces or escaped characters.
func compact(t *testing.T, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
