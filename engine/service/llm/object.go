package llm

import (
	"encoding/json"
	"strings"
)

// Object collects a streamed text and looks for a complete JSON object in it.
type Object struct {
	text strings.Builder

	from, depth    int // of the object so far: its start, and its depth
	quoted, escape bool
	whole          bool
	thought        bool // the reasoning is complete
}

// Text returns the text so far.
func (o *Object) Text() string { return o.text.String() }

// Whole reports whether the text has a complete JSON object.
func (o *Object) Whole() bool { return o.whole }

// Write adds a piece of the text.
func (o *Object) Write(piece string) { o.text.WriteString(piece) }

// Scan adds a piece of the text, and follows the braces of an object in it.
func (o *Object) Scan(piece string) {
	from := o.text.Len()
	o.text.WriteString(piece)
	text := o.text.String()
	if o.thinks(text, from) {
		return
	}
	for i := from; i < len(text); i++ {
		switch b := text[i]; {
		case o.escape:
			o.escape = false
		case o.quoted:
			o.escape, o.quoted = b == '\\', b != '"'
		case b == '"':
			o.quoted = o.depth > 0
		case b == '{':
			if o.depth++; o.depth == 1 {
				o.from = i
			}
		case b == '}' && o.depth > 0:
			if o.depth--; o.depth == 0 { // otherwise it was prose
				o.whole = o.whole || json.Valid([]byte(text[o.from:i+1]))
			}
		}
	}
}

// thinks reports whether the text is still reasoning, in which no object is searched. from is the start of the newest piece.
func (o *Object) thinks(text string, from int) bool {
	const begin, end = "<think>", "</think>"
	if o.thought || !strings.HasPrefix(strings.TrimSpace(text[:min(len(text), 100)]), begin) {
		return false
	}
	o.thought = strings.Contains(text[max(0, from-len(end)):], end)
	return !o.thought
}
