package chain

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// BenchmarkAsking measures the cost of a step with a request, including client, loopback and server: an http step in
// addition to model steps.
func BenchmarkAsking(b *testing.B) {
	const answer = `{"choices":[{"message":{"role":"assistant","content":"{\"shop\":true,\"why\":\"hungry\"}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`
	const pieces = "data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"shop\\\":true,\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\\"why\\\":\\\"hungry\\\"}\"}}]}\n\ndata: [DONE]\n\n"
	numbers := `{"data":[{"index":0,"embedding":[` + strings.Repeat("0.0123,", 1535) + `1]}],"usage":{"prompt_tokens":5}}`
	address := serve(b, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.HasSuffix(r.URL.Path, "/embeddings"):
			js(w, 200, numbers)
		case strings.Contains(string(body), `"stream":true`):
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, pieces)
		default:
			js(w, 200, answer)
		}
	})
	for _, bb := range []struct{ name, step string }{
		{"http", `{kind: http, service: shop, post: /v1/chat/completions, json: {model: m1, messages: [{role: user, content: "Shop, ${agent.id}?"}]}}`},
		{"llm", `{kind: llm, service: model, prompt: "Shop, ${agent.id}?"}`},
		{"llm in a shape", `{kind: llm, service: model, prompt: "Shop, ${agent.id}?", answer: {shop: bool, why: string}}`},
		{"llm in pieces", `{kind: llm, service: model, prompt: "Shop, ${agent.id}?", answer: {shop: bool, why: string}, stream: true}`},
		{"embed", `{kind: embed, service: model, input: "${agent.id}"}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			rows := stage{
				steps: "step a: " + bb.step, address: address, more: []*Service{served(b, "model", address, "m1")}, agents: b.N,
				change: func(s *engine.Settings) { s.Limit = 8 },
			}.run(b)
			for i := range rows {
				if rows[i].Outcome != engine.OK {
					b.Fatal(rows[i].Error)
				}
			}
		})
	}
}
