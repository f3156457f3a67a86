package service

import (
	"bytes"
	"encoding/json"
	"slices"
)

// tokens are those that an answer says its call took; 0 is that it does not say.
type tokens struct {
	input, output int64
	read, wrote   int64 // parts of input: taken from the service's cache, and written there
	batch         bool  // they are billed at the prices of batches
}

// usageTold is the usage in an answer, as services that speak OpenAI's wire format tell it. Some name the parts of the
// prompt that their cache holds in prompt_tokens_details, others as Anthropic or DeepSeek do.
type usageTold struct {
	Prompt        count `json:"prompt_tokens"`
	Completion    count `json:"completion_tokens"`
	Input         count `json:"input_tokens"`
	Output        count `json:"output_tokens"`
	CacheRead     count `json:"cache_read_input_tokens"`
	CacheCreation count `json:"cache_creation_input_tokens"`
	CacheHit      count `json:"prompt_cache_hit_tokens"`
	PromptDetails struct {
		Cached count `json:"cached_tokens"`
		Wrote  count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	InputDetails struct {
		Cached count `json:"cached_tokens"`
	} `json:"input_tokens_details"`
}

// count is a number of tokens. Not every service writes it as a whole number, and none means more than mostTold.
type count float64

const mostTold = 1e9

func most(all ...count) int64 {
	return int64(min(max(slices.Max(all), 0), mostTold))
}

// tokens reads a usage. Services that count what their cache holds apart from the prompt tell more of it than the prompt
// has: then the prompt is both.
func (u *usageTold) tokens() tokens {
	t := tokens{
		input: most(u.Prompt, u.Input), output: most(u.Completion, u.Output),
		read:  most(u.PromptDetails.Cached, u.InputDetails.Cached, u.CacheRead, u.CacheHit),
		wrote: most(u.PromptDetails.Wrote, u.CacheCreation),
	}
	if t.read+t.wrote > t.input {
		t.input += t.read + t.wrote
	}
	return t
}

// tokensOf finds what an answer tells of its tokens: in its body or, where that came in pieces, in the last that does.
func tokensOf(body []byte) (t tokens) {
	if t, ok := tokensIn(body); ok {
		return t
	}
	tier := false
	for line := range bytes.Lines(body) {
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if !ok || !bytes.Contains(data, []byte(`"usage"`)) && !bytes.Contains(data, []byte(`"service_tier"`)) {
			continue
		}
		told, _ := tokensIn(data)
		tier = tier || told.batch
		if told.input+told.output > 0 {
			t = told
		}
	}
	t.batch = tier
	return t
}

// tokensIn reads what a JSON text tells; ok is false where it is none.
func tokensIn(text []byte) (t tokens, ok bool) {
	var told struct {
		Usage *usageTold `json:"usage"`
		Tier  any        `json:"service_tier"`
	}
	if err := json.Unmarshal(text, &told); err != nil {
		return t, false
	}
	if told.Usage != nil {
		t = told.Usage.tokens()
	}
	t.batch = told.Tier == "flex" || told.Tier == "batch"
	return t, true
}
