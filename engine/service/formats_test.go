package service

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/anthropic"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/ollama"
	"github.com/throng-sim/throng/engine/service/pricing"
)

// TestOtherFormats makes calls in other wire formats: where the request goes, what is read, and what it used.
func TestOtherFormats(t *testing.T) {
	jsonLines := map[string]string{"Content-Type": "application/x-ndjson"}
	events := map[string]string{"Content-Type": "text/event-stream"}
	for _, tt := range []struct {
		name   string
		api    llm.API
		stream bool
		answer reply
		path   string
	}{
		{"ollama", ollama.API{}, false, ok200(`{"message":{"content":"Hello."},"done":true,"prompt_eval_count":12,"eval_count":3}`), "/api/chat"},
		{"ollama, streamed", ollama.API{}, true, reply{status: 200, header: jsonLines, body: `{"message":{"content":"Hel"}}` + "\n" + `{"message":{"content":"lo."}}` + "\n" + `{"done":true,"prompt_eval_count":12,"eval_count":3}` + "\n"}, "/api/chat"},
		{"messages", anthropic.API{}, false, ok200(`{"type":"message","content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn","usage":{"input_tokens":2,"cache_read_input_tokens":10,"output_tokens":3}}`), "/v1/messages"},
		{"messages, streamed", anthropic.API{}, true, reply{status: 200, header: events, body: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":2,\"cache_read_input_tokens\":10,\"output_tokens\":1}}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello.\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\ndata: {\"type\":\"message_stop\"}\n\n"}, "/v1/messages"},
	} {
		fake := &script{answers: []reply{tt.answer}}
		c := hello()
		c.Stream = tt.stream
		row, got := stage{}.chat(t, models(t, fake, LLMConfig{API: tt.api}), c, nil)
		if got == nil || got.Text != "Hello." {
			t.Fatalf("%s: got %+v, %+v", tt.name, got, row.Steps)
		}
		if u := row.Steps[0].Usage; u == nil || u.Input != 12 || u.Output != 3 || u.Estimated != 0 {
			t.Errorf("%s: used %+v", tt.name, u)
		}
		sent := fake.requests()[0]
		if !strings.HasSuffix(sent.url, tt.path) || (sent.header.Get("Anthropic-Version") != "") != strings.HasSuffix(tt.path, "/messages") {
			t.Errorf("%s: sent to %s with %v", tt.name, sent.url, sent.header)
		}
	}
}

// TestKeysOfOtherFormats checks the header that hands over a key.
func TestKeysOfOtherFormats(t *testing.T) {
	for i, want := range []http.Header{
		{"Authorization": {"Bearer k"}}, {"X-Api-Key": {"k"}, "Anthropic-Version": {anthropic.Version}}, {"Authorization": {"Bearer k"}},
	} {
		got := APIs[i].Header("k")
		for name := range want {
			if got.Get(name) != want.Get(name) || len(got) != len(want) {
				t.Errorf("%s: got %v, want %v", APIs[i].Name, got, want)
			}
		}
	}
}

// TestOverload checks that 529 is waited out as an unavailable service, that 429 follows Retry-After, and that neither is paid for.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := ok200(`{"type":"message","content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn","usage":{"input_tokens":12,"output_tokens":3}}`)
		refused := reply{status: 429, header: map[string]string{"Retry-After": "7", "Anthropic-Ratelimit-Requests-Remaining": "0"}, body: `{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}`}
		overloaded := reply{status: anthropic.StatusOverloaded, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}
		l := models(t, &script{answers: []reply{refused, overloaded, said}}, LLMConfig{API: anthropic.API{}, Prices: pricing.Prices{"gpt-4o-mini": {Input: 1e-6, Output: 2e-6}}})
		began := time.Now()
		row, got := spends(t, engine.Amount{Cost: 18_000, Tokens: 15, Requests: 2}, nil).chat(t, l, hello(), nil)
		if got == nil || got.Text != "Hello." || time.Since(began) < 7*time.Second || !slices.Equal(row.Steps[0].Statuses, []int{429, 529, 200}) {
			t.Errorf("got %+v after %v, %+v", got, time.Since(began), row.Steps[0])
		}
	})
}
