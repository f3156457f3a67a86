package service

import "testing"

// TestTokensOf reads what services tell of the tokens that a call took, each in its own way.
func TestTokensOf(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       tokens
	}{
		{"nothing", `{"choices":[]}`, tokens{}},
		{"no JSON", `<html>`, tokens{}},
		{"OpenAI", `{"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64}}}`, tokens{input: 100, output: 7, read: 64}},
		{"no details", `{"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":null},"service_tier":null}`, tokens{input: 100, output: 7}},
		{"OpenRouter", `{"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30}}}`, tokens{input: 100, output: 7, read: 60, wrote: 30}},
		{"LiteLLM", `{"usage":{"prompt_tokens":100,"completion_tokens":7,"cache_read_input_tokens":60,"cache_creation_input_tokens":30}}`, tokens{input: 100, output: 7, read: 60, wrote: 30}},
		{"Anthropic", `{"usage":{"input_tokens":10,"output_tokens":7,"cache_read_input_tokens":60,"cache_creation_input_tokens":30}}`, tokens{input: 100, output: 7, read: 60, wrote: 30}},
		{"DeepSeek", `{"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}}`, tokens{input: 100, output: 7, read: 64}},
		{"flex", `{"service_tier":"flex","usage":{"prompt_tokens":100,"completion_tokens":7}}`, tokens{input: 100, output: 7, batch: true}},
		{"fractions, below nothing and beyond all", `{"usage":{"prompt_tokens":12.0,"completion_tokens":-3,"prompt_tokens_details":{"cached_tokens":1e300}}}`, tokens{input: 12 + mostTold, read: mostTold}},
		{"pieces", "data: {\"service_tier\":\"flex\",\"choices\":[]}\n\ndata: {\"choices\":[],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\ndata: [DONE]\n", tokens{input: 9, output: 2, batch: true}},
	} {
		if got := tokensOf([]byte(tt.body)); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestPricesOfTheCache bills the parts of a prompt at their own prices, and answers of a batch at those.
func TestPricesOfTheCache(t *testing.T) {
	prices, err := ReadPrices([]byte(`{
		"all": {"input_cost_per_token": 10e-6, "output_cost_per_token": 40e-6, "cache_read_input_token_cost": 1e-6, "cache_creation_input_token_cost": 12e-6,
			"input_cost_per_token_batches": 5e-6, "output_cost_per_token_batches": 20e-6},
		"free cache": {"input_cost_per_token": 10e-6, "output_cost_per_token": 40e-6, "cache_read_input_token_cost": 0},
		"plain": {"input_cost_per_token": 10e-6, "output_cost_per_token": 40e-6},
		"cache only": {"cache_read_input_token_cost": 1e-6}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	if prices.Knows("cache only") {
		t.Error("a model whose cache alone has a price has none")
	}
	told := tokens{input: 100, output: 10, read: 60, wrote: 30}
	for _, tt := range []struct {
		model string
		told  tokens
		want  int64 // millionths of a dollar
	}{
		{"all", told, 10*10 + 60*1 + 30*12 + 10*40},
		{"all", tokens{input: 100, output: 10, batch: true}, 100*5 + 10*20},
		{"free cache", told, 40*10 + 10*40},
		{"plain", told, 100*10 + 10*40},
		{"plain", tokens{input: 100, output: 10, batch: true}, 100*10 + 10*40},
	} {
		got := prices.usage(tt.model, tt.told)
		if got.Cost != tt.want*1000 || got.Cached != tt.told.read || got.Input != 100 {
			t.Errorf("%s: %+v costs %+v, want %d millionths", tt.model, tt.told, got, tt.want)
		}
		most := prices.most(tt.model, tt.told.input, tt.told.output)
		if most.Cost < got.Cost {
			t.Errorf("%s: %d is claimed for what costs %d", tt.model, most.Cost, got.Cost)
		}
	}
	if _, err := ReadPrices([]byte(`{"m": {"input_cost_per_token": 1e-6, "cache_read_input_token_cost": "much"}}`)); err == nil {
		t.Error("a price of the cache that is no number was read")
	}
}

// TestClaimsLearnWhatAServiceAdds: what it puts before each prompt is claimed from the second call on.
func TestClaimsLearnWhatAServiceAdds(t *testing.T) {
	var m meter
	m.usage(nil, "m", tokens{input: 500, output: 5}, 30, 12)
	m.usage(nil, "m", tokens{input: 5490, output: 5}, 15_000, 12)
	if got := m.atMost("m", 30); got < 500 || got > 600 {
		t.Errorf("%d tokens are claimed for a prompt that took 500", got)
	}
	if got := m.atMost("m", 15_000); got < 5490 {
		t.Errorf("%d tokens are claimed for a prompt that took 5,490", got)
	}
}
