// Package llm is what the wire formats of models have in common: a chat, its completion, its usage, and errors.
package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/throng-sim/throng/engine/service/redact"
)

// API is a wire format of completions.
type API interface {
	// Request returns the request without the fields that the model refuses.
	Request(c *Chat, refused []string) *Request
	// Read reads the body of a response. Its error is an [Error] if the service reports one.
	Read(body []byte) (*Completion, error)
	// Stream reads a streamed response. With wholeJSON a complete JSON object is enough.
	Stream(wholeJSON bool) Stream
}

// Stream puts a completion together from the lines of a response.
type Stream interface {
	// Add adds a line and reports whether nothing more is needed.
	Add(line []byte) (enough bool)
	// Completion returns the completion. Its error is an [Error] if the service reports one.
	Completion() (*Completion, error)
}

// ReadStream puts a completion together from the body of a streamed response. Its error is an [Error] if the service reports one.
func ReadStream(s Stream, body []byte) (*Completion, error) {
	for line := range bytes.Lines(body) {
		if s.Add(line) {
			break
		}
	}
	return s.Completion()
}

// Message is a message of a chat.
type Message struct {
	Role, Text string
	Stable     int        `json:"-"`          // bytes at the beginning of Text that are the same for all agents
	Calls      []ToolCall `json:",omitempty"` // of an assistant's message: the tools that it asks for
	Answers    *ToolCall  `json:",omitempty"` // of a message with the role [RoleTool]: the call that Text answers
	Failed     bool       `json:",omitempty"` // Text says why that call failed
}

// Chat is a request for a completion.
type Chat struct {
	Header      http.Header // by canonical names; the client owns it from here on
	Model       string
	Messages    []Message
	Temperature *float64 // nil is the model's default
	MaxTokens   int      // 0 is the model's default
	Completion  bool     // MaxTokens is sent as max_completion_tokens, unless the model refuses that
	Effort      string   // reasoning effort; "" is the model's default
	Seed        int
	Format      Format
	InWords     string // asks for Format in words if the model refuses it as a field
	Stream      bool
	Extra       []Extra // additional fields
	Tools       []Tool  // that the model may ask for; not with Stream
}

// Bytes returns the length of the messages, in bytes.
func (c *Chat) Bytes() (n int) {
	for _, m := range c.Messages {
		n += len(m.Text)
		for _, call := range m.Calls {
			n += len(call.Name) + len(call.Arguments)
		}
	}
	return n
}

// FormBytes returns the length of the requested schema and of the descriptions of tools, in bytes.
func (c *Chat) FormBytes() int {
	n := len(c.Format.Schema)
	for _, t := range c.Tools {
		n += len(t.Name) + len(t.About) + len(t.Schema)
	}
	return n
}

// Extra is an additional field of a completion request, named by the scenario.
type Extra struct {
	Name  string
	Value json.RawMessage
}

// Format is the required form of an answer. The zero value allows any text.
type Format struct {
	Name   string
	Schema json.RawMessage // with JSON, nil allows any object
	Strict bool            // services can enforce the schema
	JSON   bool
}

// Completion is the answer of a model.
type Completion struct {
	Text    string
	Refusal string     // why it does not answer
	Cut     bool       // cut off at its maximum length
	Calls   []ToolCall // the tools that the model asks for, in order
}

// Request is a request in a wire format.
type Request struct {
	Path    string // below the service's address
	Rooted  bool   // Path is below the service's host instead
	Header  map[string]string
	Fields  []Field  // of the body, in order
	Parts   []string // names inside of fields that a model may refuse on their own
	Forced  bool     // its tools request the form of the answer
	Seeded  bool     // the body has the chat's seed
	Bounded bool     // the length of the answer is bounded by the chat's MaxTokens
}

// Field is a field of a request's body.
type Field struct {
	Name  string
	Value any
}

// Body returns the body as JSON.
func (r *Request) Body() ([]byte, error) { return Encode(r.Fields) }

// Complete adds the headers that the request needs and h lacks. It may change h.
func (r *Request) Complete(h http.Header) http.Header {
	if h == nil {
		h = http.Header{}
	}
	for name, value := range r.Header {
		if h[name] == nil {
			h[name] = []string{value}
		}
	}
	return h
}

// JSONHeader returns the headers of a request with a JSON body. streams says that the response may be a stream.
func JSONHeader(streams bool) map[string]string {
	accept := "application/json"
	if streams {
		accept = "text/event-stream"
	}
	return map[string]string{"Accept": accept, "Content-Type": "application/json"}
}

// Encode writes fields as a JSON object, in their order.
func Encode(fields []Field) ([]byte, error) {
	out := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(f.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// IsStream reports whether a response is a stream. A service may ignore a request for one.
func IsStream(header http.Header) bool {
	kind := header.Get("Content-Type")
	return strings.HasPrefix(kind, "text/event-stream") || strings.HasPrefix(kind, "application/x-ndjson")
}

// Error is an error that a service reports in the body of a response with a good status. Gateways do so if a call fails behind
// them.
type Error struct {
	Status  int // HTTP status from 400 to 599; 0 if the body has none
	Message string
}

func (e *Error) Error() string {
	return "the service answers with an error: " + redact.Shorten(e.Message, 200)
}
