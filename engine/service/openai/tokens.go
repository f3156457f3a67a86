package openai

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Tokens are the tokens that a response says its call used; 0 if it does not say.
type Tokens struct {
	Input, Output int64
	Read, Wrote   int64 // parts of Input: read from the service's cache, and written to it
	Reasoning     int64 // part of Output: the model's reasoning
	Batch         bool  // billed at batch prices
}

// usageTold is the usage in a response of a service with OpenAI's wire format. Some report cached tokens in prompt_tokens_details,
// others as Anthropic or DeepSeek do.
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
	CompletionDetails reasoningTold `json:"completion_tokens_details"`
	OutputDetails     reasoningTold `json:"output_tokens_details"`
}

type reasoningTold struct {
	Reasoning count `json:"reasoning_tokens"`
}

// count is a number of tokens. Some services write fractions; values above mostTold are errors.
type count float64

const mostTold = 1e9

func most(all ...count) int64 {
	return int64(min(max(slices.Max(all), 0), mostTold))
}

// tokens converts a usage. Some services do not count cached tokens as part of the prompt; then they report more of them than the
// prompt has, and the prompt is the sum. The same holds for reasoning and the answer.
func (u *usageTold) tokens() Tokens {
	t := Tokens{
		Input: most(u.Prompt, u.Input), Output: most(u.Completion, u.Output),
		Read:      most(u.PromptDetails.Cached, u.InputDetails.Cached, u.CacheRead, u.CacheHit),
		Wrote:     most(u.PromptDetails.Wrote, u.CacheCreation),
		Reasoning: most(u.CompletionDetails.Reasoning, u.OutputDetails.Reasoning),
	}
	if t.Reasoning > t.Output {
		t.Output += t.Reasoning
	}
	if t.Read+t.Wrote > t.Input {
		t.Input += t.Read + t.Wrote
	}
	return t
}

// ReadTokens reads the usage in a response: in its body or, of a stream, in the last event that has one.
func ReadTokens(body []byte) (t Tokens) {
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
		tier = tier || told.Batch
		if told.Input+told.Output > 0 {
			t = told
		}
	}
	t.Batch = tier
	return t
}

// tokensIn reads the usage in a JSON text. ok is false if it is not JSON.
func tokensIn(text []byte) (t Tokens, ok bool) {
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
	t.Batch = told.Tier == "flex" || told.Tier == "batch"
	return t, true
}
