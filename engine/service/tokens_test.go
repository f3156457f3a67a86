package service

import (
	"testing"

	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/pricing"
)

// TestPricesOfTheCache charges the parts of a prompt, and answers of a batch, at their own prices.
func TestPricesOfTheCache(t *testing.T) {
	prices, err := pricing.ReadPrices([]byte(`{
		"all": {"input_cost_per_token": 10e-6, "output_cost_per_token": 40e-6, "cache_read_input_token_cost": 1e-6, "cache_creation_input_token_cost": 12e-6,
			"input_cost_per_token_batches": 5e-6, "output_cost_per_token_batches": 20e-6},
		"free cache": {"input_cost_per_token": 10e-6, "output_cost_per_token": 40e-6, "cache_read_input_token_cost": 0},
		"thinker": {"input_cost_per_token": 10e-6, "output_cost_per_token": 40e-6, "output_cost_per_reasoning_token": 50e-6, "input_cost_per_request": 300e-6, "supports_vision": true},
		"hour": {"input_cost_per_token": 1e-5, "cache_creation_input_token_cost": 1.2e-5, "cache_creation_input_token_cost_above_1hr": 2e-5, "output_cost_per_token": 4e-5},
		"plain": {"input_cost_per_token": 10e-6, "output_cost_per_token": 40e-6},
		"cache only": {"cache_read_input_token_cost": 1e-6}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	if prices.Knows("cache only") {
		t.Error("a model whose cache alone has a price has none")
	}
	told := llm.Tokens{Input: 100, Output: 10, Read: 60, Wrote: 30}
	for _, tt := range []struct {
		model string
		told  llm.Tokens
		want  int64 // millionths of a dollar
	}{
		{"all", told, 10*10 + 60*1 + 30*12 + 10*40},
		{"all", llm.Tokens{Input: 100, Output: 10, Batch: true}, 100*5 + 10*20},
		{"free cache", told, 40*10 + 10*40},
		{"thinker", llm.Tokens{Input: 100, Output: 10, Reasoning: 6}, 300 + 100*10 + 4*40 + 6*50},
		{"thinker", llm.Tokens{Input: 100, Output: 10, Reasoning: 6, Batch: true}, 300 + 100*10 + 10*40},
		{"hour", llm.Tokens{Input: 100, Output: 10, Wrote: 60, WroteLong: 50}, 40*10 + 10*12 + 50*20 + 10*40},
		{"hour", llm.Tokens{Input: 100, Output: 10, Wrote: 100, WroteLong: 100}, 100*20 + 10*40},
		{"plain", told, 100*10 + 10*40},
		{"plain", llm.Tokens{Input: 100, Output: 10, Batch: true}, 100*10 + 10*40},
	} {
		got := prices.Usage(tt.model, tt.told)
		if got.Cost != tt.want*1000 || got.Cached != tt.told.Read || got.Input != 100 {
			t.Errorf("%s: %+v costs %+v, want %d millionths", tt.model, tt.told, got, tt.want)
		}
		most := prices.Most(tt.model, llm.Tokens{Input: tt.told.Input, Output: tt.told.Output})
		if most.Cost < got.Cost {
			t.Errorf("%s: %d is claimed for what costs %d", tt.model, most.Cost, got.Cost)
		}
	}
	if _, err := pricing.ReadPrices([]byte(`{"m": {"input_cost_per_token": 1e-6, "cache_read_input_token_cost": "much"}}`)); err == nil {
		t.Error("a price of the cache that is not a number was read")
	}
}

// TestClaimsLearnWhatAServiceAdds checks that the tokens that a service adds to each prompt are claimed from the second
// call on.
func TestClaimsLearnWhatAServiceAdds(t *testing.T) {
	var m pricing.Meter
	m.Usage(nil, "m", llm.Tokens{Input: 500, Output: 5}, 30, 12)
	m.Usage(nil, "m", llm.Tokens{Input: 5490, Output: 5}, 15_000, 12)
	if got := m.AtMost("m", 30); got < 500 || got > 600 {
		t.Errorf("%d tokens are claimed for a prompt that took 500", got)
	}
	if got := m.AtMost("m", 15_000); got < 5490 {
		t.Errorf("%d tokens are claimed for a prompt that took 5,490", got)
	}
}
