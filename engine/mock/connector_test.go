package mock

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine/mock/wire"
)

// TestConnector checks the shop's answers in place of connectors that a scenario does not define.
func TestConnector(t *testing.T) {
	s := indoors(t, Config{Seed: 3})
	for _, tt := range []struct {
		method, body string
		status       int
		want         string
	}{
		{"POST", `{"target":"summarizer","input":{"b":1.50,"a":[null,"ü"]}}`, 200, `{"target":"summarizer","input":{"b":1.50,"a":[null,"ü"]}}`},
		{"POST", `{"target":"x","input":null}`, 200, `{"target":"x","input":null}`},
		{"POST", `{"target":"x"}`, 200, `{"target":"x","input":null}`},
		{"POST", `{"input":1}`, 400, `{"detail":"target must be the name of a connector or a function"}`},
		{"POST", `{"target":7}`, 400, `{"detail":"target must be a string"}`},
		{"POST", `[1]`, 400, `{"detail":"The body must be a JSON object"}`},
		{"POST", `{"target":"x","input":}`, 400, `{"detail":"The body is not valid JSON"}`},
		{"POST", ``, 400, `{"detail":"The body is not valid JSON"}`},
		{"POST", `{"target":"x","input":"` + strings.Repeat("x", maxBody) + `"}`, 400, `{"detail":"` + badBody + `"}`},
		{"GET", ``, 405, `{"detail":"Method not allowed"}`},
	} {
		g := s.ask(ask{user: "ann", method: tt.method, path: "/connectors", body: tt.body})
		if g.status != tt.status || g.body != tt.want {
			t.Errorf("%s %.60s: %d %.200s; want %d %s", tt.method, tt.body, g.status, g.body, tt.status, tt.want)
		}
	}
	if g := s.ask(ask{method: "POST", path: "/connectors", body: `{"target":"x"}`, bearer: "-"}); g.status != 401 {
		t.Errorf("without a token: %d", g.status)
	}
	if n := s.Stats().Mutations; n != 0 {
		t.Errorf("%d changes were made", n)
	}
}

// TestConnectorsHaveLatencyAndFaults checks that connectors have the latency and the faults of any call, the same each time.
func TestConnectorsHaveLatencyAndFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := indoors(t, Config{Seed: 3, Profile: ProfileSlow, Faults: Faults{ServerError: 0.5}})
		s.server = &wire.Server{}
		statuses := map[int]int{}
		for i := range 40 {
			a := ask{user: "ann", method: "POST", path: "/connectors", body: `{"target":"x"}`, tag: stamp(0, "step", i+1)}
			start := time.Now()
			g := s.ask(a)
			if took := time.Since(start); took < 500*time.Millisecond || took > 2*time.Second {
				t.Errorf("attempt %d took %v", i+1, took)
			}
			if again := s.ask(a); again.status != g.status {
				t.Errorf("attempt %d: %d, and again %d", i+1, g.status, again.status)
			}
			statuses[g.status]++
		}
		if statuses[200] < 10 || statuses[500] < 10 || len(statuses) != 2 {
			t.Errorf("statuses %v", statuses)
		}
	})
}
