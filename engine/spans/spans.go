// Package spans is what traces say about the requests of steps: their attempts, the calls of models, and the IDs of spans, which follow
// from the place of a session and are the same in every process.
package spans

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// Attempt is one attempt at a request or statement of a step, with or without an answer.
type Attempt struct {
	Path, Service string
	Began         time.Time
	Took          time.Duration
	Status        int // HTTP status; 0 if none
	Failed        bool
	Model         *Model   // of a model's call; nil for others
	Reasoning     int64    // output tokens that its answer says were the model's reasoning
	Request       *Request // that named its span to the service; nil if it did not
}

// Request is a request with a header traceparent.
type Request struct {
	Span   ID // that the header names as the parent
	Method string
	Host   string
	Port   int // 0 is the scheme's
}

// Model is a call of a model. Its answer is that of the newest attempt.
type Model struct {
	Operation   string // chat or embeddings
	Provider    string // as the scenario names it; "" if it names only an address
	Host        string
	Port        int
	Name        string   // of the requested model
	Temperature *float64 // nil is the model's default, like Seed
	Seed        *int
	MaxTokens   int // 0 is the model's default
	Dimensions  int // of embeddings; 0 is the model's default
	JSON        bool
	Stream      bool

	Source
	Prompt []Message // nil unless content is asked for
	Reply  string
}

// Source is what an answer says about itself. All of it may be missing.
type Source struct {
	ID, Model string
	Finish    []string // why it ended
}

// Message is a message of a prompt.
type Message struct{ Role, Text string }

// Options say what a service contributes to traces.
type Options struct {
	Propagate bool   // requests have a header traceparent
	Content   bool   // prompts and answers of models
	Provider  string // of models
}

// TraceID is the ID of the trace of a session.
type TraceID [16]byte

// ID is the ID of a span in its trace.
type ID [8]byte

// Trace returns the ID of the trace of a session.
func Trace(run string, cycle, agent, take int) (id TraceID) {
	text := append([]byte(run), 0)
	for _, n := range []int{cycle, agent, take} {
		text = binary.AppendVarint(text, int64(n))
	}
	sum := sha256.Sum256(text)
	copy(id[:], sum[:])
	return id
}

// Span returns the ID of the span of a step or, from 1, of one of its requests. The path of the session's own span is "".
func (t TraceID) Span(path string, request int) (id ID) {
	text := append(append(t[:len(t):len(t)], path...), 0)
	sum := sha256.Sum256(binary.AppendVarint(text, int64(request)))
	copy(id[:], sum[:])
	if id == (ID{}) { // which is not valid
		id[len(id)-1] = 1
	}
	return id
}

// Header returns a value for the header traceparent, as W3C Trace Context specifies it. Its flag asks the service to record its part.
func (t TraceID) Header(parent ID) string {
	return "00-" + hex.EncodeToString(t[:]) + "-" + hex.EncodeToString(parent[:]) + "-01"
}
