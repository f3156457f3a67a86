package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

const lookedAt = `
title: Looked at
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 3}
population: {count: 4, id: "shopper-${agent.index}"}
services:
  shop: {kind: http, url: %q}
chain live:
  step order: {kind: http, service: shop, post: "/order/${agent.index}", json: {n: 1}}
`

// TestAgents checks the counts of agents by state, and the answers in the timeline of one agent.
func TestAgents(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/order/2" {
			w.WriteHeader(http.StatusConflict)
		}
		fmt.Fprint(w, `{"said":   "`+r.URL.Path+`"}`)
	}))
	defer server.Close()
	data := t.TempDir()
	file := write(t, filepath.Join(data, "looked.yaml"), fmt.Sprintf(lookedAt, server.URL))
	if code, out, stderr := ctl(t, "run", file, "--data", data, "--no-dashboard", "--breaker", "off"); code == exitUsage {
		t.Fatalf("%s%s", out, stderr)
	}
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"agents", []string{"cycle 2, 4 agents", "  ok      3", "  failed  1"}},
		{"agents --cycle 7", []string{"has not reached cycle 7", "start at 0"}},
		{"agents --cycle=-1", []string{"has not reached cycle -1"}},
		{"agents --state failed --cycle 0", []string{"shopper-2\n"}},
		{"agents --state bad", []string{"unknown state bad", "one of ok, stopped, failed, timeout, canceled"}},
		{"agents --where agent.index>40", []string{`"agent.index>40" matches none of 4 agents (agent.index is from 0 to 3)`}},
		{"timeline shopper-2", []string{"\ncycle 0: failed", "\ncycle 1: failed", "\ncycle 2: failed", `order: POST /order/2 {"n":1} → 409 {"said": "/order/2"}`}},
		{"timeline shopper-1 --last 1", []string{"--last 0 also shows those before cycle 2", "\ncycle 2: ok"}},
		{"timeline shopper-1 --cycle 1", []string{"\ncycle 1: ok"}},
		{"timeline shopper-1 --cycle 9", []string{"No session has finished in cycle 9"}},
		{"timeline shopper-1 --last 0", []string{"\ncycle 0: ok", "\ncycle 1: ok", "\ncycle 2: ok"}},
	} {
		_, out, stderr := ctl(t, append(strings.Fields(tt.args), "--data", data)...)
		out += stderr
		for _, want := range tt.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing in\n%s", tt.args, want, out)
			}
		}
		cycles := 0
		for _, want := range tt.want {
			cycles += strings.Count(want, "\ncycle ")
		}
		if got := strings.Count(out, "\ncycle "); got != cycles {
			t.Errorf("%s: %d sessions, want %d, in\n%s", tt.args, got, cycles, out)
		}
	}
}
