package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/sashabaranov/go-openai"

	"github.com/throng-sim/throng/engine"
)

// Price is what a model costs, in US dollars per token.
type Price struct{ Input, Output float64 }

// Prices are those of models by their names.
type Prices map[string]Price

// ReadPrices reads prices in the format of LiteLLM's model_prices_and_context_window.json: an object of models with
// input_cost_per_token and output_cost_per_token. Entries without either are left out.
func ReadPrices(data []byte) (Prices, error) {
	var models map[string]json.RawMessage
	if err := json.Unmarshal(data, &models); err != nil {
		return nil, fmt.Errorf("an object of models was expected: %w", err)
	}
	prices := Prices{}
	var mistakes []error
	for _, name := range slices.Sorted(maps.Keys(models)) {
		if name == "sample_spec" { // describes the format
			continue
		}
		var m struct {
			Input  *float64 `json:"input_cost_per_token"`
			Output *float64 `json:"output_cost_per_token"`
		}
		if err := json.Unmarshal(models[name], &m); err != nil {
			mistakes = append(mistakes, fmt.Errorf("model %s: %w", name, err))
			continue
		}
		if m.Input == nil && m.Output == nil {
			continue
		}
		var p Price
		for to, from := range map[*float64]*float64{&p.Input: m.Input, &p.Output: m.Output} {
			if from != nil {
				*to = *from
			}
		}
		if p.Input < 0 || p.Output < 0 || p.Input > 1 || p.Output > 1 {
			mistakes = append(mistakes, fmt.Errorf("model %s: prices of %v and %v US dollars per token, from 0 to 1 each", name, p.Input, p.Output))
			continue
		}
		prices[name] = p
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	return prices, nil
}

// Of finds the price of a model; where the name says who serves it, as in openai/gpt-4o-mini, that part may be
// missing in the table.
func (p Prices) Of(model string) (Price, bool) {
	for name := model; ; {
		if price, ok := p[name]; ok {
			return price, true
		}
		_, rest, ok := strings.Cut(name, "/")
		if !ok {
			return Price{}, false
		}
		name = rest
	}
}

// Free is the price of models that run on one's own machine.
var Free = Prices{anyModel: {}}

// anyModel stands in a table for all models that it does not name.
const anyModel = "*"

// usualBytes is how many bytes of a text are a token, where nothing better is known.
const usualBytes = 4

// Expect is what calls of a model may come to, before anything is known of its tokens: its cost is a guess, and Unpriced
// where nobody knows the price. asked is how long the text of each is, in bytes.
func (p Prices) Expect(model string, calls, asked, answered int) *engine.Usage {
	var unknown meter
	each := unknown.usage(p, model, openai.Usage{}, asked, answered*usualBytes)
	n := int64(calls)
	return &engine.Usage{
		Calls: n, Input: n * each.Input, Output: n * each.Output, Cost: n * each.Cost, Estimated: n, Unpriced: n * each.Unpriced,
	}
}

// meter learns how long tokens are, for the calls whose usage a service does not tell.
type meter struct {
	mu            sync.Mutex
	bytes, tokens float64
}

// usage is what a call took. asked and answered are the lengths of its texts, in bytes.
func (m *meter) usage(prices Prices, model string, told openai.Usage, asked, answered int) *engine.Usage {
	u := &engine.Usage{Calls: 1, Input: int64(told.PromptTokens), Output: int64(told.CompletionTokens)}
	if u.Input+u.Output > 0 {
		m.learn(asked+answered, u.Input+u.Output)
	} else {
		u.Input, u.Output, u.Estimated = m.estimate(asked), m.estimate(answered), 1
	}
	price, ok := prices.Of(model)
	if !ok {
		price, ok = prices[anyModel]
	}
	if !ok {
		u.Unpriced = 1
		return u
	}
	u.Cost = int64(math.Round((float64(u.Input)*price.Input + float64(u.Output)*price.Output) * 1e9))
	return u
}

func (m *meter) learn(bytes int, tokens int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes += float64(bytes)
	m.tokens += float64(tokens)
}

func (m *meter) estimate(bytes int) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	each := float64(usualBytes)
	if m.tokens > 0 {
		each = m.bytes / m.tokens
	}
	return int64(math.Ceil(float64(bytes) / max(each, 0.1)))
}
