package llm

import "testing"

// TestTokensOf reads usage in the formats of different services.
func TestTokensOf(t *testing.T) {
	const start = `data: {"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":60,"cache_creation_input_tokens":30,"output_tokens":1}}}` + "\n\n"
	for _, tt := range []struct {
		name, body string
		want       Tokens
	}{
		{name: "nothing", body: `{"choices":[]}`, want: Tokens{}},
		{name: "no JSON", body: `<html>`, want: Tokens{}},
		{name: "OpenAI", body: `{"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64}}}`, want: Tokens{Input: 100, Output: 7, Read: 64}},
		{name: "no details", body: `{"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":null},"service_tier":null}`, want: Tokens{Input: 100, Output: 7}},
		{name: "OpenRouter", body: `{"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30}}}`, want: Tokens{Input: 100, Output: 7, Read: 60, Wrote: 30}},
		{name: "LiteLLM", body: `{"usage":{"prompt_tokens":100,"completion_tokens":7,"cache_read_input_tokens":60,"cache_creation_input_tokens":30}}`, want: Tokens{Input: 100, Output: 7, Read: 60, Wrote: 30}},
		{name: "Anthropic", body: `{"usage":{"input_tokens":10,"output_tokens":7,"cache_read_input_tokens":60,"cache_creation_input_tokens":30}}`, want: Tokens{Input: 100, Output: 7, Read: 60, Wrote: 30}},
		{name: "Anthropic, little cached", body: `{"usage":{"input_tokens":100,"output_tokens":7,"cache_read_input_tokens":60,"cache_creation_input_tokens":null}}`, want: Tokens{Input: 160, Output: 7, Read: 60}},
		{name: "Anthropic, for an hour", body: `{"usage":{"input_tokens":10,"output_tokens":7,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}}}`, want: Tokens{Input: 40, Output: 7, Wrote: 30, WroteLong: 20}},
		{name: "Anthropic's stream", body: start + `data: {"type":"message_delta","usage":{"output_tokens":7}}` + "\n", want: Tokens{Input: 100, Output: 7, Read: 60, Wrote: 30}},
		{name: "Anthropic's stream, with all of it at its end", body: start + `data: {"type":"message_delta","usage":{"input_tokens":10,"cache_read_input_tokens":60,"cache_creation_input_tokens":30,"output_tokens":7}}` + "\n", want: Tokens{Input: 100, Output: 7, Read: 60, Wrote: 30}},
		{name: "Anthropic's stream, broken off", body: start, want: Tokens{Input: 100, Read: 60, Wrote: 30, Open: true}},
		{name: "DeepSeek", body: `{"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}}`, want: Tokens{Input: 100, Output: 7, Read: 64}},
		{name: "Ollama", body: `{"message":{"content":"x"},"done":true,"prompt_eval_count":100,"eval_count":7}`, want: Tokens{Input: 100, Output: 7}},
		{name: "Ollama's stream", body: `{"message":{"content":"x"},"done":false}` + "\n" + `{"done":true,"prompt_eval_count":100,"eval_count":7}` + "\n", want: Tokens{Input: 100, Output: 7}},
		{name: "reasoning", body: `{"usage":{"prompt_tokens":100,"completion_tokens":70,"completion_tokens_details":{"reasoning_tokens":64}}}`, want: Tokens{Input: 100, Output: 70, Reasoning: 64}},
		{name: "Anthropic's thinking", body: `{"usage":{"input_tokens":10,"output_tokens":70,"output_tokens_details":{"thinking_tokens":64}}}`, want: Tokens{Input: 10, Output: 70, Reasoning: 64}},
		{name: "Anthropic's thinking in a stream", body: start + `data: {"type":"message_delta","usage":{"output_tokens":70,"output_tokens_details":{"thinking_tokens":64}}}` + "\n", want: Tokens{Input: 100, Output: 70, Read: 60, Wrote: 30, Reasoning: 64}},
		{name: "reasoning apart", body: `{"usage":{"input_tokens":100,"output_tokens":7,"total_tokens":171,"output_tokens_details":{"reasoning_tokens":64}}}`, want: Tokens{Input: 100, Output: 71, Reasoning: 64}},
		{name: "cache apart", body: `{"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":77,"prompt_tokens_details":{"cached_tokens":60}}}`, want: Tokens{Input: 70, Output: 7, Read: 60}},
		{name: "flex", body: `{"service_tier":"flex","usage":{"prompt_tokens":100,"completion_tokens":7}}`, want: Tokens{Input: 100, Output: 7, Batch: true}},
		{name: "pieces", body: "data: {\"service_tier\":\"flex\",\"choices\":[]}\n\ndata: {\"choices\":[],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\ndata: [DONE]\n", want: Tokens{Input: 9, Output: 2, Batch: true}},
		{name: "numbers in quotes", body: `{"usage":{"prompt_tokens":"100","completion_tokens":7.0}}`, want: Tokens{Input: 100, Output: 7}},
	} {
		if got := ReadTokens([]byte(tt.body)); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestUsageThatContradictsItself checks that such calls are marked, and count with the larger figures.
func TestUsageThatContradictsItself(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       Tokens
	}{
		{name: "more cached than the prompt", body: `{"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":60}}}`, want: Tokens{Input: 70, Output: 7, Read: 60}},
		{name: "read and written are more than the prompt", body: `{"usage":{"prompt_tokens":80,"completion_tokens":7,"cache_read_input_tokens":60,"cache_creation_input_tokens":30}}`, want: Tokens{Input: 170, Output: 7, Read: 60, Wrote: 30}},
		{name: "negative", body: `{"usage":{"prompt_tokens":12,"completion_tokens":-3}}`, want: Tokens{Input: 12}},
		{name: "beyond all", body: `{"usage":{"prompt_tokens":12.0,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":1e300}}}`, want: Tokens{Input: 12 + mostTold, Output: 3, Read: mostTold}},
		{name: "more reasoning than the answer", body: `{"usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":107,"completion_tokens_details":{"reasoning_tokens":64}}}`, want: Tokens{Input: 100, Output: 71, Reasoning: 64}},
		{name: "a total beyond its parts", body: `{"usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":150}}`, want: Tokens{Input: 100, Output: 50}},
		{name: "more written for an hour than written", body: `{"usage":{"input_tokens":10,"output_tokens":7,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_1h_input_tokens":20}}}`, want: Tokens{Input: 30, Output: 7, Wrote: 20, WroteLong: 20}},
		{name: "no number", body: `{"usage":{"prompt_tokens":100,"completion_tokens":{}}}`, want: Tokens{Input: 100}},
		{name: "details of another type", body: `{"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":5}}`, want: Tokens{Input: 100, Output: 7}},
	} {
		tt.want.Doubtful = true
		if got := ReadTokens([]byte(tt.body)); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
