package app

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/throng-sim/throng/cmd/internal/telemetry"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// backend answers every request, the first of each key with an error, and notes the headers traceparent.
type backend struct {
	*httptest.Server
	mu      sync.Mutex
	parents []string
	seen    map[string]bool
}

func newBackend(t *testing.T) *backend {
	t.Helper()
	b := &backend{seen: map[string]bool{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.parents = append(b.parents, r.Header.Get("Traceparent"))
		key := r.Header.Get("Idempotency-Key")
		if key != "" && !b.seen[key] {
			b.seen[key] = true
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(b.Close)
	return b
}

// asking is a scenario with calls of models and of a backend.
const asking = `title: Asking
clock: {cycles: 1}
population: {count: 6}
services:
  model: {kind: llm, provider: mock, embedding_model: mock-embed}
  shop: {kind: http, url: "BACKEND", traceparent: on}
  own: {kind: http, url: "BACKEND", traceparent: on, headers: {Traceparent: mine}}
chain ask:
  step say: {kind: llm, service: model, system: You are a baker., prompt: "Good morning, ${agent.index}", temperature: 0.5, max_tokens: 20}
  step vector: {kind: embed, service: model, input: hello}
  step look: {kind: http, service: shop, get: /}
  step order: {kind: http, service: shop, post: /orders, json: {a: 1}}
  step other: {kind: http, service: own, get: /}
`

// traceAsking runs the scenario and returns its spans by name, and the backend.
func traceAsking(t *testing.T, content bool) (byName map[string][]*spans.Span, b *backend, run engine.RunID) {
	t.Helper()
	b = newBackend(t)
	byName, run = traced(t, strings.ReplaceAll(asking, "BACKEND", b.URL), content)
	return byName, b, run
}

// traced runs a scenario with 6 agents and returns its spans by name.
func traced(t *testing.T, text string, content bool) (byName map[string][]*spans.Span, run engine.RunID) {
	t.Helper()
	s, err := scenario.Read("asking.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := newReceiver(t)
	job := startShoppers(t, telemetry.Receivers{Sending: &telemetry.Sending{URL: r.URL, Share: 1, Content: content}}, func(l *Launch) {
		l.Scenario, l.Settings.Cycles, l.Settings.Mock.Faults = s, 1, nil
	})
	if result := job.Run.Wait(); result.Totals.Outcomes[engine.OK] != 6 {
		t.Fatalf("the run ended with %v", result.Totals.Outcomes)
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	byName = map[string][]*spans.Span{}
	for _, span := range r.spans {
		byName[span.Name] = append(byName[span.Name], span)
	}
	return byName, job.Record.ID
}

// TestReasoningInSpans checks that spans have the reasoning tokens that models report, of all attempts of a step and in both formats, and none
// of models that report none.
func TestReasoningInSpans(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		_, who, _ := strings.Cut(string(body), "I am ")
		asked[r.URL.Path+who[:1]]++
		first := asked[r.URL.Path+who[:1]] == 1
		mu.Unlock()
		switch {
		case strings.HasPrefix(r.URL.Path, "/deep/") && first: // an answer without a text is asked for once more
			fmt.Fprint(w, `{"choices":[{"finish_reason":"stop","message":{"content":""}}],"usage":{"prompt_tokens":9,"completion_tokens":30,"completion_tokens_details":{"reasoning_tokens":30}}}`)
		case strings.HasPrefix(r.URL.Path, "/deep/"):
			fmt.Fprint(w, `{"choices":[{"finish_reason":"stop","message":{"content":"Bread."}}],"usage":{"prompt_tokens":9,"completion_tokens":40,"completion_tokens_details":{"reasoning_tokens":38}}}`)
		case strings.HasPrefix(r.URL.Path, "/thoughtful/"):
			fmt.Fprint(w, `{"type":"message","content":[{"type":"text","text":"Bread."}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":40,"output_tokens_details":{"thinking_tokens":37}}}`)
		default:
			fmt.Fprint(w, `{"choices":[{"finish_reason":"stop","message":{"content":"Bread."}}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`)
		}
	}))
	defer server.Close()
	all, _ := traced(t, strings.ReplaceAll(`title: Thinking
clock: {cycles: 1}
population: {count: 6}
services:
  deep: {kind: llm, url: "BACKEND/deep/v1", model: deep}
  thoughtful: {kind: llm, url: "BACKEND/thoughtful/v1", model: thoughtful, api: messages}
  plain: {kind: llm, url: "BACKEND/plain/v1", model: plain}
chain ask:
  step a: {kind: llm, service: deep, prompt: "I am ${agent.index}", retry: {attempts: 2, wait: 1ms}}
  step b: {kind: llm, service: thoughtful, prompt: "I am ${agent.index}", max_tokens: 90}
  step c: {kind: llm, service: plain, prompt: "I am ${agent.index}"}
`, "BACKEND", server.URL), false)
	for name, want := range map[string]int64{"chat deep": 68, "chat thoughtful": 37, "chat plain": -1} {
		if len(all[name]) != 6 {
			t.Fatalf("%d spans %s", len(all[name]), name)
		}
		for _, s := range all[name] {
			if got := numberOf(s, "gen_ai.usage.reasoning.output_tokens"); got != want || got > numberOf(s, "gen_ai.usage.output_tokens") {
				t.Errorf("%s: %d reasoning tokens of %d, want %d", name, got, numberOf(s, "gen_ai.usage.output_tokens"), want)
			}
		}
	}
}

// TestModelSpans checks the attributes of model calls, and that prompts and answers are sent only if they are asked for.
func TestModelSpans(t *testing.T) {
	for _, content := range []bool{false, true} {
		all, b, _ := traceAsking(t, content)
		chats, vectors := all["chat mock-1"], all["embeddings mock-embed"]
		if len(chats) != 6 || len(vectors) != 6 {
			t.Fatalf("%d chats and %d embeddings in %d kinds of spans", len(chats), len(vectors), len(all))
		}
		for _, s := range slices.Concat(chats, vectors) {
			got := said(s.Attributes)
			want := map[string]string{
				"gen_ai.provider.name": "mock", "server.address": "127.0.0.1", "gen_ai.operation.name": strings.Fields(s.Name)[0], "gen_ai.request.model": strings.Fields(s.Name)[1],
				"gen_ai.response.model": strings.Fields(s.Name)[1],
			}
			for name, value := range want {
				if got[name] != value {
					t.Errorf("%s: %s is %q, want %q", s.Name, name, got[name], value)
				}
			}
			if s.Kind != spans.Span_SPAN_KIND_CLIENT || numberOf(s, "server.port") <= 0 || numberOf(s, "gen_ai.usage.input_tokens") <= 0 || numberOf(s, "gen_ai.usage.cache_read.input_tokens") < 0 {
				t.Errorf("%s", s)
			}
			if slices.Contains(b.parents, "") {
				t.Error("a request to the backend has no traceparent")
			}
		}
		for _, s := range chats {
			got := said(s.Attributes)
			if got["gen_ai.response.id"] == "" || numberOf(s, "gen_ai.request.max_tokens") != 20 || numberOf(s, "gen_ai.request.seed") < 0 || listOf(s, "gen_ai.response.finish_reasons") == "" {
				t.Errorf("%s", s)
			}
			told := strings.Contains(got["gen_ai.input.messages"], `"role":"user","parts":[{"type":"text","content":"Good morning, `) &&
				strings.Contains(got["gen_ai.system_instructions"], "You are a baker.") && strings.Contains(got["gen_ai.output.messages"], `"role":"assistant"`)
			if told != content || !content && strings.Contains(s.String(), "morning") {
				t.Errorf("content %v: %s", content, s)
			}
		}
	}
}

// listOf returns the texts of an attribute.
func listOf(s *spans.Span, name string) string {
	var all []string
	for _, kv := range s.Attributes {
		if kv.Key == name {
			for _, v := range kv.Value.GetArrayValue().GetValues() {
				all = append(all, v.GetStringValue())
			}
		}
	}
	return strings.Join(all, ",")
}

// TestTraceparent checks that the headers of the backend name the spans that are sent, one for each request, and that a header of the scenario's own
// stays.
func TestTraceparent(t *testing.T) {
	all, b, _ := traceAsking(t, false)
	steps := map[string]bool{}
	for _, s := range slices.Concat(all["look"], all["order"]) {
		steps[string(s.TraceId)+string(s.SpanId)] = true
	}
	var want []string
	for _, s := range slices.Concat(all["GET"], all["POST"]) {
		want = append(want, "00-"+hex.EncodeToString(s.TraceId)+"-"+hex.EncodeToString(s.SpanId)+"-01")
		if s.Kind != spans.Span_SPAN_KIND_CLIENT || !steps[string(s.TraceId)+string(s.ParentSpanId)] {
			t.Errorf("%s", s)
		}
	}
	if len(all["GET"]) != 6 || len(all["POST"]) != 12 {
		t.Errorf("%d and %d requests have spans", len(all["GET"]), len(all["POST"]))
	}
	failed, resent := 0, 0
	for _, s := range all["POST"] {
		if s.Status.GetCode() == spans.Status_STATUS_CODE_ERROR && said(s.Attributes)["error.type"] == "503" && numberOf(s, "http.response.status_code") == 503 {
			failed++
		}
		if numberOf(s, "http.request.resend_count") == 1 {
			resent++
		}
	}
	if failed != 6 || resent != 6 {
		t.Errorf("%d requests failed, and %d were sent again", failed, resent)
	}
	got := slices.DeleteFunc(slices.Clone(b.parents), func(p string) bool { return p == "mine" })
	slices.Sort(got)
	slices.Sort(want)
	if len(b.parents)-len(got) != 6 || !slices.Equal(got, want) {
		t.Errorf("the headers are\n%q\nand the spans are\n%q", b.parents, want)
	}
}
