package service_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/service/anthropic"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/ollama"
	"github.com/throng-sim/throng/engine/service/openai"
)

// toolChat is a chat in which a model has asked for two tools. One failed.
func toolChat() *llm.Chat {
	a, b := llm.ToolCall{ID: "1", Name: "find", Arguments: `{"words":"tea"}`}, llm.ToolCall{ID: "2", Name: "order", Arguments: `not JSON`}
	return &llm.Chat{
		Model: "m", Seed: 7, MaxTokens: 9,
		Messages: []llm.Message{
			{Role: "system", Text: "Be brief."},
			{Role: "user", Text: "Buy."},
			{Role: "assistant", Text: "Well.", Calls: []llm.ToolCall{a, b}},
			{Role: llm.RoleTool, Text: "4.5", Answers: &a},
			{Role: llm.RoleTool, Text: "Error: no", Answers: &b, Failed: true},
		},
		Tools: []llm.Tool{{Name: "find", About: "Finds.", Schema: json.RawMessage(`{"type":"object"}`)}},
	}
}

// TestToolsInWireFormats checks how tools, calls and results are sent in each wire format, and how calls are read.
func TestToolsInWireFormats(t *testing.T) {
	wants := []llm.ToolCall{{ID: "x1", Name: "find", Arguments: `{"words":"tea"}`}, {ID: "x2", Name: "order", Arguments: "{}"}}
	functions := `[{"type":"function","function":{"name":"find","description":"Finds.","parameters":{"type":"object"}}}]`
	for _, tt := range []struct {
		name string
		api  llm.API
		sent []string // parts of the body
		body string
		want []llm.ToolCall
	}{
		{
			"openai",
			openai.API{},
			[]string{
				`{"role":"assistant","content":"Well.","tool_calls":[{"id":"1","type":"function","function":{"name":"find","arguments":"{\"words\":\"tea\"}"}},{"id":"2","type":"function","function":{"name":"order","arguments":"not JSON"}}]}`,
				`{"role":"tool","content":"4.5","tool_call_id":"1"},{"role":"tool","content":"Error: no","tool_call_id":"2"}]`, `"tools":` + functions,
			},
			`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"x1","type":"function","function":{"name":"find","arguments":"{\"words\":\"tea\"}"}},{"id":"x2","type":"function","function":{"name":"order","arguments":""}}]},"finish_reason":"tool_calls"}]}`,
			wants,
		},
		{
			"anthropic",
			anthropic.API{},
			[]string{
				`"tools":[{"name":"find","description":"Finds.","input_schema":{"type":"object"}}]`,
				`{"role":"assistant","content":[{"type":"text","text":"Well."},{"type":"tool_use","id":"1","name":"find","input":{"words":"tea"}},{"type":"tool_use","id":"2","name":"order","input":{"arguments":"not JSON"}}]}`,
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"4.5"},{"type":"tool_result","tool_use_id":"2","content":"Error: no","is_error":true}]}]`,
			},
			`{"type":"message","content":[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"x1","name":"find","input":{"words":"tea"}},{"type":"tool_use","id":"x2","name":"order","input":{}}],"stop_reason":"tool_use"}`,
			wants,
		},
		{
			"ollama",
			ollama.API{},
			[]string{
				`{"role":"assistant","content":"Well.","tool_calls":[{"function":{"name":"find","arguments":{"words":"tea"}}},{"function":{"name":"order","arguments":{"arguments":"not JSON"}}}]}`,
				`{"role":"tool","content":"4.5","tool_name":"find"},{"role":"tool","content":"Error: no","tool_name":"order"}]`, `"tools":` + functions,
			},
			`{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"find","arguments":{"words":"tea"}}},{"function":{"name":"order"}}]},"done":true,"done_reason":"stop"}`,
			[]llm.ToolCall{{Name: "find", Arguments: `{"words":"tea"}`}, {Name: "order", Arguments: "{}"}},
		},
	} {
		body, err := tt.api.Request(toolChat(), nil).Body()
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range tt.sent {
			if !strings.Contains(string(body), part) {
				t.Errorf("%s: sent %s\nwithout %s", tt.name, body, part)
			}
		}
		got, err := tt.api.Read([]byte(tt.body))
		if err != nil || !reflect.DeepEqual(got.Calls, tt.want) {
			t.Errorf("%s: read %+v, %v", tt.name, got, err)
		}
		if refused := tt.api.Request(toolChat(), nil).Refused([]byte(`{"error":"m does not support tools"}`)); refused != "" {
			t.Errorf("%s: the field %s is left out, so that the model would answer without its tools", tt.name, refused)
		}
	}
}

// TestFormAndToolsTogether checks that a model with tools is not made to use the tool that stands for the form of the answer.
func TestFormAndToolsTogether(t *testing.T) {
	for _, strict := range []bool{true, false} {
		c := toolChat()
		c.Format, c.InWords = llm.Format{Name: llm.FormName, Schema: json.RawMessage(`{"type":"object"}`), Strict: strict, JSON: true}, "Answer with JSON."
		body, err := anthropic.API{}.Request(c, nil).Body()
		if err != nil || strings.Contains(string(body), "tool_choice") || strings.Contains(string(body), "output_config") != strict || strings.Contains(string(body), "Answer with JSON.") == strict {
			t.Errorf("strict %v: %s, %v", strict, body, err)
		}
	}
}

// TestPromptOfToolResults checks what is shown as the prompt of a call with results.
func TestPromptOfToolResults(t *testing.T) {
	for name, api := range map[string]llm.API{"openai": openai.API{}, "anthropic": anthropic.API{}, "ollama": ollama.API{}} {
		body, err := api.Request(toolChat(), nil).Body()
		if err != nil {
			t.Fatal(err)
		}
		if _, last := llm.ReadPrompt(body); !strings.Contains(last, "Error: no") {
			t.Errorf("%s: %q", name, last)
		}
	}
}

func TestNumberedCalls(t *testing.T) {
	calls := []llm.ToolCall{{Name: "a"}, {ID: "x", Name: "b"}, {Name: "c"}}
	if llm.NumberedCalls(calls, 4); calls[0].ID != "call_5" || calls[1].ID != "x" || calls[2].ID != "call_7" {
		t.Errorf("%+v", calls)
	}
}
