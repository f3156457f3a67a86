// Package outputs tells what the output of a step looks like, as far as its file says so.
package outputs

import (
	"github.com/throng-sim/throng/engine/script/known"
)

// Fixed returns what the outputs of all steps of a kind look like, without the keys that change it; nil if each is different.
func Fixed(kind string) *known.Shape {
	switch kind {
	case "http": // the fields of the answer's body too
		s := known.RecordOf("body", "headers", "status")
		s.Open = true
		return s
	case "llm": // without an answer
		return known.RecordOf("text", "model")
	case "embed":
		return known.RecordOf("vector", "vectors", "model")
	case "recall":
		return known.ListOf(known.RecordOf("text", "cycle", "score", "similarity", "recency", "importance", "note"))
	case "sql":
		return known.RecordOf("rows", "count", "first")
	case "say":
		return known.RecordOf("to", "text", "data")
	}
	return nil
}

// Inbox returns what the messages of an agent look like.
func Inbox() *known.Shape {
	return known.ListOf(known.RecordOf("sender", "cycle", "text", "data"))
}

// Agent returns what is known of each agent.
func Agent() *known.Shape {
	return &known.Shape{Kind: known.Record, Fields: []known.Field{{Name: "inbox", Of: Inbox()}}, Open: true}
}
