package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine/service/llm"
)

// Stream implements [llm.API].
func (API) Stream(wholeJSON bool) llm.Stream { return &completing{wholeJSON: wholeJSON} }

// completing puts a completion together from server-sent events, one line of data each.
type completing struct {
	llm.Object
	wholeJSON bool // a complete JSON object is enough
	refusal   strings.Builder
	finish    string
	done      bool
	bad       error
}

// Add implements [llm.Stream].
func (c *completing) Add(line []byte) (enough bool) {
	data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
	if data = bytes.TrimSpace(data); !ok || len(data) == 0 {
		return false
	}
	if string(data) == "[DONE]" {
		c.done = true
		return true
	}
	var piece wirePiece
	if err := json.Unmarshal(data, &piece); err != nil {
		c.bad = fmt.Errorf("a piece of the completion cannot be read: %w", err)
		return true
	}
	if c.bad = errorIn(data); c.bad != nil {
		return true
	}
	if len(piece.Choices) == 0 {
		return false
	}
	choice := &piece.Choices[0]
	text, refusal := choice.Delta.whole()
	if c.Whole() && strings.TrimSpace(text) != "" {
		return true // text after the object is not needed; a model that ends with the object reports its usage
	}
	c.refusal.WriteString(refusal)
	if choice.Finish != "" {
		c.finish = choice.Finish
	}
	if c.wholeJSON {
		c.Scan(text)
	} else {
		c.Write(text)
	}
	return false
}

// Completion implements [llm.Stream].
func (c *completing) Completion() (*llm.Completion, error) {
	switch {
	case c.bad != nil:
		return nil, c.bad
	case !c.done && c.finish == "" && !c.Whole():
		return nil, errors.New("the completion breaks off")
	}
	return completionOf(c.Text(), c.refusal.String(), c.finish), nil
}
