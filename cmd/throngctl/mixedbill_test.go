package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const mixed = `
title: Two providers
clock: {cycle: 1h, cycles: 1}
population: {count: 6}
services:
  claude: {kind: llm, url: "URL/v1", api: messages, model: claude}
  gpt: {kind: llm, url: "URL/v1", model: gpt}
chain ask:
  step a: {kind: llm, service: claude, fallback: gpt, system: "The house rules.", prompt: "Agent ${agent.index}.", answer: {buy: bool}, max_tokens: 90, retry: {attempts: 3, wait: 0}}
  step b: {kind: emit, event: bought, data: {buy: "${steps.a.buy}"}}
`

// mixedPrices are per token: of claude 1, 0.1 from the cache, 1.25 into it, and 5 out, in millionths of a dollar; of gpt 2, 0.5, 8,
// 10 for reasoning, and 1,000 for each call.
const mixedPrices = `{
  "claude": {"input_cost_per_token": 1e-6, "cache_read_input_token_cost": 1e-7, "cache_creation_input_token_cost": 1.25e-6, "output_cost_per_token": 5e-6, "unheard_of_cost_per_moon": 7},
  "gpt": {"input_cost_per_token": 2e-6, "cache_read_input_token_cost": 5e-7, "output_cost_per_token": 8e-6, "output_cost_per_reasoning_token": 1e-5, "input_cost_per_request": 1e-3}
}`

// moody answers as two providers do: the first refuses a field, is overloaded once, refuses two agents and answers one in prose; the
// second reports more cached tokens than it read for one of them.
type moody struct {
	mu    sync.Mutex
	asked map[string]int // by agent
}

func (m *moody) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	body := string(data)
	m.mu.Lock()
	defer m.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	is := func(n int) bool { return strings.Contains(body, fmt.Sprintf("Agent %d.", n)) }
	fail := func(status int, kind, message string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q}}`, kind, message)
	}
	if strings.HasSuffix(r.URL.Path, "/chat/completions") {
		prompt := 1200
		if is(4) {
			prompt = 100
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"content":"{\"buy\": false}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":50,`+
			`"prompt_tokens_details":{"cached_tokens":600},"completion_tokens_details":{"reasoning_tokens":30}}}`, prompt)
		return
	}
	said := `{"type":"tool_use","id":"toolu_1","name":"answer","input":{"buy":true}}`
	switch {
	case strings.Contains(body, `"output_config"`):
		fail(400, "invalid_request_error", "output_config.format: Extra inputs are not permitted")
		return
	case is(1) && m.asked["1"] == 0:
		m.asked["1"]++
		fail(529, "overloaded_error", "Overloaded")
		return
	case is(2) || is(4):
		fail(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")
		return
	case is(3) && m.asked["3"] == 0:
		m.asked["3"]++
		said = `{"type":"text","text":"I would rather not say."}`
	}
	fmt.Fprintf(w, `{"type":"message","role":"assistant","content":[%s],"stop_reason":"end_turn","usage":`+
		`{"input_tokens":100,"cache_read_input_tokens":1100,"cache_creation_input_tokens":40,"output_tokens":20}}`, said)
}

// TestBillOfTwoProviders compares the cost of a run with a bill that was computed by hand: with cached tokens, a fallback, retries,
// an unusable answer, a refused field, and usage that contradicts itself.
func TestBillOfTwoProviders(t *testing.T) {
	server := httptest.NewServer(&moody{asked: map[string]int{}})
	t.Cleanup(server.Close)
	data := t.TempDir()
	file := filepath.Join(data, "mixed.yaml")
	for path, text := range map[string]string{file: strings.ReplaceAll(mixed, "URL", server.URL), filepath.Join(data, "prices.json"): mixedPrices} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, stderr := ctl(t, "run", file, "--data", data, "--llm-rate", "1000", "--no-dashboard", "--budget", "1", "--export", filepath.Join(data, "out"))
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	const (
		claude = 100*1000 + 1100*100 + 40*1250 + 20*5000 // in billionths of a dollar
		gpt    = 600*2000 + 600*500 + 20*8000 + 30*10_000 + 1_000_000
		gpt4   = 100*2000 + 600*500 + 20*8000 + 30*10_000 + 1_000_000 // 600 cached of 100 tokens: they count as 700
		want   = 5*claude + gpt + gpt4                                // agents 0, 1, 3 twice, and 5; 2; 4
	)
	if want != 6_720_000 {
		t.Fatalf("the bill is %d", want)
	}
	var m struct {
		Totals struct {
			Models map[string]float64
			Spent  map[string]float64
		}
	}
	if err := json.Unmarshal([]byte(read(t, data, "out", "run.json")), &m); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"calls": 7, "cost_usd": 0.00672, "input_tokens": 5*1240 + 1200 + 700, "cached_input_tokens": 5*1100 + 2*600, "cache_written_input_tokens": 5 * 40,
		"output_tokens": 5*20 + 2*50, "contradictory_calls": 1, "estimated_calls": 0, "unpriced_calls": 0, "cacheable_input_tokens": 5*1240 + 1200,
	} {
		if got := m.Totals.Models[name]; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	for _, want := range []string{"$0.0067", "6,700 from the provider's cache, 83%, 200 written to it", "1 with usage that contradicts itself"} {
		if !strings.Contains(out, want) {
			t.Errorf("the summary lacks %q:\n%s", want, out)
		}
	}
	if events := read(t, data, "out", "events.csv"); strings.Count(events, ",true\n") != 4 || strings.Count(events, ",false\n") != 2 {
		t.Errorf("events:\n%s", events)
	}
	if code, audit, stderr := ctl(t, "audit", "--data", data); code != exitDone {
		t.Errorf("the audit disagrees:\n%s%s", audit, stderr)
	}
}
