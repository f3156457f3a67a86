package openai

import "testing"

// TestTokensOf reads usage in the formats of different services.
func TestTokensOf(t *testing.T) {
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
		{name: "DeepSeek", body: `{"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}}`, want: Tokens{Input: 100, Output: 7, Read: 64}},
		{name: "reasoning", body: `{"usage":{"prompt_tokens":100,"completion_tokens":70,"completion_tokens_details":{"reasoning_tokens":64}}}`, want: Tokens{Input: 100, Output: 70, Reasoning: 64}},
		{name: "reasoning apart", body: `{"usage":{"input_tokens":100,"output_tokens":7,"output_tokens_details":{"reasoning_tokens":64}}}`, want: Tokens{Input: 100, Output: 71, Reasoning: 64}},
		{name: "flex", body: `{"service_tier":"flex","usage":{"prompt_tokens":100,"completion_tokens":7}}`, want: Tokens{Input: 100, Output: 7, Batch: true}},
		{name: "fractions, below nothing and beyond all", body: `{"usage":{"prompt_tokens":12.0,"completion_tokens":-3,"prompt_tokens_details":{"cached_tokens":1e300}}}`, want: Tokens{Input: 12 + mostTold, Read: mostTold}},
		{name: "pieces", body: "data: {\"service_tier\":\"flex\",\"choices\":[]}\n\ndata: {\"choices\":[],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\ndata: [DONE]\n", want: Tokens{Input: 9, Output: 2, Batch: true}},
	} {
		if got := ReadTokens([]byte(tt.body)); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
