package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine/service/llm"
)

// API is OpenAI's wire format of completions.
type API struct{}

var _ llm.API = API{}

// reasons reports whether a model is one of OpenAI's models whose answers max_tokens does not limit.
func reasons(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, family := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return false
}

// Read implements [llm.API].
func (API) Read(body []byte) (*llm.Completion, error) {
	var r wireAnswer
	if err := json.Unmarshal(body, &r); err != nil {
		if text := bytes.TrimSpace(body); len(text) > 0 && text[0] == '<' {
			return nil, fmt.Errorf("the completion cannot be read: it is a page, %.100q; is the service's address the one of its API, which mostly ends with /v1?", text)
		}
		return nil, fmt.Errorf("the completion cannot be read: %w", err)
	}
	if err := errorIn(body); err != nil {
		return nil, err
	}
	if len(r.Choices) == 0 {
		return nil, fmt.Errorf("the answer has no completion: %.200q", body)
	}
	text, refusal := r.Choices[0].Message.whole()
	c := completionOf(text, refusal, r.Choices[0].Finish)
	c.Calls = callsOf(r.Choices[0].Message.Calls)
	return c, nil
}

func completionOf(text, refusal, finish string) *llm.Completion {
	if finish == "content_filter" && text == "" && refusal == "" {
		refusal = "the service's content filter"
	}
	return &llm.Completion{Text: text, Refusal: refusal, Cut: finish == "length"}
}

// errorIn returns the error in the body of a response, or nil.
func errorIn(body []byte) error {
	if !bytes.Contains(body, []byte(`"error"`)) {
		return nil
	}
	var t struct {
		Error *struct {
			Message string `json:"message"`
			Code    any    `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &t); err != nil || t.Error == nil {
		return nil
	}
	e := &llm.Error{Message: t.Error.Message}
	if code, ok := t.Error.Code.(float64); ok && code >= 400 && code < 600 {
		e.Status = int(code)
	}
	return e
}
