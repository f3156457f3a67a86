package cleanup

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// TestCleanupRequests checks the number of requests of a cleanup: exact if the scenario and the data determine it, else as
// bounds.
func TestCleanupRequests(t *testing.T) {
	const remove = "step a: {kind: http, service: shop, delete: /orders/1}"
	for _, c := range []struct {
		name, steps, want string
		resume            engine.RunID
	}{
		{"one for each agent", remove, "3 requests", ""},
		{"one for each event", "step f: {kind: for, each: input.events, as: made, do: {" + remove + "}}", "12 requests", ""},
		{"one for each session", "step f: {kind: for, each: input.sessions, as: made, do: {" + remove + "}}", "7 requests", ""},
		{"some of the events", "step f: {kind: for, each: input.events, as: made, do: {step a: {kind: http, service: shop, delete: /orders/1, when: made.cycle > 0}}}", "up to 12 requests", ""},
		{"events under a condition", "step i: {kind: if, condition: agent.index > 0, then: {step f: {kind: for, each: input.events, as: made, do: {" + remove + "}}}}\n  " + "step b: {kind: http, service: shop, delete: /carts/1}", "3 to 15 requests", ""},
		{"an answer", "step l: {kind: http, service: shop, get: /orders}\n  step f: {kind: for, each: steps.l.body, as: made, do: {" + remove + "}}", "at least 3 requests; more depend on the answers", ""},
		{"a loop in a loop", "step f: {kind: for, each: input.sessions, as: s, do: {step g: {kind: for, each: input.events, as: made, do: {" + remove + "}}}}", "at least 0 requests; more depend on the answers", ""},
		{"what is left", "step f: {kind: for, each: input.events, as: made, do: {" + remove + "}}", "up to 12 requests", "r"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := "population: {count: 3}\nservices: {shop: {kind: http, url: \"http://127.0.0.1:1\"}}\nchain c:\n  " + c.steps + "\n"
			s, err := scenario.Read("x.yaml", func(string) ([]byte, error) { return []byte(file), nil }, nil)
			if err != nil {
				t.Fatal(err)
			}
			plan := &Plan{Scenario: s, Agents: 3, Sessions: 7, Events: map[string]int64{"order": 10, "cart": 2}, Resume: c.resume}
			plan.expect()
			if got := plan.Requests.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
