package mock

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// born is the creation time of all answers and models. It is constant, so that answers are too.
const born = 1_767_225_600 // 2026-01-01T00:00:00Z

// completion is the answer of a chat: a function of model, messages, seed and response_format, shortened to the call's limits.
type completion struct {
	id, text, finish   string
	prompt, completion int // tokens
	cached             int // tokens of the prompt that are read from the cache
}

// chat answers POST /v1/chat/completions.
func (x *modelExchange) chat() (*reply, *apiError) {
	q, no := readChat(x.body)
	if no != nil {
		return nil, no
	}
	if no := x.model.knows(q.model); no != nil {
		return nil, no
	}
	c, no := x.model.complete(q)
	if no != nil {
		return nil, no
	}
	answer := &reply{prompt: c.prompt, completion: c.completion, counted: true}
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
	c := &completion{finish: "stop", prompt: q.promptTokens(), cached: cachedOf(q.instructions())}
	c.id = "chatcmpl-" + hex.EncodeToString(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, hi), lo))
	talk := newTalk(q.messages)
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
		c.text = text
	case "json_object":
		text, err := freeObject.document(key, talk)
		if err != nil {
			panic(err) // the schema is built in
		}
		c.text = text
	default:
		c.text = talk.prose(key, q.most)
	}
	c.cut(q)
	c.completion = tokens(c.text)
	return c, nil
}

// cut ends the answer at the limits of the call.
func (c *completion) cut(q *chatRequest) {
	if q.most > 0 && tokens(c.text) > q.most {
		c.text, c.finish = string([]rune(c.text)[:4*q.most]), "length"
	}
	for _, stop := range q.stop {
		if at := strings.Index(c.text, stop); at >= 0 {
			c.text, c.finish = c.text[:at], "stop"
		}
	}
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
	u := &usage{Prompt: c.prompt, Completion: c.completion, Total: c.prompt + c.completion}
	if c.cached > 0 {
		u.Details = &struct {
			Cached int `json:"cached_tokens"`
		}{c.cached}
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
}

type delta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
}

func (c *completion) body(q *chatRequest) []byte {
	return encode(chatAnswer{
		ID: c.id, Object: "chat.completion", Created: born, Model: q.model, Usage: c.usage(),
		Choices: []choice{{Message: &utterance{Role: "assistant", Content: c.text}, Finish: &c.finish}},
	})
}

// chunks returns the events of a stream: the role, the text in pieces, the end, and the usage if requested.
func (c *completion) chunks(q *chatRequest) []string {
	var chunks []string
	event := func(choices []choice, use *usage) {
		chunks = append(chunks, string(encode(chatAnswer{
			ID: c.id, Object: "chat.completion.chunk", Created: born, Model: q.model, Choices: choices, Usage: use,
		})))
	}
	event([]choice{{Delta: &delta{Role: "assistant", Content: new(string)}}}, nil)
	for _, piece := range pieces(c.text) {
		event([]choice{{Delta: &delta{Content: &piece}}}, nil)
	}
	event([]choice{{Delta: &delta{}, Finish: &c.finish}}, nil)
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
