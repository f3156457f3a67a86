package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// IsStream reports whether a response is a stream. A service may ignore a request for one.
func IsStream(header http.Header) bool {
	return strings.HasPrefix(header.Get("Content-Type"), "text/event-stream")
}

// completing puts a completion together from server-sent events, one line of data each.
type completing struct {
	wholeJSON bool // a complete JSON object is enough
	text      strings.Builder
	refusal   strings.Builder
	finish    string
	done      bool
	bad       error

	from, depth    int // of the object so far: its start, and its depth
	quoted, escape bool
	whole          bool
	thought        bool // the reasoning is complete
}

// add adds a line and reports whether the completion is complete.
func (c *completing) add(line []byte) (enough bool) {
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
	if c.whole && strings.TrimSpace(text) != "" {
		return true // text after the object is not needed; a model that ends with the object reports its usage
	}
	before := c.text.Len()
	c.text.WriteString(text)
	c.refusal.WriteString(refusal)
	if choice.Finish != "" {
		c.finish = choice.Finish
	}
	if c.wholeJSON {
		c.scan(before)
	}
	return false
}

// scan follows the braces of an object in the text from an offset.
func (c *completing) scan(from int) {
	text := c.text.String()
	if c.thinks(text, from) {
		return
	}
	for i := from; i < len(text); i++ {
		switch b := text[i]; {
		case c.escape:
			c.escape = false
		case c.quoted:
			c.escape, c.quoted = b == '\\', b != '"'
		case b == '"':
			c.quoted = c.depth > 0
		case b == '{':
			if c.depth++; c.depth == 1 {
				c.from = i
			}
		case b == '}' && c.depth > 0:
			if c.depth--; c.depth == 0 { // otherwise it was prose
				c.whole = c.whole || json.Valid([]byte(text[c.from:i+1]))
			}
		}
	}
}

// thinks reports whether the text is still reasoning, in which no object is searched. from is the start of the newest piece.
func (c *completing) thinks(text string, from int) bool {
	const begin, end = "<think>", "</think>"
	if c.thought || !strings.HasPrefix(strings.TrimSpace(text[:min(len(text), 100)]), begin) {
		return false
	}
	c.thought = strings.Contains(text[max(0, from-len(end)):], end)
	return !c.thought
}

// Enough returns a function that takes a stream line by line and reports whether nothing more of it is needed. With wholeJSON a
// complete JSON object is enough.
func Enough(wholeJSON bool) func(line []byte) bool {
	return (&completing{wholeJSON: wholeJSON}).add
}

// ReadStream puts a completion together from a stream of events. Its error is an [Error] if the service reports one.
func ReadStream(body []byte, wholeJSON bool) (*Completion, error) {
	c := &completing{wholeJSON: wholeJSON}
	for line := range bytes.Lines(body) {
		if c.add(line) {
			break
		}
	}
	switch {
	case c.bad != nil:
		return nil, c.bad
	case !c.done && c.finish == "" && !c.whole:
		return nil, errors.New("the completion breaks off")
	}
	return completionOf(c.text.String(), c.refusal.String(), c.finish), nil
}
