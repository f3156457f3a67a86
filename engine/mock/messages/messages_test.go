package messages

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/mock/toolmock"
)

var versioned = http.Header{"Anthropic-Version": {"2023-06-01"}}

// read reads a request that must be right.
func read(t *testing.T, body, seed string) *Request {
	t.Helper()
	r, err := Read([]byte(body), versioned, seed)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

// TestRequestsBecomeChats compares requests with the same requests in OpenAI's format.
func TestRequestsBecomeChats(t *testing.T) {
	for name, c := range map[string]struct{ body, seed, want string }{
		"a text": {
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi <b>"}]}`, "",
			`{"model":"m","messages":[{"role":"user","content":"Hi <b>"}],"max_tokens":9}`,
		},
		"a large limit does not hint": {
			`{"model":"m","max_tokens":4096,"messages":[{"role":"user","content":"Hi"}]}`, "7",
			`{"model":"m","messages":[{"role":"user","content":"Hi"}],"seed":7}`,
		},
		"a system, blocks and settings": {
			`{"model":"m","max_tokens":9,"system":[{"type":"text","text":"Be "},{"type":"text","text":"brief."}],"temperature":0.5,"stop_sequences":["x"],"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"A"},{"type":"text","text":"B"}]}]}`, "",
			`{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"AB"}],"max_tokens":9,"temperature":0.5,"stop":["x"],"stream":true}`,
		},
		"a form": {
			`{"model":"m","max_tokens":9,"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}},"messages":[{"role":"user","content":"Hi"}]}`, "",
			`{"model":"m","messages":[{"role":"user","content":"Hi"}],"max_tokens":9,"response_format":{"json_schema":{"name":"answer","schema":{"type":"object"}},"type":"json_schema"}}`,
		},
		"a tool that must be used is a form": {
			`{"model":"m","max_tokens":9,"tools":[{"name":"answer","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"answer"},"messages":[{"role":"user","content":"Hi"}]}`, "",
			`{"model":"m","messages":[{"role":"user","content":"Hi"}],"max_tokens":9,"response_format":{"json_schema":{"name":"answer","schema":{"type":"object"}},"type":"json_schema"}}`,
		},
		"a tool, its use and its result": {
			`{"model":"m","max_tokens":9,"tools":[{"name":"price","description":"A price.","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Hi"},` +
				`{"role":"assistant","content":[{"type":"text","text":"Well."},{"type":"tool_use","id":"t1","name":"price","input":{"of":"tea"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"4.5"}]}]}`, "",
			`{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Well.","tool_calls":[{"id":"t1","type":"function","function":{"name":"price","arguments":"{\"of\":\"tea\"}"}}]},` +
				`{"role":"tool","content":"4.5","tool_call_id":"t1"}],"max_tokens":9,"tools":[{"type":"function","function":{"name":"price","description":"A price.","parameters":{"type":"object"}}}]}`,
		},
	} {
		if got := strings.TrimSpace(string(read(t, c.body, c.seed).Chat)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// TestTheCachedPart is the system up to the last mark.
func TestTheCachedPart(t *testing.T) {
	for body, want := range map[string]string{
		`"system":"All of it."`: "",
		`"system":[{"type":"text","text":"One. ","cache_control":{"type":"ephemeral"}},{"type":"text","text":"Two. ","cache_control":{"type":"ephemeral"}},{"type":"text","text":"Three."}]`: "One. Two. ",
	} {
		if got := read(t, `{"model":"m","max_tokens":9,`+body+`,"messages":[{"role":"user","content":"Hi"}]}`, "").Cached; got != want {
			t.Errorf("%s: %q", body, got)
		}
	}
}

// TestWrongRequests checks what is refused, and that the error says what is wrong.
func TestWrongRequests(t *testing.T) {
	for body, says := range map[string]string{
		`[]`:                           "not valid JSON",
		`{"model":1}`:                  "cannot unmarshal number",
		`{"model":"m","top":1}`:        "top: Extra inputs are not permitted",
		`{"max_tokens":9}`:             "model: Field required",
		`{"model":"m"}`:                "max_tokens: Field required",
		`{"model":"m","max_tokens":0}`: "greater than or equal to 1",
		`{"model":"m","max_tokens":9,"temperature":1.01}`:                                                                    "temperature: range: 0..1",
		`{"model":"m","max_tokens":9,"messages":[]}`:                                                                         "at least one message",
		`{"model":"m","max_tokens":9,"messages":[{"role":"tool","content":"x"}]}`:                                            "messages.0.role",
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"user"}]}`:                            "messages.1.content: Field required",
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[]}]}`:                                             "non-empty",
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}`:                    "blocks of the types",
		`{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b"}]}]}`: "blocks of the types",
		`{"model":"m","max_tokens":9,"output_config":{"format":{"type":"text"}},"messages":[{"role":"user","content":"x"}]}`: "json_schema",
		`{"model":"m","max_tokens":9,"tool_choice":{"type":"tool","name":"b"},"messages":[{"role":"user","content":"x"}]}`:   "Tool 'b' not found",
	} {
		if r, err := Read([]byte(body), versioned, ""); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v, want %q", body, r, err, says)
		}
	}
	fine := []byte(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`)
	if _, err := Read(fine, http.Header{}, ""); err == nil || !strings.Contains(err.Error(), "anthropic-version") {
		t.Errorf("without a version: %v", err)
	}
	if _, err := Read(fine, versioned, "seven"); err == nil || !strings.Contains(err.Error(), "seed") {
		t.Errorf("a seed of letters: %v", err)
	}
}

// TestAnswers compares a body with the events of a stream of the same answer: the same text, calls, reason and tokens, in the order of the API.
func TestAnswers(t *testing.T) {
	plain := read(t, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`, "")
	formed := read(t, `{"model":"m","max_tokens":9,"tools":[{"name":"answer","input_schema":{}}],"tool_choice":{"type":"tool","name":"answer"},"messages":[{"role":"user","content":"Hi"}]}`, "")
	for name, c := range map[string]struct {
		of   *Request
		a    Answer
		stop string
		kind string // of the first block
	}{
		"a text":      {plain, Answer{Text: "Hello.", Pieces: []string{"Hel", "lo."}, Prompt: 50, Cached: 40, Completion: 3}, "end_turn", "text"},
		"cut off":     {plain, Answer{Text: "Hel", Pieces: []string{"Hel"}, Cut: true}, "max_tokens", "text"},
		"refused":     {plain, Answer{Text: "No.", Pieces: []string{"No."}, Refused: true}, "refusal", "text"},
		"calls":       {plain, Answer{Text: "Well.", Pieces: []string{"Well."}, Calls: []toolmock.Call{{ID: "t1", Name: "price", Arguments: `{"of":"tea"}`}}}, "tool_use", "text"},
		"a form":      {formed, Answer{Text: `{"a":1}`, Pieces: []string{`{"a"`, `:1}`}}, "tool_use", "tool_use"},
		"half a form": {formed, Answer{Text: `{"a"`, Pieces: []string{`{"a"`}, Cut: true}, "max_tokens", "text"},
	} {
		c.a.ID = "1"
		var whole sent
		if err := json.Unmarshal(c.of.Body(&c.a), &whole); err != nil {
			t.Fatal(err)
		}
		first := whole.Content[0]
		if *whole.Stop != c.stop || first.Type != c.kind || whole.Usage != (usage{Input: c.a.Prompt - c.a.Cached, Read: c.a.Cached, Output: c.a.Completion}) || len(whole.Content) != 1+len(c.a.Calls) {
			t.Errorf("%s: %s", name, c.of.Body(&c.a))
		}
		text, calls, stop, types := streamed(t, c.of.Events(&c.a))
		if text != c.a.Text || stop != c.stop || calls != len(c.a.Calls)+map[string]int{"tool_use": 1}[c.kind] || types[0] != "message_start" || types[len(types)-1] != "message_stop" {
			t.Errorf("%s: streamed %q, %d calls, %s in %q", name, text, calls, stop, types)
		}
		if n := len(slices.DeleteFunc(types, func(kind string) bool { return kind != "content_block_stop" })); n != len(whole.Content) {
			t.Errorf("%s: %d blocks end, of %d", name, n, len(whole.Content))
		}
	}
	if got := string(plain.Body(&Answer{ID: "1"})); !strings.Contains(got, `"content":[]`) {
		t.Errorf("an empty answer is %s", got)
	}
}

// streamed reads the events of a stream.
func streamed(t *testing.T, events []string) (text string, calls int, stop string, types []string) {
	t.Helper()
	for _, data := range events {
		var e struct {
			Type  string
			Index int
			Block block `json:"content_block"`
			Delta struct {
				Text, Stop string
				Partial    string `json:"partial_json"`
				Reason     string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		if sent := Event(data); sent != "event: "+e.Type+"\ndata: "+data+"\n\n" {
			t.Errorf("sent as %q", sent)
		}
		types = append(types, e.Type)
		if e.Block.Type == "tool_use" {
			calls++
		}
		if e.Index == 0 {
			text += e.Delta.Text + e.Delta.Partial
		}
		if e.Delta.Reason != "" {
			stop = e.Delta.Reason
		}
	}
	return text, calls, stop, types
}

// TestErrors checks the type of an error by its status, and data that was cut in a stream.
func TestErrors(t *testing.T) {
	for status, kind := range map[int]string{400: "invalid_request_error", 429: "rate_limit_error", 500: "api_error", 503: "overloaded_error"} {
		if got, want := string(Error(status, "so")), `{"error":{"message":"so","type":"`+kind+`"},"type":"error"}`; got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
	if got := Event(`{"type":`); got != "data: {\"type\":\n\n" {
		t.Errorf("half an event is %q", got)
	}
}

// TestLimitHeaders checks that a time is rounded up to the second, and is UTC.
func TestLimitHeaders(t *testing.T) {
	zone := time.FixedZone("", 3600)
	for full, want := range map[time.Time]string{
		time.Date(2026, 1, 2, 9, 0, 5, 0, zone): "2026-01-02T08:00:05Z",
		time.Date(2026, 1, 2, 9, 0, 5, 1, zone): "2026-01-02T08:00:06Z",
	} {
		h := http.Header{}
		SetLimit(h, "Tokens", 100, 7, full)
		if h.Get("anthropic-ratelimit-tokens-limit") != "100" || h.Get("anthropic-ratelimit-tokens-remaining") != "7" || h.Get("anthropic-ratelimit-tokens-reset") != want {
			t.Errorf("%v: %v", full, h)
		}
	}
}
