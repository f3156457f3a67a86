package mock

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/mock/wire"
)

const version = "2023-06-01"

// message sends a request for a message.
func (m *Model) message(body string, headers ...string) got {
	return m.post(messagesPath, body, append([]string{"Anthropic-Version", version, "Authorization", "", "X-Api-Key", "key"}, headers...)...)
}

// TestMessagesAnswerTheSame compares the answers of both formats to the same prompts.
func TestMessagesAnswerTheSame(t *testing.T) {
	const schema = `{"type":"object","required":["shop","why"],"properties":{"shop":{"type":"boolean"},"why":{"type":"string"}},"additionalProperties":false}`
	for _, c := range []struct{ name, chat, message, seed string }{
		{"a prompt", hello(``), hello(`,"max_tokens":4096`), ""},
		{"a seed", hello(`,"seed":77`), hello(`,"max_tokens":4096`), "77"},
		{"cut off", hello(`,"max_tokens":9`), hello(`,"max_tokens":9`), ""},
		{
			"instructions",
			`{"model":"mock-2","messages":[{"role":"system","content":"You are Ann. Be brief."},{"role":"user","content":"Shop?"},{"role":"assistant","content":"No."},{"role":"user","content":"Why?"}]}`,
			`{"model":"mock-2","max_tokens":4096,"system":[{"type":"text","text":"You are Ann. ","cache_control":{"type":"ephemeral"}},{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":"Shop?"},{"role":"assistant","content":[{"type":"text","text":"No."}]},{"role":"user","content":"Why?"}]}`,
			"",
		},
		{
			"a shape", hello(`,"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":` + schema + `}}`),
			hello(`,"max_tokens":4096,"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`), "",
		},
		{
			"a tool", hello(`,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":` + schema + `}}`),
			hello(`,"max_tokens":4096,"tools":[{"name":"answer","input_schema":` + schema + `}],"tool_choice":{"type":"tool","name":"answer"}`), "",
		},
	} {
		m := indoorModel(ModelConfig{Seed: 3}, nil)
		var chat struct {
			Choices []struct {
				Message struct{ Content string }
				Finish  string `json:"finish_reason"`
			}
			Usage struct {
				Prompt     int `json:"prompt_tokens"`
				Completion int `json:"completion_tokens"`
			}
		}
		var message struct {
			Content []struct {
				Text  string
				Input json.RawMessage
			}
			Stop  string `json:"stop_reason"`
			Usage struct {
				Input  int `json:"input_tokens"`
				Output int `json:"output_tokens"`
			}
		}
		asked, answered := m.post(chatPath, c.chat), m.message(c.message, SeedHeader, c.seed)
		if err := json.Unmarshal([]byte(asked.body), &chat); err != nil || asked.status != 200 {
			t.Fatalf("%s: %d %s", c.name, asked.status, asked.body)
		}
		if err := json.Unmarshal([]byte(answered.body), &message); err != nil || answered.status != 200 || len(message.Content) != 1 {
			t.Fatalf("%s: %d %s", c.name, answered.status, answered.body)
		}
		want, text := chat.Choices[0], message.Content[0].Text+string(message.Content[0].Input)
		if text != want.Message.Content || message.Usage.Input != chat.Usage.Prompt || message.Usage.Output != chat.Usage.Completion {
			t.Errorf("%s: got %q with %+v, want %q with %+v", c.name, text, message.Usage, want.Message.Content, chat.Usage)
		}
		if stop := map[string]string{"stop": "end_turn", "length": "max_tokens"}[want.Finish]; message.Stop != stop && message.Stop != "tool_use" {
			t.Errorf("%s: it ended with %s", c.name, message.Stop)
		}
		stream := m.message(strings.TrimSuffix(c.message, "}")+`,"stream":true}`, SeedHeader, c.seed)
		if got := joined(t, stream.body); got != text || stream.header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s: the stream has %q, want %q, in\n%s", c.name, got, text, stream.body)
		}
	}
}

// joined returns the text of a stream of a message, whose events must have their names.
func joined(t *testing.T, body string) string {
	t.Helper()
	var text strings.Builder
	for one := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		name, data, _ := strings.Cut(one, "\n")
		var e struct {
			Type  string
			Delta struct {
				Text    string
				Partial string `json:"partial_json"`
			}
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &e); err != nil || name != "event: "+e.Type {
			t.Errorf("an event is %q: %v", one, err)
		}
		text.WriteString(e.Delta.Text + e.Delta.Partial)
	}
	return text.String()
}

// TestMessagesRefused checks what is refused, in the format of the API.
func TestMessagesRefused(t *testing.T) {
	most := `,"max_tokens":9`
	for _, c := range []struct {
		body    string
		headers []string
		status  int
		want    string
	}{
		{"{", nil, 400, "not valid JSON"},
		{hello(``), nil, 400, "max_tokens: Field required"},
		{hello(most), []string{"Anthropic-Version", ""}, 400, "anthropic-version: header is required"},
		{hello(most), []string{"X-Api-Key", "other"}, 401, "authentication_error"},
		{hello(most), []string{SeedHeader, "x"}, 400, "seed"},
		{hello(most + `,"seed":7`), nil, 400, "seed: Extra inputs are not permitted"},
		{hello(most + `,"temperature":1.5`), nil, 400, "temperature: range: 0..1"},
		{hello(`,"max_tokens":0`), nil, 400, "max_tokens: must be"},
		{`{"model":"gpt","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`, nil, 404, "not_found_error"},
		{`{"model":"mock-1","max_tokens":9,"messages":[]}`, nil, 400, "at least one message"},
		{`{"max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`, nil, 400, "model: Field required"},
		{`{"model":"mock-1","max_tokens":9,"messages":[{"role":"system","content":"Hi"}]}`, nil, 400, "messages.0.role"},
		{`{"model":"mock-1","max_tokens":9,"messages":[{"role":"user"}]}`, nil, 400, "messages.0.content: Field required"},
		{`{"model":"mock-1","max_tokens":9,"messages":[{"role":"user","content":" "}]}`, nil, 400, "non-empty"},
		{`{"model":"mock-1","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image"}]}]}`, nil, 400, "blocks of the type"},
		{hello(most + `,"tool_choice":{"type":"tool","name":"x"}`), nil, 400, "Tool 'x' not found"},
		{hello(most + `,"output_config":{"format":{"type":"xml"}}`), nil, 400, "Input should be 'json_schema'"},
		{hello(most + `,"output_config":{"format":{"type":"json_schema","schema":{"$ref":"#/nowhere"}}}`), nil, 400, "Invalid schema"},
	} {
		g := indoorModel(ModelConfig{}, nil).message(c.body, c.headers...)
		if g.status != c.status || !strings.Contains(g.body, c.want) || !strings.HasPrefix(g.body, `{"error":{"message":`) || !strings.HasSuffix(g.body, `"type":"error"}`) {
			t.Errorf("%s: %d %s, want %d with %q", c.body, g.status, g.body, c.status, c.want)
		}
	}
}

// TestMessagesCached checks that a long stable part of a prompt counts as read from the cache, in both formats.
func TestMessagesCached(t *testing.T) {
	m := indoorModel(ModelConfig{}, nil)
	long := strings.Repeat("Be brief. ", 500) // 1,250 tokens
	g := m.message(`{"model":"mock-1","max_tokens":9,"system":[{"type":"text","text":"` + long + `","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"Hi"}]}`)
	if !strings.Contains(g.body, `"cache_read_input_tokens":1250`) || !strings.Contains(g.body, `"input_tokens":12,`) {
		t.Errorf("got %s", g.body)
	}
	if g := m.message(`{"model":"mock-1","max_tokens":9,"system":"` + long + `","messages":[{"role":"user","content":"Hi"}]}`); !strings.Contains(g.body, `"cache_read_input_tokens":0`) {
		t.Errorf("without a mark: %s", g.body)
	}
	if g := m.post(chatPath, `{"model":"mock-1","messages":[{"role":"system","content":"`+long+`"},{"role":"user","content":"Hi"}]}`); !strings.Contains(g.body, `"cached_tokens":1250`) {
		t.Errorf("as a completion: %s", g.body)
	}
}

// TestMessagesFaults injects faults into messages.
func TestMessagesFaults(t *testing.T) {
	for _, c := range []struct {
		faults Faults
		status int
		want   string
	}{
		{Faults{RateLimited: 1}, 429, "rate_limit_error"},
		{Faults{ServerError: 1}, 500, "api_error"},
		{Faults{OutageFor: time.Hour}, 503, "overloaded_error"},
	} {
		if g := indoorModel(ModelConfig{Faults: c.faults}, nil).message(hello(`,"max_tokens":9`)); g.status != c.status || !strings.Contains(g.body, `"type":"`+c.want+`"`) {
			t.Errorf("%d %s, want %d %s", g.status, g.body, c.status, c.want)
		}
	}
	g := indoorModel(ModelConfig{Faults: Faults{BadBody: 1}}, nil).message(hello(`,"max_tokens":9,"stream":true`))
	if !strings.Contains(g.body, "event: message_stop") || strings.Count(g.body, "event: ") != strings.Count(g.body, "data: ")-1 {
		t.Errorf("an unreadable stream: %s", g.body)
	}
}

// TestSpoiledReplies checks answers that cannot be used as they are, in both formats, whole and streamed.
func TestSpoiledReplies(t *testing.T) {
	const schema = `{"type":"object","required":["shop"],"properties":{"shop":{"type":"boolean"}},"additionalProperties":false}`
	shaped := hello(`,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":` + schema + `}}`)
	message := hello(`,"max_tokens":4096,"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`)
	for _, c := range []struct {
		replies                 wire.Replies
		chat, stream, said, end string // in the answers
	}{
		{wire.Replies{Refused: 1}, `"content":"","refusal":"I cannot help with that."`, `"delta":{"refusal":"I"}`, `"stop_reason":"refusal"`, `"stop_reason":"refusal"`},
		{wire.Replies{Fenced: 1}, "```json\\n{", "```json", "```json\\n{", "```json"},
		{wire.Replies{Empty: 1}, `"choices":[],`, `"finish_reason":"stop"`, `"content":[],`, `"end_turn"`},
	} {
		m := indoorModel(ModelConfig{Faults: Faults{Replies: c.replies}}, nil)
		for _, of := range []struct {
			name string
			got  got
			want string
		}{
			{"chat", m.post(chatPath, shaped), c.chat},
			{"streamed chat", m.post(chatPath, strings.TrimSuffix(shaped, "}")+`,"stream":true}`), c.stream},
			{"message", m.message(message), c.said},
			{"streamed message", m.message(strings.TrimSuffix(message, "}") + `,"stream":true}`), c.end},
		} {
			if of.got.status != 200 || !strings.Contains(of.got.body, of.want) {
				t.Errorf("%+v, %s: %d %s, want %s", c.replies, of.name, of.got.status, of.got.body, of.want)
			}
		}
	}
	some := indoorModel(ModelConfig{Faults: Faults{Replies: wire.Replies{Empty: 0.3}}}, nil)
	empty, same := 0, 0
	for attempt := range 100 {
		first := some.post(chatPath, hello(``), "X-Throng-Request", stamp(1, "think", attempt))
		if strings.Contains(first.body, `"choices":[]`) {
			empty++
		}
		if again := some.post(chatPath, hello(``), "X-Throng-Request", stamp(1, "think", attempt)); again.body == first.body {
			same++
		}
	}
	if empty < 15 || empty > 45 || same != 100 {
		t.Errorf("%d of 100 answers are empty, and %d are the same again", empty, same)
	}
	if err := (wire.Replies{Refused: 0.6, Fenced: 0.6}).Validate(); err == nil {
		t.Error("fractions of 1.2 are accepted")
	}
	if err := (Faults{Replies: wire.Replies{Empty: -1}}).Validate(); err == nil {
		t.Error("a negative fraction is accepted")
	}
}
