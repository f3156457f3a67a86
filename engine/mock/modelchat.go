package mock

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/mock/leaning"
	"github.com/throng-sim/throng/engine/mock/messages"
	"github.com/throng-sim/throng/engine/mock/toolmock"
	"github.com/throng-sim/throng/engine/mock/wire"
)

// born is the creation time of all answers and models. It is constant, so that answers are too.
const born = 1_767_225_600 // 2026-01-01T00:00:00Z

// completion is the answer of a chat: a function of model, messages, seed and response_format, shortened to the call's limits.
type completion struct {
	messages.Answer
	empty bool // the response has no answer
}

// finish returns why the answer ends.
func (c *completion) finish() string {
	switch {
	case c.Cut:
		return "length"
	case c.Calls != nil:
		return "tool_calls"
	}
	return "stop"
}

// completed reads a request for a chat completion and completes it.
func (x *modelExchange) completed(body []byte) (*chatRequest, *completion, *apiError) {
	q, no := readChat(body)
	if no != nil {
		return nil, nil, no
	}
	if no := x.model.knows(q.model); no != nil {
		return nil, nil, no
	}
	c, no := x.model.complete(q)
	return q, c, no
}

// chat answers POST /v1/chat/completions.
func (x *modelExchange) chat() (*reply, *apiError) {
	q, c, no := x.completed(x.body)
	if no != nil {
		return nil, no
	}
	x.spoil(c, q)
	answer := &reply{prompt: c.Prompt, completion: c.Completion, counted: true}
	if q.stream {
		answer.chunks, answer.event, answer.done = c.chunks(q), dataEvent, true
	} else {
		answer.body = c.body(q)
	}
	return answer, nil
}

// key returns the key of the answer's random draws.
func (m *Model) key(q *chatRequest) draw.Key {
	seed := m.cfg.Seed
	if q.seeded {
		seed = uint64(q.seed)
	}
	key := draw.Key{}.Text("rehearsal answer").Int(seed).Text(drawName(q.model)).Text(q.format.kind).Text(q.format.name).Text(string(q.format.schema))
	for _, one := range q.messages {
		key = key.Text(one.role).Text(one.name).Text(one.text)
		for _, c := range one.calls {
			key = key.Text(c.Name).Text(c.Arguments)
		}
	}
	return key
}

// drawName returns the model name in draw keys. The bundled models were once called "rehearsal-1" and "rehearsal-2"; their draws keep
// those names so that answers stay the same.
func drawName(model string) string {
	if n, ok := strings.CutPrefix(model, "mock-"); ok {
		return "rehearsal-" + n
	}
	return model
}

func (m *Model) complete(q *chatRequest) (*completion, *apiError) {
	key := m.key(q)
	hi, lo := key.Text("id").Sum()
	c := &completion{Answer: messages.Answer{Prompt: q.promptTokens(), Cached: cachedOf(q.instructions())}}
	c.ID = hex.EncodeToString(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, hi), lo))
	talk := newTalk(q.messages)
	if q.model == personaModel {
		var asked strings.Builder
		for _, one := range q.messages {
			if one.role == "user" {
				asked.WriteString(one.text + "\n")
			}
		}
		talk.leaning = leaning.New(asked.String())
	}
	var err error
	c.Calls, err = toolmock.Choose(key, q.tools, q.answered(), m.network.Load().faults.Tools, func(schema json.RawMessage, key draw.Key) (string, error) {
		return m.schemas.fitting(schema, key, talk)
	})
	if err != nil {
		return nil, invalid("tools", "", "%s", err)
	} else if c.Calls != nil {
		c.Completion = tokens(toolmock.Text(c.Calls))
		return c, nil
	}
	switch q.format.kind {
	case "json_schema":
		schema, no := m.schemas.of(q.format)
		if no != nil {
			return nil, no
		}
		text, err := schema.document(key, talk)
		if err != nil {
			return nil, invalid(q.format.param, "", "Invalid schema for response_format '%s': %s", q.format.name, err)
		}
		c.Text = text
	case "json_object":
		text, err := freeObject.document(key, talk)
		if err != nil {
			panic(err) // the schema is built in
		}
		c.Text = text
	default:
		c.Text = talk.prose(key, q.most)
	}
	c.cut(q)
	c.Completion = tokens(c.Text)
	return c, nil
}

// cut ends the answer at the limits of the call.
func (c *completion) cut(q *chatRequest) {
	if q.most > 0 && tokens(c.Text) > q.most {
		c.Text, c.Cut = string([]rune(c.Text)[:4*q.most]), true
	}
	for _, stop := range q.stop {
		if at := strings.Index(c.Text, stop); at >= 0 {
			c.Text, c.Cut = c.Text[:at], false
		}
	}
}

// spoil changes the answer into one that cannot be used as it is, if that is drawn.
func (x *modelExchange) spoil(c *completion, q *chatRequest) {
	key := x.model.key(q).Text("attempt").Int(uint64(x.tag.attempt)) //nolint:gosec // not negative
	switch x.model.network.Load().faults.Replies.Pick(key) {
	case wire.ReplyRefused:
		c.Text, c.Refused, c.Cut, c.Calls = "I cannot help with that.", true, false, nil
	case wire.ReplyFenced:
		if q.format.kind != "text" && !c.Cut && c.Calls == nil {
			c.Text = "Here is the answer:\n```json\n" + c.Text + "\n```"
		}
	case wire.ReplyEmpty:
		c.Text, c.empty, c.Cut, c.Calls = "", true, false, nil
	case wire.ReplyUsual:
	}
	c.Completion = tokens(c.Text + toolmock.Text(c.Calls))
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    *struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details,omitempty"`
}

func (c *completion) usage() *usage {
	u := &usage{Prompt: c.Prompt, Completion: c.Completion, Total: c.Prompt + c.Completion}
	if c.Cached > 0 {
		u.Details = &struct {
			Cached int `json:"cached_tokens"`
		}{c.Cached}
	}
	return u
}

type chatAnswer struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

type choice struct {
	Index   int        `json:"index"`
	Message *utterance `json:"message,omitempty"`
	Delta   *delta     `json:"delta,omitempty"`
	Finish  *string    `json:"finish_reason"`
}

type utterance struct {
	Role    string  `json:"role"`
	Content string  `json:"content"`
	Refusal *string `json:"refusal"`
	Calls   any     `json:"tool_calls,omitempty"`
}

type delta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
	Refusal string  `json:"refusal,omitempty"`
	Calls   any     `json:"tool_calls,omitempty"`
}

func (c *completion) body(q *chatRequest) []byte {
	finish, says := c.finish(), &utterance{Role: "assistant", Content: c.Text, Calls: toolmock.Wire(c.Calls)}
	if c.Refused {
		says.Refusal, says.Content = &c.Text, ""
	}
	a := chatAnswer{
		ID: "chatcmpl-" + c.ID, Object: "chat.completion", Created: born, Model: q.model, Usage: c.usage(), Choices: []choice{{Message: says, Finish: &finish}},
	}
	if c.empty {
		a.Choices = []choice{}
	}
	return encode(a)
}

// chunks returns the events of a stream: the role, the text in pieces, the end, and the usage if requested.
func (c *completion) chunks(q *chatRequest) []string {
	var chunks []string
	event := func(choices []choice, use *usage) {
		chunks = append(chunks, string(encode(chatAnswer{
			ID: "chatcmpl-" + c.ID, Object: "chat.completion.chunk", Created: born, Model: q.model, Choices: choices, Usage: use,
		})))
	}
	event([]choice{{Delta: &delta{Role: "assistant", Content: new(string)}}}, nil)
	for _, piece := range pieces(c.Text) {
		says := &delta{Content: &piece}
		if c.Refused {
			says = &delta{Refusal: piece}
		}
		event([]choice{{Delta: says}}, nil)
	}
	if c.Calls != nil {
		event([]choice{{Delta: &delta{Calls: toolmock.Wire(c.Calls)}}}, nil)
	}
	finish := c.finish()
	event([]choice{{Delta: &delta{}, Finish: &finish}}, nil)
	if q.withUse {
		event([]choice{}, c.usage())
	}
	return chunks
}

// longPiece is the length in runes at which a piece of a text without spaces ends.
const longPiece = 16

// pieces splits a text as a model streams it: one word at a time, with the space before it.
func pieces(text string) []string {
	var all []string
	for text != "" {
		end, runes := 0, 0
		for end < len(text) && runes < longPiece {
			r, size := utf8.DecodeRuneInString(text[end:])
			if r == ' ' && end > 0 {
				break
			}
			end += size
			runes++
		}
		all = append(all, text[:end])
		text = text[end:]
	}
	return all
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the mock's own answers have a JSON form
	}
	return b
}
