package service

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/openai"
)

// TestWhichFieldIsRefused reads errors of different services.
func TestWhichFieldIsRefused(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`, "max_tokens"},
		{`{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.","param":"temperature","code":"unsupported_value"}}`, "temperature"},
		{`{"error":{"message":"Unrecognized request argument supplied: top_k","param":null}}`, "top_k"},
		{`{"error":{"message":"Unknown parameter: 'provider.order'.","param":"provider.order","code":"unknown_parameter"}}`, "provider"},
		{`{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.","param":null}}`, "response_format"},
		{`{"error":{"message":"Invalid schema for response_format 'answer': uniqueItems is not permitted.","param":"response_format"}}`, "response_format"},
		{`{"error":{"message":"This response_format type is unavailable now"}}`, "response_format"},
		{`{"error":"json_schema is not supported"}`, "response_format"},
		{`{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted","input":7}]}`, "seed"},
		{`{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort'), 'msg': 'Extra inputs are not permitted'}]","code":400}`, "reasoning_effort"},
		{`stream_options is not supported`, "stream_options"},
		// The value is wrong, not the field.
		{`{"error":{"message":"max_tokens is too large: 99. This model supports at most 9 completion tokens.","param":"max_tokens"}}`, ""},
		{`{"detail":[{"type":"less_than_equal","loc":["body","temperature"],"msg":"Input should be less than or equal to 1"}]}`, ""},
		{`{"error":{"message":"Invalid 'max_tokens': must be at least 1"}}`, ""},
		// Something else is wrong.
		{`{"error":{"message":"This model's maximum context length is 8192 tokens.","param":"messages","code":"context_length_exceeded"}}`, ""},
		{`{"error":{"message":"The model 'x' does not exist","param":"model","code":"model_not_found"}}`, ""},
		{`{"error":{"message":"Unsupported parameter: 'stop'","param":"stop"}}`, ""}, // was not sent
		{`{"error":{"message":"max_tokens_total is not supported"}}`, ""},
		{"", ""},
		{`[1]`, ""},
	} {
		heat := 0.2
		c := hello()
		c.MaxTokens, c.Temperature, c.Stream, c.Effort, c.Format = 9, &heat, true, "low", llm.Format{Schema: json.RawMessage(`{}`), JSON: true}
		c.Extra = []llm.Extra{{Name: "top_k", Value: []byte("4")}, {Name: "provider", Value: []byte("{}")}}
		if got := (openai.API{}).Request(&c, nil).Refused([]byte(tt.body)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.body, got, tt.want)
		}
	}
}

// picky is a model server that refuses fields, one per request, as OpenAI does.
type picky struct {
	refuses []string // in the order of its checks

	mu   sync.Mutex
	seen []map[string]any // requests
	bad  int              // 400s
}

func (p *picky) RoundTrip(r *http.Request) (*http.Response, error) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.seen = append(p.seen, body)
	answer := wrote(`{"n": 1}`)
	for _, name := range p.refuses {
		if _, ok := body[name]; ok {
			p.bad++
			answer = reply{status: 400, body: `{"error":{"message":"Unsupported parameter: '` + name + `' is not supported with this model.","param":"` + name + `","code":"unsupported_parameter"}}`}
			break
		}
	}
	p.mu.Unlock()
	return (&script{answers: []reply{answer}}).RoundTrip(r)
}

// TestRefusedFieldsAreLearnedOnce uses a model that refuses nearly every field. Each field costs one request, once, which does not
// count as an attempt. Another process that gets the learned fields leaves them out.
func TestRefusedFieldsAreLearnedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &picky{refuses: []string{"max_tokens", "temperature", "seed", "response_format", "top_k", "reasoning_effort"}}
		l := models(t, server, LLMConfig{})
		heat := 0.5
		ask := func(l *LLM, model string) *engine.SessionRow {
			c := hello()
			c.Model, c.MaxTokens, c.Temperature, c.Effort, c.InWords = model, 9, &heat, "low", "Answer with JSON."
			c.Format, c.Extra = llm.Format{Name: "answer", Schema: json.RawMessage(`{}`), JSON: true}, []llm.Extra{{Name: "top_k", Value: []byte("4")}, {Name: "user", Value: []byte(`"u"`)}}
			row, got := stage{}.chat(t, l, c, func(c *Call) { c.Retry.Attempts = 1 })
			if got == nil || row.Steps[0].Attempts != 1 {
				t.Fatalf("got %+v after %d attempts: %s", got, row.Steps[0].Attempts, row.Error)
			}
			return row
		}
		row := ask(l, "gpt-4o-mini")
		if want := []int{400, 400, 400, 400, 400, 400, 200}; !slices.Equal(row.Steps[0].Statuses, want) {
			t.Errorf("answered %v, want %v", row.Steps[0].Statuses, want)
		}
		last := server.seen[len(server.seen)-1]
		first := last["messages"].([]any)[0].(map[string]any)
		if last["max_completion_tokens"] != 9.0 || last["user"] != "u" || len(last) != 4 || first["role"] != "system" || first["content"] != "Answer with JSON." {
			t.Errorf("sent %v", last)
		}
		if ask(l, "gpt-4o-mini"); server.bad != 6 {
			t.Errorf("%d errors after the second call, want 6", server.bad)
		}
		moves := l.Moves()
		if len(moves) != 6 || moves[0].What != "model.unsupported" || moves[0].Old != "" || moves[0].New != "gpt-4o-mini: max_tokens" || moves[0].Who != "model" ||
			!strings.Contains(moves[0].Why, "refuses max_tokens: ") {
			t.Fatalf("got %+v", moves)
		}
		if ask(l, "other"); server.bad != 12 { // each model learns separately
			t.Errorf("%d errors after the call of another model, want 12", server.bad)
		}
		resumed := models(t, server, LLMConfig{})
		if _, err := resumed.Tune("model.unsupported", l.Moves()[5].New); err != nil {
			t.Fatal(err)
		}
		ask(resumed, "gpt-4o-mini")
		if ask(resumed, "other"); server.bad != 12 {
			t.Errorf("%d errors after a resume, want 12", server.bad)
		}
		kept := models(t, server, LLMConfig{})
		kept.Learn(resumed)
		if ask(kept, "other"); server.bad != 12 {
			t.Errorf("%d errors of a client with learned fields, want 12", server.bad)
		}
	})
}

// TestBothLengthsAreRefused checks that if a service rejects both length fields, nothing limits the answer.
func TestBothLengthsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &picky{refuses: []string{"max_tokens", "max_completion_tokens"}}
		c := hello()
		c.MaxTokens, c.Completion = 9, true
		row, _ := stage{}.chat(t, models(t, server, LLMConfig{}), c, nil)
		if last := server.seen[len(server.seen)-1]; row.Outcome != engine.OK || len(server.seen) != 3 || last["max_tokens"] != nil || last["max_completion_tokens"] != nil {
			t.Errorf("%v: %v", row.Error, server.seen)
		}
	})
}

// TestWhatIsJournaledDoesNotDependOnLessons checks that a resumed run that has learned more fields still finds the
// journaled calls.
func TestWhatIsJournaledDoesNotDependOnLessons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := stage{journal: &enginetest.Journal{}}
		server := &picky{refuses: []string{"seed"}}
		l := models(t, server, LLMConfig{})
		if row, _ := st.chat(t, l, hello(), nil); row.Outcome != engine.OK {
			t.Fatal(row.Error)
		}
		asked := len(server.seen)
		kept := enginetest.Of[engine.AnswerRow](st.journal)
		row, got := resumed(kept[0].Entry).chat(t, l, hello(), nil)
		if got == nil || row.Steps[0].Label != engine.Replayed || len(server.seen) != asked {
			t.Errorf("%+v, %v: %s", got, row.Steps[0].Label, row.Error)
		}
	})
}

// TestOtherErrorsStayErrors checks that a 400 that names no field ends the call, and that nothing is learned.
func TestOtherErrorsStayErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &script{answers: []reply{{status: 400, body: `{"error":{"message":"This model's maximum context length is 10 tokens."}}`}}}
		l := models(t, fake, LLMConfig{})
		row, _ := stage{}.chat(t, l, hello(), nil)
		if row.Class != engine.ClientError || len(fake.requests()) != 1 || len(l.Moves()) > 0 {
			t.Errorf("class %q, %d requests", row.Class, len(fake.requests()))
		}
	})
}

// TestUnsupportedByHand parses what a user writes, and reports errors.
func TestUnsupportedByHand(t *testing.T) {
	l := models(t, &script{}, LLMConfig{})
	for text, want := range map[string]string{
		"llama3.2:latest: seed, top_k;  o3: seed": "llama3.2:latest: seed, top_k; o3: seed", "": "",
	} {
		if _, err := l.Tune("model.unsupported", text); err != nil {
			t.Fatal(err)
		}
		if old, err := l.Tune("model.unsupported", text); err != nil || old != want {
			t.Errorf("%q: %q, %v", text, old, err)
		}
	}
	if _, err := l.Tune("model.unsupported", "seed"); err == nil {
		t.Error("a field without a model is taken")
	}
}

// TestTeach checks that fields which another client learned are added to those of this one.
func TestTeach(t *testing.T) {
	l := models(t, nil, LLMConfig{})
	for _, tt := range []struct{ fields, old, now string }{
		{"o3: seed", "", "o3: seed"},
		{"o3: seed, temperature; o4: seed", "o3: seed", "o3: seed, temperature; o4: seed"},
		{"o4: seed", "o3: seed, temperature; o4: seed", "o3: seed, temperature; o4: seed"},
		{"unreadable", "o3: seed, temperature; o4: seed", "o3: seed, temperature; o4: seed"},
	} {
		if old, now := l.Teach(tt.fields); old != tt.old || now != tt.now {
			t.Errorf("%q: %q, %q; want %q, %q", tt.fields, old, now, tt.old, tt.now)
		}
	}
	if moves := l.Moves(); len(moves) != 0 {
		t.Errorf("a client that was taught reports %v", moves)
	}
}
