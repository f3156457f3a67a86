package service

import (
	"errors"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/spans"
)

// wrapping is the number of tokens that a service adds to each call and each message.
const wrapping = 16

// bill estimates and counts what the attempts of one call use.
type bill struct {
	from    *LLM
	model   string
	asked   int           // length of the texts, in bytes
	form    int           // length of the requested schema and of the tools, in bytes
	parts   int           // messages or texts
	longest int           // max_tokens; negative if there is none
	batched bool          // billed at the price of batches
	about   *spans.Model  // for the session's trail; nil if it is not recorded
	usage   *engine.Usage // of the newest response; nil if there is none, or it was returned
}

// most returns the most that the next attempt may use, by estimate.
func (b *bill) most() *engine.Usage {
	answer := int64(b.longest)
	if answer < 0 {
		answer = b.from.meter.Longest(b.model)
	}
	asked := b.from.meter.AtMost(b.model, b.asked+b.form) + int64(wrapping*(1+b.parts))
	most := b.from.prices.Most(b.model, llm.Tokens{Input: asked, Output: answer, Batch: b.batched})
	most.Estimated = 1
	return most
}

// took returns the usage of the newest response, once; nil if it is not known.
func (b *bill) took() *engine.Usage {
	usage := b.usage
	b.usage = nil
	return usage
}

// count notes the usage in a response. answered is the length of its text in bytes, err why it cannot be used. An error in place of
// an answer costs nothing.
func (b *bill) count(used llm.Tokens, answered int, err error) {
	if _, ok := errors.AsType[*llm.Error](err); ok {
		return
	}
	used.Batch = used.Batch || b.batched
	b.usage = b.from.meter.Usage(b.from.prices, b.model, used, b.asked, answered)
	if b.batched {
		b.usage.Batched = 1
	}
	if err == nil {
		b.from.meter.NoteAnswer(b.model, b.usage.Output)
	}
}
