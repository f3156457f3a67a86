package service

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/openai"
	"github.com/throng-sim/throng/engine/service/pricing"
)

// models returns a client of models with a fake transport.
func models(t testing.TB, rt http.RoundTripper, c LLMConfig) *LLM {
	t.Helper()
	c.Name, c.Base = "model", "http://model.example/v1"
	l, err := NewLLM(c)
	if err != nil {
		t.Fatal(err)
	}
	l.transport.base = rt
	return l
}

// wrote returns the response of a model that wrote a text.
func wrote(text string) reply {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return ok200(`{"choices":[{"message":{"role":"assistant","content":` + string(data) +
		`},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}`)
}

// hello returns a simple request.
func hello() llm.Chat {
	return llm.Chat{Header: http.Header{}, Model: "gpt-4o-mini", Messages: []llm.Message{{Role: "user", Text: "Say hello."}}}
}

// chat makes one call in a session, and returns its row and the completion.
func (st stage) chat(t *testing.T, l *LLM, c llm.Chat, change func(*Call)) (row *engine.SessionRow, got *llm.Completion) {
	t.Helper()
	row = st.play(t, func(s *engine.Session) {
		call := callOf(s, "step")
		if change != nil {
			change(call)
		}
		var err error
		got, err = l.Chat(call, c)
		end(s, call, err)
	})
	return row, got
}

// TestCompletions checks the outcome of all kinds of responses.
func TestCompletions(t *testing.T) {
	exhausted := `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`
	named := func(after string) reply {
		return reply{status: 429, header: map[string]string{"Retry-After": after}, body: `{"error":{"code":"rate_limit_exceeded"}}`}
	}
	tests := []struct {
		name     string
		answers  []reply
		class    engine.Class
		attempts int
		statuses []int
		says     string // in the completion, or in the error
	}{
		{"ok", []reply{wrote("Hello.")}, engine.NoError, 1, []int{200}, "Hello."},
		{"429 then ok", []reply{named("3"), wrote("Hello.")}, engine.NoError, 1, []int{429, 200}, "Hello."},
		{"429 with a date", []reply{named("Fri, 31 Dec 1999 23:59:59 GMT"), wrote("Hello.")}, engine.NoError, 1, []int{429, 200}, "Hello."},
		{"429 without a time", []reply{{status: 429}, {status: 429}, wrote("Hello.")}, engine.NoError, 1, []int{429, 429, 200}, "Hello."},
		{"quota used up", []reply{{status: 429, body: exhausted}, wrote("Hello.")}, engine.NoError, 1, []int{429, 200}, "Hello."},
		{"500 then ok", []reply{{status: 500}, wrote("Hello.")}, engine.NoError, 2, []int{500, 200}, "Hello."},
		{"503 forever", []reply{{status: 503, body: "overloaded"}}, engine.ServerError, 5, []int{503, 503, 503, 503, 503}, "overloaded"},
		{"hangs", []reply{{hangs: true}}, engine.Timeout, 5, nil, "no answer in time"},
		{"hangs once", []reply{{hangs: true}, wrote("Hello.")}, engine.NoError, 2, []int{200}, "Hello."},
		{"cut", []reply{{err: errReset}, wrote("Hello.")}, engine.NoError, 2, []int{200}, "Hello."},
		{"401", []reply{{status: 401, body: `{"error":{"message":"Incorrect API key: sk-hunter2"}}`}}, engine.ClientError, 1, []int{401}, "Incorrect API key: …"},
		{"402", []reply{{status: 402}}, engine.ClientError, 1, []int{402}, "status 402"},
		{"no JSON", []reply{ok200("<html>")}, engine.BadAnswer, 5, []int{200, 200, 200, 200, 200}, "cannot be read"},
		{"a page", []reply{ok200("<!doctype html>")}, engine.BadAnswer, 5, []int{200, 200, 200, 200, 200}, `it is a page, "<!doctype html>"; is the service's address`},
		{"breaks off", []reply{{err: io.ErrUnexpectedEOF}}, engine.Network, 5, nil, "the connection ended before the answer did"},
		{"half of it", []reply{ok200(`{"choices":[{"mess`), wrote("Hello.")}, engine.NoError, 2, []int{200, 200}, "Hello."},
		{"no choices", []reply{ok200(`{"choices":[]}`)}, engine.BadAnswer, 5, []int{200, 200, 200, 200, 200}, "has no completion"},
		{"an error with status 200", []reply{ok200(`{"error":{"message":"upstream is down","code":502}}`), wrote("Hello.")}, engine.NoError, 2, []int{200, 200}, "Hello."},
		{
			"such errors forever",
			[]reply{ok200(`{"error":{"message":"upstream is down","code":502}}`)},
			engine.ServerError, 5,
			[]int{200, 200, 200, 200, 200},
			"upstream is down",
		},
		{"an error without a code", []reply{ok200(`{"error":{"message":"oops"},"choices":[]}`)}, engine.ServerError, 5, []int{200, 200, 200, 200, 200}, "oops"},
		{"an error of the caller", []reply{ok200(`{"error":{"message":"too long","code":400}}`)}, engine.ClientError, 5, []int{200, 200, 200, 200, 200}, "too long"},
		{"an error that is null", []reply{ok200(`{"error":null,"choices":[{"message":{"content":"Hello."}}]}`)}, engine.NoError, 1, []int{200}, "Hello."},
		{"too big", []reply{ok200(strings.Repeat(" ", maxBody+1))}, engine.BadAnswer, 1, nil, "too big"},
	}
	lost := engine.Usage{Calls: 1, Input: 36, Output: 1024, Cost: 2_084_000, Estimated: 1}
	also := map[string]engine.Usage{ // usage of attempts without a completion
		"hangs once": lost, "cut": lost, "half of it": {Calls: 1, Input: 3, Cost: 3000, Estimated: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := models(t, &script{answers: tt.answers}, LLMConfig{Limits: Limits{Timeout: 10 * time.Second}, Prices: pricing.Prices{"gpt-4o-mini": {Input: 1e-6, Output: 2e-6}}})
				row, got := stage{}.chat(t, l, hello(), func(c *Call) { c.Secrets = []string{"sk-hunter2"} })
				rec := row.Steps[0]
				said := row.Error
				if got != nil {
					said = got.Text
				}
				if row.Class != tt.class || rec.Attempts != tt.attempts || !slices.Equal(rec.Statuses, tt.statuses) || !strings.Contains(said, tt.says) {
					t.Errorf("class %q, %d attempts, %v, %q; want %q, %d, %v, %q",
						row.Class, rec.Attempts, rec.Statuses, said, tt.class, tt.attempts, tt.statuses, tt.says)
				}
				if strings.Contains(row.Error, "hunter2") {
					t.Errorf("the error contains the key: %s", row.Error)
				}
				want := engine.Usage{Calls: 1, Input: 12, Output: 3, Cost: 18_000}
				if more, ok := also[tt.name]; ok {
					want.Add(&more)
				}
				if told := tt.class == engine.NoError && tt.name != "an error that is null"; told && *rec.Usage != want {
					t.Errorf("usage %+v, want %+v", rec.Usage, want)
				}
			})
		})
	}
}

// TestIncompleteCompletions checks why a model has not answered, or not completely.
func TestIncompleteCompletions(t *testing.T) {
	for _, tt := range []struct {
		choice string
		want   llm.Completion
	}{
		{`{"message":{"content":"Hel"},"finish_reason":"length"}`, llm.Completion{Text: "Hel", Cut: true}},
		{`{"message":{"content":null,"refusal":"I cannot."},"finish_reason":"stop"}`, llm.Completion{Refusal: "I cannot."}},
		{`{"message":{"content":""},"finish_reason":"content_filter"}`, llm.Completion{Refusal: "the service's content filter"}},
		{`{"message":{"content":"x"},"finish_reason":"content_filter"}`, llm.Completion{Text: "x"}},
		{`{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"x"},{"type":"text","text":"y"}]}}`, llm.Completion{Text: "xy"}},
		{`{"message":{"content":[{"type":"refusal","refusal":"I cannot."}]}}`, llm.Completion{Refusal: "I cannot."}},
		{`{"message":{"content":["x",{"type":"output_text","text":{"value":"y"}},{"text":"z"},{"type":"image_url","image_url":{}}]}}`, llm.Completion{Text: "xyz"}},
		{`{"message":{"reasoning_content":"hm","content":"x"}}`, llm.Completion{Text: "x"}},
	} {
		got, err := openai.API{}.Read([]byte(`{"choices":[` + tt.choice + `]}`))
		if err != nil || !reflect.DeepEqual(*got, tt.want) {
			t.Errorf("%s: %+v, %v; want %+v", tt.choice, got, err, tt.want)
		}
	}
}

// TestRetryAfterStandsStill checks that the wait for a service does not count: a step with a timeout of 1 s gets its answer after
// an hour.
func TestRetryAfterStandsStill(t *testing.T) {
	for _, rate := range []float64{0, 10} {
		for _, after := range []string{"3600", "Sat, 01 Jan 2000 01:00:00 GMT", ""} {
			synctest.Test(t, func(t *testing.T) {
				fake := &script{answers: []reply{{status: 429, header: map[string]string{"Retry-After": after, "Date": "Sat, 01 Jan 2000 00:00:00 GMT"}}, wrote("x")}}
				l := models(t, fake, LLMConfig{Limits: Limits{Rate: rate}})
				row, got := stage{}.chat(t, l, hello(), func(c *Call) {
					c.Clock = c.Clock.Child(time.Second, &Overtime{Path: "step", Limit: time.Second})
					t.Cleanup(c.Clock.Stop)
				})
				least, most := time.Hour, 75*time.Minute
				switch {
				case after == "" && rate > 0:
					least, most = pace.Unnamed, pace.Unnamed
				case after == "":
					least, most = unnamedWait/2, unnamedWait
				}
				if wait := fake.waits()[0]; got == nil || wait < least || wait > most || row.Steps[0].Attempts != 1 || row.Steps[0].Throttled < least {
					t.Errorf("rate %v, Retry-After %q: waited %v, held %v: %s", rate, after, wait, row.Steps[0].Throttled, row.Error)
				}
			})
		}
	}
}

// TestChatIsSentAsAsked checks the requests that are sent.
func TestChatIsSentAsAsked(t *testing.T) {
	heat, cold := 0.7, 0.0
	schema := json.RawMessage(`{"type":"object"}`)
	tests := []struct {
		name   string
		change func(*llm.Chat)
		want   string // part of the body
		not    string
	}{
		{"plain", func(*llm.Chat) {}, `"model":"gpt-4o-mini","messages":[{"role":"user","content":"Say hello."}]`, "temperature"},
		{"seed", func(c *llm.Chat) { c.Seed = 7 }, `"seed":7`, "stream_options"},
		{"temperature", func(c *llm.Chat) { c.Temperature = &heat }, `"temperature":0.7`, ""},
		{"no temperature at all", func(c *llm.Chat) { c.Temperature = &cold }, `"temperature":0,`, ""},
		{"length", func(c *llm.Chat) { c.MaxTokens = 9 }, `"max_tokens":9`, "max_completion_tokens"},
		{"length of one that reasons", func(c *llm.Chat) { c.MaxTokens, c.Model = 9, "o3-mini" }, `"max_completion_tokens":9`, "max_tokens"},
		{"length by its other name", func(c *llm.Chat) { c.MaxTokens, c.Completion = 9, true }, `"max_completion_tokens":9`, "max_tokens"},
		{"effort", func(c *llm.Chat) { c.Effort = "low" }, `"reasoning_effort":"low"`, ""},
		{
			"further fields", func(c *llm.Chat) {
				c.Extra = []llm.Extra{{Name: "top_k", Value: []byte("40")}, {Name: "provider", Value: []byte(`{"order": ["a"]}`)}}
			},
			`"top_k":40,"provider":{"order":["a"]}}`, "",
		},
		{"and elsewhere", func(c *llm.Chat) { c.MaxTokens, c.Model = 9, "openai/gpt-5-nano" }, `"max_completion_tokens":9`, "max_tokens"},
		{"any JSON", func(c *llm.Chat) { c.Format = llm.Format{JSON: true} }, `"response_format":{"type":"json_object"}`, ""},
		{
			"a schema", func(c *llm.Chat) {
				c.Format = llm.Format{Name: "answer", Schema: schema, Strict: true, JSON: true}
			},
			`"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"},"strict":true}}`, "",
		},
		{"stream", func(c *llm.Chat) { c.Stream = true }, `"stream_options":{"include_usage":true}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fake := &script{answers: []reply{wrote("x")}}
			c := hello()
			c.Header = http.Header{"Authorization": {"Bearer k"}, "X-A": {"b"}}
			tt.change(&c)
			row, _ := stage{}.chat(t, models(t, fake, LLMConfig{}), c, nil)
			if row.Outcome != engine.OK {
				t.Fatal(row.Error)
			}
			r := fake.requests()[0]
			if !strings.Contains(r.body, tt.want) || tt.not != "" && strings.Contains(r.body, `"`+tt.not+`"`) {
				t.Errorf("sent %s\nwant %s, not %s", r.body, tt.want, tt.not)
			}
			if r.url != "http://model.example/v1/chat/completions" || r.header.Get("Authorization") != "Bearer k" || r.header.Get("X-A") != "b" ||
				r.header.Get("Content-Type") != "application/json" || r.header.Get("Idempotency-Key") != "" {
				t.Errorf("sent to %s with %v", r.url, r.header)
			}
		})
	}
}

// TestCompletionIsReplayed takes each kind of result from the journal, and checks that nothing is sent and that the
// result is the same.
func TestCompletionIsReplayed(t *testing.T) {
	for name, answers := range map[string][]reply{
		"ok": {wrote("Hello.")}, "after a failure": {{status: 500}, wrote("Hello.")}, "bad": {ok200("?")}, "an error": {ok200(`{"error":{"message":"m"}}`)},
		"401": {{status: 401, body: "who?"}}, "500": {{status: 500}}, "reset": {{err: errReset}},
		"stream": {streamed(`{"choices":[{"delta":{"content":"Hello."}}]}`, "[DONE]")}, "broken stream": {streamed(`{"choices":[{"delta":{"content":"Hel"}}]}`)},
	} {
		synctest.Test(t, func(t *testing.T) {
			st := stage{journal: &enginetest.Journal{}}
			fake := &script{answers: answers}
			l := models(t, fake, LLMConfig{})
			c := hello()
			c.Stream = strings.Contains(name, "stream")
			before, first := st.chat(t, l, c, nil)
			intents, kept := enginetest.Of[engine.IntentRow](st.journal), enginetest.Of[engine.AnswerRow](st.journal)
			if len(intents) < 1 || len(intents) > len(fake.requests()) || len(kept) != 1 || intents[0].Hash != kept[0].Hash {
				t.Fatalf("%s: journaled %+v and %+v", name, intents, kept)
			}
			n := len(fake.requests())
			after, again := resumed(kept[0].Entry).chat(t, l, c, nil)
			if len(fake.requests()) != n || after.Class != before.Class || after.Error != before.Error || after.Steps[0].Label != engine.Replayed ||
				(first == nil) != (again == nil) || first != nil && !reflect.DeepEqual(*first, *again) || !reflect.DeepEqual(before.Steps[0].Usage, after.Steps[0].Usage) {
				t.Errorf("%s: %+v, then %+v\n%s\n%s", name, first, again, before.Error, after.Error)
			}
			left, _ := resumed(engine.Entry{Path: "step", Hash: intents[0].Hash}).chat(t, l, c, nil)
			if left.Steps[0].Label != engine.Resent || len(fake.requests()) == n {
				t.Errorf("%s: an intent without an answer is %v", name, left.Steps[0].Label)
			}
		})
	}
}

// TestPrivateAnswersAreNotSaid checks what errors and the journal contain of a private answer.
func TestPrivateAnswersAreNotSaid(t *testing.T) {
	for _, answer := range []reply{
		ok200(`{"choices":"hunter2"}`), ok200(`{"x":"hunter2"}`), ok200(`{"error":{"message":"hunter2"}}`),
		{status: 400, body: "hunter2"},
	} {
		synctest.Test(t, func(t *testing.T) {
			st := stage{journal: &enginetest.Journal{}}
			row, _ := st.chat(t, models(t, &script{answers: []reply{answer}}, LLMConfig{}), hello(), func(c *Call) { c.Private = true })
			kept := enginetest.Of[engine.AnswerRow](st.journal)[0]
			if !kept.Private || strings.Contains(row.Error+kept.Error, "hunter2") || row.Error == "" {
				t.Errorf("%s: %q, journaled %q", answer.body, row.Error, kept.Error)
			}
		})
	}
}

// TestACallThatIsCut checks that a cut call journals no answer, including a stream.
func TestACallThatIsCut(t *testing.T) {
	for _, stream := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			st := stage{journal: &enginetest.Journal{}}
			var err error
			row := st.play(t, func(s *engine.Session) {
				call := callOf(s, "step")
				call.Clock = call.Clock.Branch()
				defer call.Clock.Stop()
				gone := errors.New("gone")
				time.AfterFunc(time.Second, func() { call.Clock.Cancel(gone) })
				c := hello()
				c.Stream = stream
				_, err = models(t, &script{answers: []reply{{hangs: true}}}, LLMConfig{}).Chat(call, c)
				if !errors.Is(err, gone) {
					t.Errorf("error %v, want the cause of the end", err)
				}
				end(s, call, err)
			})
			if n := len(enginetest.Of[engine.AnswerRow](st.journal)); n > 0 || row.Outcome != engine.Failed {
				t.Errorf("%d answers, %v", n, row.Outcome)
			}
		})
	}
}
