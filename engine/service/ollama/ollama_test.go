package ollama

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/service/llm"
)

// TestRequests checks the bodies of requests.
func TestRequests(t *testing.T) {
	heat := 0.2
	hi := []llm.Message{{Role: "developer", Text: "Be brief."}, {Role: "user", Text: "Hi"}}
	const said = `{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}],`
	for _, tt := range []struct {
		name    string
		chat    llm.Chat
		refused []string
		want    string
	}{
		{name: "a prompt", chat: llm.Chat{Messages: hi, Seed: 7}, want: said + `"stream":false,"options":{"seed":7}}`},
		{
			name: "numbers", chat: llm.Chat{Messages: hi, Temperature: &heat, MaxTokens: 9, Stream: true, Effort: "low"},
			want: said + `"stream":true,"think":"low","options":{"num_predict":9,"seed":0,"temperature":0.2}}`,
		},
		{
			name: "options of the scenario", chat: llm.Chat{Messages: hi, Seed: 7, Extra: []llm.Extra{{Name: "options", Value: []byte(`{"num_ctx":8192,"seed":1}`)}, {Name: "keep_alive", Value: []byte(`"30m"`)}}},
			want: said + `"stream":false,"keep_alive":"30m","options":{"num_ctx":8192,"seed":1}}`,
		},
		{
			name: "a shape", chat: llm.Chat{Messages: hi, Format: llm.Format{Schema: json.RawMessage(`{"type":"object"}`), JSON: true}, InWords: "JSON."},
			want: said + `"stream":false,"format":{"type":"object"},"options":{"seed":0}}`,
		},
		{name: "any JSON", chat: llm.Chat{Messages: hi, Format: llm.Format{JSON: true}}, want: said + `"stream":false,"format":"json","options":{"seed":0}}`},
		{
			name: "refused fields", refused: []string{"format", "thinking"}, chat: llm.Chat{Messages: hi[1:], Effort: "low", Format: llm.Format{Schema: json.RawMessage(`{}`), JSON: true}, InWords: "JSON."},
			want: `{"model":"m","messages":[{"role":"system","content":"JSON."},{"role":"user","content":"Hi"}],"stream":false,"options":{"seed":0}}`,
		},
	} {
		tt.chat.Model = "m"
		r := API{}.Request(&tt.chat, tt.refused)
		if got, err := r.Body(); err != nil || string(got) != tt.want || !r.Rooted {
			t.Errorf("%s: got\n%s, want\n%s, %v", tt.name, got, tt.want, err)
		}
	}
	c := llm.Chat{Messages: hi, Effort: "low"}
	if got := (API{}).Request(&c, nil).Refused([]byte(`{"error":"\"m\" does not support thinking"}`)); got != "thinking" {
		t.Errorf("refused %q", got)
	}
}

// TestAnswers checks what is read of responses, whole and as streams.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		stream     bool
		want       llm.Completion
		fails      string
	}{
		{name: "a text", body: `{"message":{"role":"assistant","content":"Hello.","thinking":"Hm."},"done":true,"done_reason":"stop"}`, want: llm.Completion{Text: "Hello."}},
		{name: "cut", body: `{"message":{"content":"Hel"},"done":true,"done_reason":"length"}`, want: llm.Completion{Text: "Hel", Cut: true}},
		{name: "an error", body: `{"error":"model 'm' not found"}`, fails: "not found"},
		{name: "another format", body: `{"choices":[]}`, fails: "not one of Ollama's"},
		{name: "a page", body: `<html>`, fails: "cannot be read"},
		{name: "streamed", stream: true, body: `{"message":{"content":"Hel"}}` + "\n\n" + `{"message":{"content":"lo."}}` + "\n" + `{"done":true,"done_reason":"stop"}` + "\n", want: llm.Completion{Text: "Hello."}},
		{name: "broken off", stream: true, body: `{"message":{"content":"Hel"}}` + "\n", fails: "breaks off"},
		{name: "an error in a stream", stream: true, body: `{"message":{"content":"Hel"}}` + "\n" + `{"error":"out of memory"}` + "\n", fails: "out of memory"},
		{name: "a broken piece", stream: true, body: "{", fails: "a piece"},
	} {
		read := API{}.Read
		if tt.stream {
			read = func(body []byte) (*llm.Completion, error) { return llm.ReadStream(API{}.Stream(true), body) }
		}
		got, err := read([]byte(tt.body))
		if tt.fails == "" && (err != nil || !reflect.DeepEqual(*got, tt.want)) || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
			t.Errorf("%s: got %+v, %v", tt.name, got, err)
		}
	}
	if _, err := (API{}).Read([]byte(`{"error":"x"}`)); !errors.As(err, new(*llm.Error)) {
		t.Errorf("got %T", err)
	}
}
