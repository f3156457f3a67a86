package service

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/pricing"
)

// lite is a table in LiteLLM's format.
const lite = `{
	"sample_spec": {"max_tokens": "LEGACY parameter", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0, "mode": "one of: chat, embedding"},
	"gpt-4o-mini": {"input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07, "litellm_provider": "openai", "max_tokens": 16384},
	"azure/gpt-4o-mini": {"input_cost_per_token": 1.65e-07, "output_cost_per_token": 6.6e-07},
	"text-embedding-3-small": {"input_cost_per_token": 2e-08, "output_cost_per_token": 0.0, "mode": "embedding"},
	"dall-e-3": {"input_cost_per_pixel": 1e-08, "mode": "image_generation"},
	"only-output": {"output_cost_per_token": 1e-06}
}`

// flat is a price without special prices for the cache and batches.
func flat(input, output float64) pricing.Price {
	return pricing.Price{Input: input, Output: output, CacheRead: input, CacheWrite: input, CacheWriteLong: input, Reasoning: output, BatchInput: input, BatchOutput: output}
}

func TestPrices(t *testing.T) {
	prices, err := pricing.ReadPrices([]byte(lite))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		model string
		want  pricing.Price
		known bool
	}{
		{"gpt-4o-mini", flat(1.5e-07, 6e-07), true},
		{"openai/gpt-4o-mini", flat(1.5e-07, 6e-07), true},
		{"openrouter/openai/gpt-4o-mini", flat(1.5e-07, 6e-07), true},
		{"azure/gpt-4o-mini", flat(1.65e-07, 6.6e-07), true},
		{"eu/azure/gpt-4o-mini", flat(1.65e-07, 6.6e-07), true},
		{"text-embedding-3-small", flat(2e-08, 0), true},
		{"only-output", flat(0, 1e-06), true},
		{"gpt-4o", pricing.Price{}, false},
		{"gpt-4o-mini:free", pricing.Price{}, false},
		{"dall-e-3", pricing.Price{}, false},
		{"sample_spec", pricing.Price{}, false},
		{"gpt-4o-mini/", pricing.Price{}, false},
		{"", pricing.Price{}, false},
	} {
		if got, known := prices.Of(tt.model); got != tt.want || known != tt.known {
			t.Errorf("%s: %v %v, want %v %v", tt.model, got, known, tt.want, tt.known)
		}
	}
}

// TestExpect checks estimates before any call.
func TestExpect(t *testing.T) {
	prices := pricing.Prices{"m": {Input: 1e-6, Output: 2e-6}}
	if got, want := *prices.Expect("m", 100, 400, 300), (engine.Usage{Calls: 100, Input: 10_000, Output: 30_000, Cost: 70_000_000, Estimated: 100}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := prices.Expect("other", 3, 400, 300); got.Unpriced != 3 || got.Cost != 0 || got.Output != 900 {
		t.Errorf("an unknown model: %+v", got)
	}
	if got := pricing.Free.Expect("other", 3, 400, 300); got.Unpriced != 0 || got.Cost != 0 {
		t.Errorf("free models: %+v", got)
	}
}

func TestPricesThatComeAlong(t *testing.T) {
	prices, err := pricing.ReadPrices(assets.Prices())
	if err != nil || len(prices) < 15 {
		t.Fatalf("%d prices, %v", len(prices), err)
	}
	for _, p := range Providers {
		if p.Free {
			continue
		}
		for _, model := range []string{p.Model, p.Embeds} {
			if _, ok := prices.Of(model); model != "" && !ok {
				t.Errorf("%s: no price of %s", p.Name, model)
			}
		}
	}
}

// TestMistakesInPrices checks that all problems are reported together, in order, with their positions.
func TestMistakesInPrices(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{``, []string{"line 1, column 1: an object of models was expected: EOF"}},
		{`[]`, []string{"line 1, column 2: an object of models was expected: it does not begin with a brace"}},
		{"{\n  oops", []string{"line 2, column 3: an object of models was expected: invalid character 'o'"}},
		{`{"a": {`, []string{"an object of models was expected: unexpected EOF"}},
		{`{"a": {}`, []string{"an object of models was expected"}},
		{`{"a": {}} {}`, []string{"an object of models was expected: something follows it"}},
		{"{\"b\": {\"input_cost_per_token\": \"cheap\"},\n \"a\": 7,\n \"c\": {\"output_cost_per_token\": -1}, \"d\": {\"input_cost_per_token\": 2}, \"d\": {}}", []string{
			`line 1, column 2: model b: input_cost_per_token is a number of US dollars from 0 to 1, not "cheap"`,
			`line 2, column 2: model a: `, `was expected, not 7`,
			`line 3, column 2: model c: output_cost_per_token is a number of US dollars from 0 to 1, not -1`,
			`model d: input_cost_per_token`, `not 2`, `line 3, column 72: model d is defined twice`,
		}},
	} {
		_, err := pricing.ReadPrices([]byte(tt.text))
		if err == nil {
			t.Errorf("%s: no mistake", tt.text)
			continue
		}
		rest := err.Error()
		for _, want := range tt.want {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%s: got\n%v\nwant %s", tt.text, err, want)
			}
			rest = after
		}
	}
}

func FuzzPrices(f *testing.F) {
	f.Add([]byte(lite))
	f.Add([]byte(`{"a":{"input_cost_per_token":1e999}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		prices, err := pricing.ReadPrices(data)
		if err != nil && prices != nil {
			t.Error("prices in spite of mistakes")
		}
		for name, p := range prices {
			if !(p.Input >= 0 && p.Input <= 1 && p.Output >= 0 && p.Output <= 1) {
				t.Errorf("%s costs %v", name, p)
			}
		}
	})
}

// TestUsage checks the cost of a call by the reported usage and the known prices.
func TestUsage(t *testing.T) {
	prices := pricing.Prices{"m": {Input: 1e-6, Output: 4e-6}}
	told := llm.Tokens{Input: 1000, Output: 10}
	for _, tt := range []struct {
		name   string
		prices pricing.Prices
		model  string
		told   llm.Tokens
		want   engine.Usage
	}{
		{"told", prices, "m", told, engine.Usage{Calls: 1, Input: 1000, Output: 10, Cost: 1_040_000}},
		{"unknown price", prices, "n", told, engine.Usage{Calls: 1, Input: 1000, Output: 10, Unpriced: 1}},
		{"no prices", nil, "m", told, engine.Usage{Calls: 1, Input: 1000, Output: 10, Unpriced: 1}},
		{"free", pricing.Free, "m", told, engine.Usage{Calls: 1, Input: 1000, Output: 10}},
		{"a guess", prices, "m", llm.Tokens{}, engine.Usage{Calls: 1, Input: 100, Output: 10, Cost: 140_000, Estimated: 1}},
	} {
		var m pricing.Meter
		if got := m.Usage(tt.prices, tt.model, tt.told, 400, 40); *got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, *got, tt.want)
		}
	}
}

// TestEstimatesLearn checks that estimates approach the reported usage, and are never extreme.
func TestEstimatesLearn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m pricing.Meter
		each := rapid.Float64Range(1, 8).Draw(t, "bytes of a token")
		for range rapid.IntRange(1, 20).Draw(t, "calls") {
			bytes := rapid.IntRange(100, 10_000).Draw(t, "bytes")
			m.Usage(nil, "", llm.Tokens{Input: int64(float64(bytes) / each)}, bytes, 0)
		}
		const bytes = 5000
		got := m.Usage(nil, "", llm.Tokens{}, bytes, 0)
		if want := bytes / each; math.Abs(float64(got.Input)-want) > want*0.1+1 || got.Estimated != 1 {
			t.Fatalf("a guess of %d tokens, want about %.0f", got.Input, want)
		}
	})
	var m pricing.Meter
	m.Usage(nil, "", llm.Tokens{Output: math.MaxInt32}, 0, 0)
	if got := m.Usage(nil, "", llm.Tokens{}, 100, 0); got.Input < 0 || got.Input > 1000 {
		t.Errorf("a guess of %d tokens for 100 bytes", got.Input)
	}
}
