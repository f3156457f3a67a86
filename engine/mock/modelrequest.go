package mock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/mock/toolmock"
)

// contextTokens is the size of a model's context window.
const contextTokens = 128_000

// chatRequest is a request for a chat completion.
type chatRequest struct {
	model           string
	messages        []message
	seed            int64
	seeded          bool
	most            int // tokens of the answer; 0 if the call sets no limit
	stop            []string
	stream, withUse bool
	format          format
	tools           []toolmock.Tool
	offer           string // the tools as JSON
}

// message is a message of a conversation, with its parts joined.
type message struct {
	role, name, text string
	calls            []toolmock.Call
}

// format is the requested response format.
type format struct {
	kind   string // text, json_object or json_schema
	name   string
	strict bool
	schema json.RawMessage // compact
	param  string          // where the schema is
}

var roles = []string{"system", "developer", "user", "assistant", "tool", "function"}

// readChat reads the body of a request for a chat completion. It ignores members that do not change the mock's answers (temperature, …)
// or checks them superficially.
func readChat(body []byte) (*chatRequest, *apiError) {
	p, no := readParams(body)
	if no != nil {
		return nil, no
	}
	p.need("model", "messages")
	q := &chatRequest{model: p.text("model"), seeded: p.has("seed"), seed: p.whole("seed", math.MinInt64, math.MaxInt64)}
	q.readMessages(p)
	p.number("temperature", 0, 2)
	p.number("top_p", 0, 1)
	p.number("presence_penalty", -2, 2)
	p.number("frequency_penalty", -2, 2)
	p.whole("n", 1, 1)
	q.readLength(p)
	q.readStop(p)
	q.readStream(p)
	q.format = readFormat(p)
	q.readTools(p)
	if *p.mistake != nil {
		return nil, *p.mistake
	}
	if n := q.promptTokens(); n > contextTokens {
		return nil, invalid("messages", "context_length_exceeded",
			"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.", contextTokens, n)
	}
	return q, nil
}

func (q *chatRequest) readTools(p params) {
	if !p.has("tools") || string(p.members["tool_choice"]) == `"none"` {
		return
	}
	var err error
	if q.tools, err = toolmock.ReadTools(p.members["tools"]); err != nil {
		p.refuse(invalid("tools", "", "%s", err))
	}
	q.offer = string(p.members["tools"])
}

// answered reports whether the last messages are results of tools.
func (q *chatRequest) answered() bool { return q.messages[len(q.messages)-1].role == "tool" }

func (q *chatRequest) readMessages(p params) {
	list := p.list("messages")
	var pending toolmock.Pending
	if p.has("messages") && len(list) == 0 {
		p.refuse(invalid("messages", "empty_array", "Invalid 'messages': empty array. Expected an array with at least 1 message."))
	}
	for i, raw := range list {
		path := fmt.Sprintf("messages[%d]", i)
		one := params{path: path + ".", mistake: p.mistake}
		if err := json.Unmarshal(raw, &one.members); err != nil || one.members == nil {
			p.refuse(wrongType(path, "an object", raw))
			return
		}
		one.need("role")
		m := message{role: one.text("role"), name: one.text("name")}
		if m.role != "" && !slices.Contains(roles, m.role) {
			p.refuse(invalid(path+".role", "invalid_value", "Invalid value: '%s'. Supported values are: %s.", m.role, strings.Join(roles, ", ")))
		}
		if m.role != "assistant" { // an assistant's message may contain tool calls only
			one.need("content")
		}
		m.text = one.content()
		var err error
		if one.has("tool_calls") {
			m.calls, err = toolmock.ReadCalls(one.members["tool_calls"])
		}
		if err = errors.Join(err, pending.Add(m.role, m.calls, one.text("tool_call_id"))); err != nil {
			p.refuse(invalid(path, "", "%s", err))
		}
		q.messages = append(q.messages, m)
	}
	if err := pending.End(); err != nil {
		p.refuse(invalid("messages", "", "%s", err))
	}
}

// content reads a text, or the parts of one.
func (p params) content() string {
	if raw := p.members["content"]; !p.has("content") || raw[0] != '[' {
		return p.text("content")
	}
	var text strings.Builder
	for i, raw := range p.list("content") {
		path := fmt.Sprintf("%scontent[%d]", p.path, i)
		part := params{path: path + ".", mistake: p.mistake}
		if err := json.Unmarshal(raw, &part.members); err != nil || part.members == nil {
			p.refuse(wrongType(path, "an object", raw))
			return ""
		}
		part.need("type")
		kind := part.text("type")
		if kind != "" && kind != "text" {
			p.refuse(invalid(path+".type", "invalid_value", "Invalid value: '%s'. The mock reads parts of type 'text' only.", kind))
		}
		part.need("text")
		text.WriteString(part.text("text"))
	}
	return text.String()
}

func (q *chatRequest) readLength(p params) {
	old, current := p.whole("max_tokens", 1, math.MaxInt32), p.whole("max_completion_tokens", 1, math.MaxInt32)
	if p.has("max_tokens") && p.has("max_completion_tokens") {
		p.refuse(invalid("max_tokens", "invalid_parameter_combination",
			"Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."))
	}
	q.most = int(max(old, current))
}

const mostStops = 4

func (q *chatRequest) readStop(p params) {
	if !p.has("stop") {
		return
	}
	if raw := p.members["stop"]; raw[0] != '[' {
		q.stop = []string{p.text("stop")}
	} else {
		p.read("stop", "a string or an array of strings", &q.stop)
	}
	if len(q.stop) > mostStops {
		p.refuse(invalid("stop", "array_above_max_length", "Invalid 'stop': at most %d sequences, got %d.", mostStops, len(q.stop)))
	}
	if slices.Contains(q.stop, "") {
		p.refuse(invalid("stop", "invalid_value", "Invalid 'stop': a sequence cannot be empty."))
	}
}

func (q *chatRequest) readStream(p params) {
	q.stream = p.flag("stream")
	q.withUse = p.object("stream_options").flag("include_usage")
	if p.has("stream_options") && !q.stream {
		p.refuse(invalid("stream_options", "invalid_parameter_combination", "'stream_options' is only allowed when 'stream' is true."))
	}
}

var schemaName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func readFormat(p params) format {
	f := p.object("response_format")
	if !p.has("response_format") {
		return format{kind: "text"}
	}
	f.need("type")
	kind := f.text("type")
	switch kind {
	case "", "text", "json_object":
		return format{kind: kind}
	case "json_schema":
	default:
		p.refuse(invalid("response_format.type", "invalid_value", "Invalid value: '%s'. Supported values are: text, json_object, json_schema.", kind))
		return format{}
	}
	f.need("json_schema")
	s := f.object("json_schema")
	if f.has("json_schema") {
		s.need("name", "schema")
	}
	into := format{kind: kind, name: s.text("name"), strict: s.flag("strict"), param: "response_format"}
	if s.has("name") && (len(into.name) > 64 || !schemaName.MatchString(into.name)) {
		p.refuse(invalid(s.path+"name", "invalid_value", "Invalid '%sname': letters, digits, _ and - only, at most 64.", s.path))
	}
	var compact bytes.Buffer
	if s.has("schema") && json.Compact(&compact, s.members["schema"]) == nil {
		into.schema = compact.Bytes()
	}
	return into
}

// tokens returns the number of tokens of a text: one for four characters.
func tokens(text string) int { return (len([]rune(text)) + 3) / 4 }

// instructions returns the text that the messages begin with.
func (q *chatRequest) instructions() string {
	var text strings.Builder
	for _, m := range q.messages {
		if m.role != "system" && m.role != "developer" {
			break
		}
		text.WriteString(m.text)
	}
	return text.String()
}

// promptTokens counts the messages, with four tokens of overhead each.
func (q *chatRequest) promptTokens() int {
	n := 3
	for _, m := range q.messages {
		n += 4 + tokens(m.text) + tokens(m.name) + tokens(toolmock.Text(m.calls))
	}
	return n + tokens(q.offer)
}
