package anthropic

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/redact"
)

// said returns a message whose text is the same for all agents up to a bar, which is left out.
func said(role, text string) llm.Message {
	stable, rest, _ := strings.Cut(text, "|")
	return llm.Message{Role: role, Text: stable + rest, Stable: len(stable)}
}

func shaped(strict bool) llm.Chat {
	return llm.Chat{
		Model: "claude", Messages: []llm.Message{said("user", "|Shop?")}, InWords: "Answer with JSON.",
		Format: llm.Format{Name: "answer", Schema: json.RawMessage(`{"type":"object"}`), Strict: strict, JSON: true},
	}
}

// TestRequests checks the bodies of requests, without the parts that all of them have.
func TestRequests(t *testing.T) {
	heat := 0.2
	const start = `{"model":"claude","max_tokens":4096,`
	for _, tt := range []struct {
		name    string
		chat    llm.Chat
		refused []string
		want    string
	}{
		{name: "a prompt", chat: llm.Chat{Messages: []llm.Message{said("user", "|Hi")}, Seed: 7}, want: start + `"messages":[{"role":"user","content":"Hi"}]}`},
		{
			name: "numbers", chat: llm.Chat{Messages: []llm.Message{said("user", "|Hi")}, MaxTokens: 9, Temperature: &heat, Stream: true, Effort: "low"},
			want: `{"model":"claude","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"temperature":0.2,"stream":true,"output_config":{"effort":"low"}}`,
		},
		{
			name: "instructions for all agents", chat: llm.Chat{Messages: []llm.Message{said("system", "Be brief."), said("user", "|Hi")}},
			want: start + `"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"Hi"}]}`,
		},
		{
			name: "instructions that begin the same", chat: llm.Chat{Messages: []llm.Message{said("system", "Be brief, |Ann."), said("system", "Now."), said("user", "|Hi")}},
			want: start + `"system":[{"type":"text","text":"Be brief, ","cache_control":{"type":"ephemeral"}},{"type":"text","text":"Ann."},{"type":"text","text":"Now."}],"messages":[{"role":"user","content":"Hi"}]}`,
		},
		{
			name: "a mark of the scenario", chat: llm.Chat{Messages: []llm.Message{said("system", "Be brief."), said("user", "|Hi")}, Extra: []llm.Extra{{Name: "cache_control", Value: []byte(`{"type":"ephemeral","ttl":"1h"}`)}}},
			want: start + `"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":[{"role":"user","content":"Hi"}]}`,
		},
		{
			name: "a persona", chat: llm.Chat{Messages: []llm.Message{said("system", "|You are Ann."), said("user", "|Hi")}},
			want: start + `"system":[{"type":"text","text":"You are Ann."}],"messages":[{"role":"user","content":"Hi"}]}`,
		},
		{
			name: "a service that caches nothing", refused: []string{"cache_control"}, chat: llm.Chat{Messages: []llm.Message{said("system", "Be brief."), said("user", "|Hi")}},
			want: start + `"system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":"Hi"}]}`,
		},
		{
			name: "instructions later, and blank ones", chat: llm.Chat{Messages: []llm.Message{said("developer", " "), said("user", "|Hi"), said("assistant", "|Yes?"), said("system", "|Please.")}},
			want: start + `"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes?"},{"role":"user","content":"Please."}]}`,
		},
		{
			name: "nothing but instructions", chat: llm.Chat{Messages: []llm.Message{said("system", "|Say hello.")}},
			want: start + `"messages":[{"role":"user","content":"Say hello."}]}`,
		},
		{
			name: "fields of the scenario", refused: []string{"top_k"},
			chat: llm.Chat{Messages: []llm.Message{said("user", "|Hi")}, Effort: "low", Extra: []llm.Extra{{Name: "output_config", Value: []byte(`{"effort":"max"}`)}, {Name: "top_k", Value: []byte("4")}}},
			want: start + `"messages":[{"role":"user","content":"Hi"}],"output_config":{"effort":"max"}}`,
		},
		{
			name: "a shape", chat: shaped(true),
			want: start + `"messages":[{"role":"user","content":"Shop?"}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}`,
		},
		{
			name: "a shape by a tool", chat: shaped(true), refused: []string{"output_config"},
			want: start + `"tools":[{"name":"answer","description":"Answers the request.","input_schema":{"type":"object"}}],"tool_choice":{"name":"answer","type":"tool"},"messages":[{"role":"user","content":"Shop?"}]}`,
		},
		{
			name: "a shape in words", chat: shaped(true), refused: []string{"output_config", "tool_choice"},
			want: start + `"system":[{"type":"text","text":"Answer with JSON.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"Shop?"}]}`,
		},
	} {
		tt.chat.Model = "claude"
		got, err := API{}.Request(&tt.chat, tt.refused).Body()
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got\n%s, want\n%s, %v", tt.name, got, tt.want, err)
		}
	}
	if loose := shaped(false); API.Request(API{}, &loose, nil).Fields[2].Name != "tools" {
		t.Error("a schema of any kind is not requested by a tool")
	}
}

// TestRefusals finds the field, or the part of one, that an error refuses.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		message string
		refused []string
		want    string
	}{
		{message: "output_config.format: Extra inputs are not permitted", want: "output_config"},
		{message: "'claude-3-haiku' does not support output format.", want: "output_config"},
		{message: "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false", want: "output_config"},
		{message: "output_config.effort: Extra inputs are not permitted", want: "effort"},
		{message: "This model does not support the effort parameter.", want: "effort"},
		{message: "system.0.cache_control: Extra inputs are not permitted", want: "cache_control"},
		{message: "temperature is deprecated for this model", want: "temperature"},
		{message: "Thinking may not be enabled when tool_choice forces tool use.", refused: []string{"output_config", "effort"}, want: "tool_choice"},
		{message: "temperature: Input should be less than or equal to 1"},
		{message: "max_tokens: 99999 > 8192, which is the maximum allowed number of output tokens"},
		{message: "prompt is too long: 208310 tokens > 200000 maximum"},
		{message: "messages: text content blocks must be non-empty"},
	} {
		heat := 0.2
		c := shaped(true)
		c.Messages = slices.Insert(c.Messages, 0, said("system", "Be brief."))
		c.Temperature, c.Effort, c.MaxTokens = &heat, "low", 9
		body, err := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": "invalid_request_error", "message": tt.message}})
		if err != nil {
			t.Fatal(err)
		}
		if got := (API{}).Request(&c, tt.refused).Refused(body); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.message, got, tt.want)
		}
	}
}

func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		var e struct{ Type string }
		_ = json.Unmarshal([]byte(d), &e)
		b.WriteString("event: " + e.Type + "\ndata: " + d + "\n\n")
	}
	return b.String()
}

const (
	begins   = `{"type":"message_start","message":{"type":"message","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`
	opens    = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	hel      = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}`
	lo       = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo."}}`
	thinks   = `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`
	ends     = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`
	stops    = `{"type":"message_stop"}`
	toolOpen = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","name":"answer","input":{}}}`
	toolHalf = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"shop\":"}}`
	toolRest = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"true}"}}`
)

// TestAnswers checks what is read of responses, whole and as streams.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		stream     bool
		want       llm.Completion
		fails      string // in the error
		status     int    // of an [llm.Error]
	}{
		{name: "a text", body: `{"type":"message","content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"Hel"},{"type":"text","text":"lo."}],"stop_reason":"end_turn"}`, want: llm.Completion{Text: "Hello."}},
		{name: "cut", body: `{"type":"message","content":[{"type":"text","text":"Hel"}],"stop_reason":"max_tokens"}`, want: llm.Completion{Text: "Hel", Cut: true}},
		{name: "beyond the context", body: `{"type":"message","content":[],"stop_reason":"model_context_window_exceeded"}`, want: llm.Completion{Cut: true}},
		{name: "refused", body: `{"type":"message","content":[],"stop_reason":"refusal"}`, want: llm.Completion{Refusal: "the service's safety filter"}},
		{name: "refused with a text", body: `{"type":"message","content":[{"type":"text","text":"No."}],"stop_reason":"refusal"}`, want: llm.Completion{Refusal: "No."}},
		{name: "a tool", body: `{"type":"message","content":[{"type":"text","text":"Here:"},{"type":"tool_use","name":"answer","input":{"shop":true}}],"stop_reason":"tool_use"}`, want: llm.Completion{Text: `{"shop":true}`}},
		{name: "nothing", body: `{"type":"message","content":[],"stop_reason":"end_turn"}`},
		{name: "an error", body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, fails: "Overloaded", status: 529},
		{name: "an unknown error", body: `{"type":"error","error":{"type":"strange_error"}}`, fails: "strange_error"},
		{name: "another format", body: `{"choices":[{"message":{"content":"Hello."}}]}`, fails: "not a message of the Messages API"},
		{name: "a page", body: "<html>", fails: "it is a page"},
		{name: "no JSON", body: "x", fails: "cannot be read"},
		{name: "streamed", stream: true, body: events(begins, `{"type":"ping"}`, opens, thinks, hel, lo, `{"type":"content_block_stop","index":0}`, ends, stops), want: llm.Completion{Text: "Hello."}},
		{name: "streamed without its last event", stream: true, body: events(begins, opens, hel, lo, ends), want: llm.Completion{Text: "Hello."}},
		{name: "a streamed tool", stream: true, body: events(begins, opens, hel, toolOpen, toolHalf, toolRest, ends, stops), want: llm.Completion{Text: `{"shop":true}`}},
		{name: "broken off", stream: true, body: events(begins, opens, hel), fails: "breaks off"},
		{name: "an error in a stream", stream: true, body: events(begins, opens, hel, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, ends), fails: "Overloaded", status: 529},
		{name: "an error of no kind in a stream", stream: true, body: events(begins, `{"type":"error"}`), fails: `"error"`},
		{name: "a broken event", stream: true, body: events(begins, "{"), fails: "a piece"},
	} {
		read := API{}.Read
		if tt.stream {
			read = func(body []byte) (*llm.Completion, error) { return llm.ReadStream(API{}.Stream(false), body) }
		}
		got, err := read([]byte(tt.body))
		reported, _ := errors.AsType[*llm.Error](err)
		switch {
		case tt.fails == "" && (err != nil || !reflect.DeepEqual(*got, tt.want)):
			t.Errorf("%s: got %+v, %v, want %+v", tt.name, got, err, tt.want)
		case tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails) || tt.status > 0 && (reported == nil || reported.Status != tt.status)):
			t.Errorf("%s: got %v, want an error with %q and status %d", tt.name, err, tt.fails, tt.status)
		}
	}
}

// TestSecretsInStreams removes a secret that is spread over two events.
func TestSecretsInStreams(t *testing.T) {
	one := strings.Replace(hel, "Hel", "key sk-hun", 1)
	got := string(llm.RedactStream([]byte(events(begins, opens, one, strings.Replace(lo, "lo.", "ter2.", 1), ends, stops)), []string{"sk-hunter2"}))
	c, err := llm.ReadStream(API{}.Stream(false), []byte(got))
	if err != nil || c.Text != "key "+redact.Mark+"." {
		t.Errorf("got %+v, %v of %s", c, err, got)
	}
}
