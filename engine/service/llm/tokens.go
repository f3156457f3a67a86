package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Tokens are the tokens that a response says its call used; 0 if it does not say.
type Tokens struct {
	Input, Output int64
	Read, Wrote   int64 // parts of Input: read from the service's cache, and written to it
	WroteLong     int64 // part of Wrote: kept for an hour
	Reasoning     int64 // part of Output: the model's reasoning
	Batch         bool  // billed at batch prices
	Open          bool  // a stream that broke off before it said its Output
	Doubtful      bool  // the figures contradict each other; then these are the larger ones
}

// usageTold is the usage in a response, in the fields of different services. Later events of a stream add to earlier ones.
type usageTold struct {
	Prompt        count `json:"prompt_tokens"`
	Completion    count `json:"completion_tokens"`
	Total         count `json:"total_tokens"`
	Input         count `json:"input_tokens"`
	Output        count `json:"output_tokens"`
	CacheRead     count `json:"cache_read_input_tokens"`
	CacheCreation count `json:"cache_creation_input_tokens"`
	CacheHit      count `json:"prompt_cache_hit_tokens"`
	Creation      struct {
		Long count `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	PromptDetails struct {
		Cached count `json:"cached_tokens"`
		Wrote  count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	InputDetails struct {
		Cached count `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	CompletionDetails reasoningTold `json:"completion_tokens_details"`
	OutputDetails     reasoningTold `json:"output_tokens_details"`
}

type reasoningTold struct {
	Reasoning count `json:"reasoning_tokens"`
	Thinking  count `json:"thinking_tokens"` // in Anthropic's format
}

// count is a number of tokens. Some services write fractions, or numbers in quotes; of several numbers the largest counts.
type count struct {
	n   float64
	bad bool // negative, too large or no number
}

// mostTold is the largest number of tokens that is believed.
const mostTold = 1e9

// UnmarshalJSON implements [json.Unmarshaler].
func (c *count) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	n, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	c.bad = c.bad || err != nil || !(n >= 0 && n <= mostTold)
	c.n = max(c.n, min(n, mostTold))
	return nil
}

// told collects what several counts of the same tokens say.
type told struct{ doubtful bool }

func (t *told) most(all ...count) (n int64) {
	for _, c := range all {
		n = max(n, int64(c.n))
		t.doubtful = t.doubtful || c.bad
	}
	return n
}

// tokens converts a usage. If figures contradict each other, the call counts with the larger ones, so that no cost is lost. Some
// services count cached tokens or reasoning apart from the prompt or the answer: Anthropic always does for the cache, others say so
// by their total.
func (u *usageTold) tokens() Tokens {
	var by told
	t := Tokens{
		Input: by.most(u.Prompt, u.Input), Output: by.most(u.Completion, u.Output),
		Read:      by.most(u.PromptDetails.Cached, u.InputDetails.Cached, u.CacheRead, u.CacheHit),
		Wrote:     by.most(u.PromptDetails.Wrote, u.CacheCreation),
		Reasoning: by.most(u.CompletionDetails.Reasoning, u.OutputDetails.Reasoning, u.OutputDetails.Thinking),
	}
	t.WroteLong = by.most(u.Creation.Long)
	if t.WroteLong > t.Wrote {
		t.Wrote, by.doubtful = t.WroteLong, true
	}
	total := by.most(u.Total)
	if apart := u.Prompt.n == 0 && u.CacheRead.n+u.CacheCreation.n > 0; apart || t.Read+t.Wrote > t.Input {
		t.Input += t.Read + t.Wrote
		by.doubtful = by.doubtful || !apart && total != t.Input+t.Output && total != t.Input+t.Output+t.Reasoning
	}
	if t.Reasoning > t.Output {
		t.Output += t.Reasoning
		by.doubtful = by.doubtful || total > 0 && total != t.Input+t.Output
	}
	if more := total - t.Input - t.Output; more > 0 {
		t.Output += more
		by.doubtful = true
	}
	t.Doubtful = by.doubtful
	return t
}

// response is what is read of a response, or of an event of a stream.
type response struct {
	Type  string     `json:"type"`
	Usage *usageTold `json:"usage"`
	Tier  any        `json:"service_tier"`
	// Message is the beginning of a response in Anthropic's streams. Its output tokens are those so far.
	Message struct {
		Usage *usageTold `json:"usage"`
	} `json:"message"`
	// Ollama's own counts.
	PromptEval count `json:"prompt_eval_count"`
	Eval       count `json:"eval_count"`
}

// reading adds up what the events of a response say.
type reading struct {
	usage      usageTold
	begun      bool // a stream said the tokens of its prompt
	told, tier bool
	bad        bool // a part of the usage is not an object
}

// add adds a JSON text, and reports whether it is one.
func (r *reading) add(text []byte) bool {
	e := response{Usage: &r.usage}
	e.Message.Usage = &usageTold{}
	err := json.Unmarshal(text, &e)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !ok {
		return false
	}
	r.bad = r.bad || err != nil && bytes.Contains(text, []byte(`"usage"`)) && e.Usage != nil
	r.tier = r.tier || e.Tier == "flex" || e.Tier == "batch"
	if first := e.Message.Usage; first != nil && e.Type == "message_start" {
		r.begun = true
		first.Output = count{}
		r.usage = *first
		return true
	}
	if e.PromptEval.n+e.Eval.n > 0 {
		r.usage.Prompt, r.usage.Completion = e.PromptEval, e.Eval
	}
	r.told = r.told || e.Usage != nil && r.usage.Completion.n+r.usage.Output.n > 0
	return true
}

func (r *reading) tokens() Tokens {
	t := r.usage.tokens()
	t.Batch, t.Open, t.Doubtful = r.tier, r.begun && !r.told, t.Doubtful || r.bad
	return t
}

// marks are texts without which an event of a stream says nothing of its usage.
var marks = [][]byte{[]byte(`"usage"`), []byte(`"service_tier"`), []byte(`"eval_count"`)}

// ReadTokens reads the usage in a response: in its body or, of a stream, in its events.
func ReadTokens(body []byte) Tokens {
	var whole reading
	if whole.add(body) {
		return whole.tokens()
	}
	var r reading
	for line := range bytes.Lines(body) {
		if slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(line, mark) }) {
			r.add(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data:")))
		}
	}
	return r.tokens()
}
