package mock

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/mock/wire"
)

// toolAnswer is an answer in either format.
type toolAnswer struct {
	Choices []struct {
		Message struct {
			Content string
			Calls   []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Finish string `json:"finish_reason"`
	}
	Content []struct {
		Type, ID, Name, Text string
		Input                json.RawMessage
	}
	Stop string `json:"stop_reason"`
}

const (
	findSchema = `{"type":"object","properties":{"words":{"type":"string","enum":["tea","milk"]}},"required":["words"],"additionalProperties":false}`
	chatTools  = `,"tools":[{"type":"function","function":{"name":"find","description":"Finds.","parameters":` + findSchema + `}}]`
	messTools  = `,"max_tokens":4096,"tools":[{"name":"find","description":"Finds.","input_schema":` + findSchema + `}]`
)

func read(t *testing.T, g got) (a toolAnswer) {
	t.Helper()
	if err := json.Unmarshal([]byte(g.body), &a); err != nil || g.status != 200 {
		t.Fatalf("%d %s: %v", g.status, g.body, err)
	}
	return a
}

// TestModelUsesTools checks that the mock asks for tools once, in both formats alike, and answers when it has results.
func TestModelUsesTools(t *testing.T) {
	m := indoorModel(ModelConfig{Seed: 3}, nil)
	chat, message := read(t, m.post(chatPath, hello(chatTools))), read(t, m.message(hello(messTools)))
	calls := chat.Choices[0].Message.Calls
	if len(calls) == 0 || chat.Choices[0].Finish != "tool_calls" || calls[0].Function.Name != "find" || !strings.Contains(`{"words":"tea"} {"words":"milk"}`, calls[0].Function.Arguments) {
		t.Fatalf("%+v", chat)
	}
	if message.Stop != "tool_use" || len(message.Content) != len(calls) || message.Content[0].ID != calls[0].ID || string(message.Content[0].Input) != calls[0].Function.Arguments {
		t.Errorf("%+v, but a chat completion %+v", message, chat)
	}
	var asked, results, blocks, told []string
	for _, c := range calls {
		asked = append(asked, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"find","arguments":%q}}`, c.ID, c.Function.Arguments))
		results = append(results, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"4.5"}`, c.ID))
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"find","input":%s}`, c.ID, c.Function.Arguments))
		told = append(told, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"4.5"}`, c.ID))
	}
	then := `{"model":"mock-1","messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"","tool_calls":[` + strings.Join(asked, ",") + `]},` + strings.Join(results, ",") + `]` + chatTools + `}`
	mess := `{"model":"mock-1","messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]},{"role":"user","content":[` + strings.Join(told, ",") + `]}]` + messTools + `}`
	chat, message = read(t, m.post(chatPath, then)), read(t, m.message(mess))
	if chat.Choices[0].Message.Calls != nil || chat.Choices[0].Message.Content == "" || chat.Choices[0].Finish != "stop" || message.Content[0].Text != chat.Choices[0].Message.Content {
		t.Errorf("with results: %+v and %+v", chat, message)
	}
	for _, tt := range []struct{ name, body string }{
		{"a result of no call", strings.Replace(then, calls[0].ID+`","content"`, `other","content"`, 1)},
		{"a call without a result", strings.Replace(then, strings.Join(results, ","), `{"role":"user","content":"Well?"}`, 1)},
		{"a bad name", strings.Replace(hello(chatTools), `"name":"find"`, `"name":"find it"`, 1)},
		{"a bad schema", strings.Replace(hello(chatTools), findSchema, `{"type":"nothing"}`, 1)},
	} {
		if g := m.post(chatPath, tt.body); g.status != 400 {
			t.Errorf("%s: %d %s", tt.name, g.status, g.body)
		}
	}
	if a := read(t, m.post(chatPath, hello(chatTools+`,"tool_choice":"none"`))); a.Choices[0].Message.Calls != nil {
		t.Errorf("tool_choice none: %+v", a)
	}
	if g := m.post(chatPath, hello(chatTools+`,"stream":true`)); !strings.Contains(g.body, `"tool_calls":[{"id":"call_`) {
		t.Errorf("a stream: %s", g.body)
	}
}

// TestModelMisusesTools checks the faults that concern tools.
func TestModelMisusesTools(t *testing.T) {
	for name, tt := range map[string]struct {
		faults wire.Tools
		want   func(name, arguments string) bool
	}{
		"unknown": {wire.Tools{Unknown: 1}, func(name, _ string) bool { return name == "find_that_is_not_there" }},
		"misfit":  {wire.Tools{Misfit: 1}, func(name, arguments string) bool { return name == "find" && strings.HasPrefix(arguments, "[") }},
	} {
		m := indoorModel(ModelConfig{Faults: Faults{Tools: tt.faults}}, nil)
		c := read(t, m.post(chatPath, hello(chatTools))).Choices[0].Message.Calls[0].Function
		if !tt.want(c.Name, c.Arguments) {
			t.Errorf("%s: %+v", name, c)
		}
	}
	m := indoorModel(ModelConfig{Faults: Faults{Tools: wire.Tools{Again: 1}}}, nil)
	again := `{"model":"mock-1","messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"find","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"4.5"}]` + chatTools + `}`
	if a := read(t, m.post(chatPath, again)); a.Choices[0].Message.Calls == nil {
		t.Errorf("again: %+v", a)
	}
	if err := (Faults{Tools: wire.Tools{Again: 2}}).Validate(); err == nil {
		t.Error("a fraction of 2 is valid")
	}
}
