// Package pricing computes what model calls cost.
package pricing

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strings"
	"sync"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Price is the price of a model, in US dollars per token, and Request that of a call whatever its length. CacheRead and CacheWrite are
// for the part of the input that the service read from its cache or wrote there, CacheWriteLong for what it keeps for an hour; Reasoning for the part of the output that is the
// model's reasoning; BatchInput and BatchOutput for answers from a batch, or from a tier with the same prices (flex).
type Price struct {
	Input, Output, CacheRead, CacheWrite, CacheWriteLong, Reasoning, BatchInput, BatchOutput, Request float64
}

// Prices are the prices of models by name.
type Prices map[string]Price

// ReadPrices parses prices in the format of LiteLLM's model_prices_and_context_window.json: an object of models with
// input_cost_per_token and output_cost_per_token, and, where they differ, the prices of the cache (cache_read_input_token_cost,
// cache_creation_input_token_cost, cache_creation_input_token_cost_above_1hr), of reasoning (output_cost_per_reasoning_token), of batches (input_cost_per_token_batches,
// output_cost_per_token_batches) and of a call (input_cost_per_request). Entries without a price of tokens or calls are ignored, as are
// other fields. The error lists all problems, with their lines.
func ReadPrices(data []byte) (Prices, error) {
	prices, seen := Prices{}, map[string]bool{}
	var mistakes []error
	d := json.NewDecoder(bytes.NewReader(data))
	broken := func(err error) (Prices, error) {
		at := d.InputOffset()
		for at < int64(len(data)) && strings.IndexByte(" \t\r\n,:", data[at]) >= 0 {
			at++
		}
		return nil, errors.Join(append(mistakes, fmt.Errorf("%s: an object of models was expected: %w", position(data, at), err))...)
	}
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return broken(cmp.Or(err, errNoModels))
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return broken(err)
		}
		name, _ := t.(string)
		at := position(data, d.InputOffset()-int64(len(name))-2)
		var entry json.RawMessage
		if err := d.Decode(&entry); err != nil {
			return broken(err)
		}
		price, priced, err := readPrice(entry)
		switch {
		case name == "sample_spec": // describes the format
		case seen[name]:
			mistakes = append(mistakes, fmt.Errorf("%s: model %s is defined twice", at, name))
		case err != nil:
			mistakes = append(mistakes, fmt.Errorf("%s: model %s: %w", at, name, err))
		case priced:
			prices[name] = price
		}
		seen[name] = true
	}
	if _, err := d.Token(); err != nil {
		return broken(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return broken(cmp.Or(err, errBehind))
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	return prices, nil
}

var (
	errNoModels = errors.New("it does not begin with a brace")
	errBehind   = errors.New("something follows it")
)

// position returns a position in a text as line and column.
func position(data []byte, offset int64) string {
	before := data[:min(max(int(offset), 0), len(data))]
	return fmt.Sprintf("line %d, column %d", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
}

// readPrice parses the entry of a model. priced is false if it has no price.
func readPrice(entry []byte) (p Price, priced bool, err error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(entry, &m); err != nil {
		return p, false, fmt.Errorf("`{\"input_cost_per_token\": 1e-6, \"output_cost_per_token\": 4e-6}` was expected, not %s", redact.Shorten(string(entry), 40))
	}
	for _, part := range []struct {
		name string
		to   *float64
		like *float64 // default; nil is 0
	}{
		{name: "input_cost_per_token", to: &p.Input, like: nil},
		{name: "output_cost_per_token", to: &p.Output, like: nil},
		{name: "input_cost_per_request", to: &p.Request, like: nil},
		{name: "cache_read_input_token_cost", to: &p.CacheRead, like: &p.Input},
		{name: "cache_creation_input_token_cost", to: &p.CacheWrite, like: &p.Input},
		{name: "cache_creation_input_token_cost_above_1hr", to: &p.CacheWriteLong, like: &p.CacheWrite},
		{name: "output_cost_per_reasoning_token", to: &p.Reasoning, like: &p.Output},
		{name: "input_cost_per_token_batches", to: &p.BatchInput, like: &p.Input},
		{name: "output_cost_per_token_batches", to: &p.BatchOutput, like: &p.Output},
	} {
		text := m[part.name]
		if text == nil || string(text) == "null" {
			if part.like != nil {
				*part.to = *part.like
			}
			continue
		}
		priced = priced || part.like == nil
		if err := json.Unmarshal(text, part.to); err != nil || !(*part.to >= 0 && *part.to <= 1) {
			return p, true, fmt.Errorf("%s is a number of US dollars from 0 to 1, not %s", part.name, redact.Shorten(string(text), 40))
		}
	}
	return p, priced, nil
}

// Of returns the price of a model. If the name has a provider, as in openai/gpt-4o-mini, the table may contain it without.
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

// OrFree returns the prices, with a price of 0 for models that are not listed.
func (p Prices) OrFree() Prices {
	all := maps.Clone(p)
	all[anyModel] = Price{}
	return all
}

// Price returns the price of a model, and whether it is known.
func (p Prices) Price(model string) (Price, bool) { return p.of(model) }

// Costless reports whether calls of a model are known to be free.
func (p Prices) Costless(model string) bool {
	price, ok := p.of(model)
	return ok && price == (Price{})
}

// Free is the price of models on the user's machine.
var Free = Prices{anyModel: {}}

// anyModel is the entry for all models that a table does not name.
const anyModel = "*"

// Bounds and factors of claims for calls whose size is not known yet.
const (
	// UnboundedAnswer is the number of tokens claimed for an answer without max_tokens, before any answer of the model is known.
	// After that the claim is answerRoom times the longest answer so far, and at least LeastAnswer.
	UnboundedAnswer = 1024
	answerRoom      = 1.5
	LeastAnswer     = 64

	// The claim for a prompt is promptRoom times the tokens that a text of its length has on average, or one token for every
	// FirstBytes while no average is known.
	promptRoom = 1.25
	FirstBytes = 3
)

// usualBytes is the default number of bytes per token.
const usualBytes = 4

// Expect returns the expected usage of calls of a model, before anything is known of its tokens. Its cost is an estimate, and
// Unpriced if the price is not known. asked is the length of each call's text in bytes, answered that of its answer in tokens.
func (p Prices) Expect(model string, calls, asked, answered int) *engine.Usage {
	var unknown Meter
	each := unknown.Usage(p, model, llm.Tokens{}, asked, answered*usualBytes)
	n := int64(calls)
	return &engine.Usage{
		Calls: n, Input: n * each.Input, Output: n * each.Output, Cost: n * each.Cost, Estimated: n, Unpriced: n * each.Unpriced,
	}
}

// Meter learns the length of tokens and answers, for calls whose usage a service does not report, and for claims. It is safe for
// concurrent use.
type Meter struct {
	mu            sync.Mutex
	bytes, tokens float64
	longest       map[string]int64 // answer so far in tokens, by model
	added         map[string]addition
}

// addition is what a service adds to each model call: the tokens of the shortest text so far beyond those that its length
// explains.
type addition struct {
	shortest int // in bytes
	more     int64
}

// Usage returns the usage of a call. asked and answered are the lengths of its texts, in bytes.
func (m *Meter) Usage(prices Prices, model string, told llm.Tokens, asked, answered int) *engine.Usage {
	estimated := true
	switch {
	case told.Input+told.Output == 0:
		told.Input, told.Output = m.estimate(asked), m.estimate(answered)
	case told.Open:
		told.Output = m.estimate(answered)
	default:
		estimated = false
		if !told.Doubtful {
			m.Learn(asked+answered, told.Input+told.Output)
			m.explain(model, asked, told.Input)
		}
	}
	u := prices.Usage(model, told)
	if estimated {
		u.Estimated = 1
	}
	return u
}

// Knows reports whether the price of a model is known.
func (p Prices) Knows(model string) bool {
	_, ok := p.of(model)
	return ok
}

func (p Prices) of(model string) (Price, bool) {
	if price, ok := p.Of(model); ok {
		return price, true
	}
	price, ok := p[anyModel]
	return price, ok
}

// leastCacheable is the shortest prompt that most providers cache, in tokens.
const leastCacheable = 1024

// InBatch returns the prices of a call in a batch.
func (p Price) InBatch() Price {
	p.Input, p.Output = p.BatchInput, p.BatchOutput
	p.CacheRead, p.CacheWrite, p.Reasoning = min(p.CacheRead, p.Input), p.BatchInput, p.BatchOutput
	p.CacheWriteLong = p.BatchInput
	return p
}

// Undiscounted returns the first model whose calls cost as much in a batch as alone; "" if there is none. Models without a price and
// free ones do not count.
func (p Prices) Undiscounted(models []string) string {
	for _, model := range models {
		price, ok := p.of(model)
		if ok && price != (Price{}) && price.BatchInput >= price.Input && price.BatchOutput >= price.Output {
			return model
		}
	}
	return ""
}

// Usage returns the usage of one call with these tokens.
func (p Prices) Usage(model string, t llm.Tokens) *engine.Usage {
	u := &engine.Usage{Calls: 1, Input: t.Input, Output: t.Output, Cached: t.Read, Written: t.Wrote}
	if t.Doubtful {
		u.Doubtful = 1
	}
	price, ok := p.of(model)
	if t.Input >= leastCacheable && (t.Read+t.Wrote > 0 || ok && price.CacheRead < price.Input) {
		u.Cacheable = t.Input
	}
	if !ok {
		u.Unpriced = 1
		return u
	}
	if t.Batch {
		price = price.InBatch()
	}
	fresh := t.Input - t.Read - t.Wrote
	cost := price.Request + float64(fresh)*price.Input + float64(t.Read)*price.CacheRead + float64(t.Wrote-t.WroteLong)*price.CacheWrite + float64(t.WroteLong)*price.CacheWriteLong +
		float64(t.Output-t.Reasoning)*price.Output + float64(t.Reasoning)*price.Reasoning
	u.Cost = int64(math.Round(cost * 1e9))
	return u
}

// Most returns the usage of one call with these tokens at the highest price.
func (p Prices) Most(model string, t llm.Tokens) *engine.Usage {
	if price, ok := p.of(model); ok && !t.Batch { // the prices of batches do not depend on these
		if price.CacheWrite > price.Input {
			t.Wrote = t.Input
		}
		if price.CacheWriteLong > max(price.CacheWrite, price.Input) {
			t.Wrote, t.WroteLong = t.Input, t.Input
		}
		if price.Reasoning > price.Output {
			t.Reasoning = t.Output
		}
	}
	return p.Usage(model, t)
}

// NoteAnswer records the length of an answer of a model, in tokens.
func (m *Meter) NoteAnswer(model string, tokens int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.longest == nil {
		m.longest = map[string]int64{}
	}
	m.longest[model] = max(m.longest[model], tokens)
}

// Longest estimates the longest answer of a model without a limit, in tokens.
func (m *Meter) Longest(model string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if longest, ok := m.longest[model]; ok {
		return max(int64(answerRoom*float64(longest)), LeastAnswer)
	}
	return UnboundedAnswer
}

// AtMost estimates the most tokens of a text, generously.
func (m *Meter) AtMost(model string, bytes int) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	each := float64(FirstBytes)
	if m.tokens > 0 {
		each = m.bytes / m.tokens / promptRoom
	}
	most := int64(math.Ceil(float64(bytes) / max(each, 0.1)))
	if more := m.added[model].more; more > 0 {
		most = max(most, int64(bytes)/FirstBytes+more)
	}
	return most
}

// explain records how many tokens a call used beyond those that the length of its text explains, if the text is the shortest so
// far.
func (m *Meter) explain(model string, bytes int, tokens int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	was, known := m.added[model]
	more := max(tokens-int64(bytes)/FirstBytes, 0)
	switch {
	case known && bytes > was.shortest:
		return
	case known && bytes == was.shortest:
		more = max(more, was.more)
	case m.added == nil:
		m.added = map[string]addition{}
	}
	m.added[model] = addition{bytes, more}
}

// Learn records how many tokens a text of so many bytes had.
func (m *Meter) Learn(bytes int, tokens int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes += float64(bytes)
	m.tokens += float64(tokens)
}

func (m *Meter) estimate(bytes int) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	each := float64(usualBytes)
	if m.tokens > 0 {
		each = m.bytes / m.tokens
	}
	return int64(math.Ceil(float64(bytes) / max(each, 0.1)))
}
