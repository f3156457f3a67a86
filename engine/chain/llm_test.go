package chain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/prompt"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/service/llm"
)

// TestLLMSteps checks the result of an llm step for each kind of answer.
func TestLLMSteps(t *testing.T) {
	const shop = `step a: {kind: llm, service: model, prompt: "Shop, ${agent.id}?", answer: {shop: bool, why?: string}, retry: {attempts: 2, wait: 0}`
	const state = "\nstep b: {kind: emit, event: e, data: \"${steps.a}\"}"
	const full = shop + ", fallback: other, otherwise: '{\"shop\": False}'}" + state
	tests := []struct {
		name    string
		steps   string
		answers []string
		records string // of a, with attempts and statuses
		result  string // the event, or the error
		who     string
	}{
		{"a text", `step a: {kind: llm, service: model, prompt: hi}` + state, []string{"Hello."}, "ok 1 [200]", `e={"text":"Hello.","model":"m1"}`, "m1"},
		{"a document", shop + "}" + state, []string{`{"shop":true}`}, "ok 1 [200]", `e={"shop":true}`, "m1"},
		{"with a part that is null", shop + "}" + state, []string{`{"shop":true,"why":null}`}, "ok 1 [200]", `e={"shop":true,"why":null}`, "m1"},
		{"with words around it", shop + "}" + state, []string{"Sure {I think}:\n```json\n{\"shop\":true}\n```\nBye {}"}, "ok 1 [200]", `e={"shop":true}`, "m1"},
		{"behind thoughts", shop + "}" + state, []string{"<think>Is it {\"shop\":false, \"why\":\"rain\"}?</think>\n{\"shop\":true}"}, "ok 1 [200]", `e={"shop":true}`, "m1"},
		{"with thoughts in it", shop + "}" + state, []string{`{"shop":true,"why":"</think>{}"}`}, "ok 1 [200]", `e={"shop":true,"why":"</think>{}"}`, "m1"},
		{"in pieces", shop + ", stream: true}" + state, []string{`{"shop": true} and so on`}, "ok 1 [200]", `e={"shop":true}`, "m1"},
		{"bad once", shop + "}" + state, []string{"yes", `{"shop":true}`}, "ok 2 [200 200]", `e={"shop":true}`, "m1 m1"},
		{"429 between", shop + "}" + state, []string{"429", "yes", "429", `{"shop":true}`}, "ok 2 [429 200 429 200]", `e={"shop":true}`, "m1 m1 m1 m1"},
		{"500 once", shop + "}" + state, []string{"500", `{"shop":true}`}, "ok 2 [500 200]", `e={"shop":true}`, "m1 m1"},
		{"a second model", shop + "}" + state, []string{"404 no m1", `{"shop":true}`}, "ok 2 [404 200] client_error", `e={"shop":true}`, "m1 m2"},
		{
			"a second service", full,
			[]string{"yes", "no", "401", `{"shop":true}`},
			"ok 4 [200 200 401 200] bad_answer", `e={"shop":true}`, "m1 m1 m2 m3",
		},
		{"what depends on timing counts", full, []string{"404", "500", "500", `{"shop":true}`}, "ok 4 [404 500 500 200] server_error", `e={"shop":true}`, "m1 m2 m2 m3"},
		{"the first that does", full, []string{"cut", "cut", "500", "500", `{"shop":true}`}, "ok 5 [500 500 200] network", `e={"shop":true}`, "m1 m1 m2 m2 m3"},
		{"no model", full, []string{"404"}, "ok 3 [404 404 404] client_error", `e={"shop":false}`, "m1 m2 m3"},
		{"no model, by timing", full, []string{"404", "503", "503", "404"}, "ok 4 [404 503 503 404] server_error", `e={"shop":false}`, "m1 m2 m2 m3"},
		{"no model fits", full, []string{`{"shop":1}`}, "ok 6 [200 200 200 200 200 200] bad_answer", `e={"shop":false}`, "m1 m1 m2 m2 m3 m3"},
		{"no model, and nothing instead", shop + "}" + state, []string{"404 gone"}, "failed 2 [404 404] client_error", `status 404: "gone"`, "m1 m2"},
		{"a default", shop + ", default: {shop: 7}}" + state, []string{"404 gone"}, "failed 2 [404 404] client_error", `e={"shop":7}`, "m1 m2"},
		{"does not fit", shop + "}" + state, []string{`{"shop":"yes"}`}, "failed 4 [200 200 200 200] bad_answer", "shop: got string, want boolean", "m1 m1 m2 m2"},
		{"an empty text", `step a: {kind: llm, service: other, prompt: hi, retry: {attempts: 2, wait: 0}}` + state, []string{"", "x"}, "ok 2 [200 200]", `e={"text":"x","model":"m3"}`, "m3 m3"},
		{"what stands in does not fit", shop + ", otherwise: '{\"shop\": agent.index + 1}'}" + state, []string{"404"}, "failed 2 [404 404] script", "otherwise does not fit the answer: shop: got number, want boolean", "m1 m2"},
		{"and is not text", `step a: {kind: llm, service: other, prompt: hi, otherwise: agent.index + 3}` + state, []string{"404"}, "failed 1 [404] script", "otherwise returns int, but the step needs a text", "m3"},
		{"a text stands in", `step a: {kind: llm, service: other, prompt: hi, otherwise: '"no"'}` + state, []string{"404"}, "ok 1 [404] client_error", `e={"text":"no","model":""}`, "m3"},
		{"no agent asks", shop + ", share: 0, otherwise: '{\"shop\": True}'}" + state, nil, "ok 0 []", `e={"shop":true}`, ""},
		{"an invalid share", shop + ", share: \"${agent.index + 3}\", otherwise: '{\"shop\": True}'}" + state, nil, "failed 0 [] script", "share is from 0 to 1, not 3", ""},
		{"an invalid role", `step a: {kind: llm, service: other, messages: [{role: "${agent.id}", content: x}]}`, nil, "failed 0 [] script", `the role of a message is one of system, developer, user, assistant, not "a0"`, ""},
		{"a script that fails is not stood in for", `step a: {kind: llm, service: other, prompt: "${[][0]}", otherwise: '"no"'}`, nil, "failed 0 [] script", "out of range", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := says(tt.answers...)
			row := stage{steps: tt.steps, more: o.models(t)}.one(t)
			rec := row.Steps[0]
			got := strings.TrimSpace(fmt.Sprintf("%v %d %v %v", rec.Status, rec.Attempts, rec.Statuses, rec.Class))
			result := events(&row)
			if row.Outcome != engine.OK {
				result = row.Error
			}
			if got != tt.records || !strings.Contains(result, tt.result) || o.who() != tt.who {
				t.Errorf("%s\n%s\nasked %s\nwant %s\n%s\nasked %s", got, result, o.who(), tt.records, tt.result, tt.who)
			}
			if strings.Contains(row.Error, "hunter2") {
				t.Errorf("the error contains the key: %s", row.Error)
			}
			if u := rec.Usage; u != nil && u.Input != 5*u.Calls && u.Estimated == 0 {
				t.Errorf("usage %+v", u)
			}
		})
	}
}

// TestWhatIsAsked checks the contents of requests, and how each service is asked for a structured answer.
func TestWhatIsAsked(t *testing.T) {
	o := says(`{"mood":"good"}`)
	more := o.models(t)
	for _, way := range []Answers{answersBySchema, answersJSON, answersText} {
		more[0].Answers = way
		row := stage{more: more, steps: `
step a:
  kind: llm
  service: model
  system: You are ${agent.id}.
  messages: [{role: user, content: "${1 + 1}?"}, {role: assistant, content: Yes.}, {role: "${'us' + 'er'}", content: Sure?}]
  answer: {mood: [good, bad], more?: {sizes: list}}
  temperature: ${params.n / 10}
  max_tokens: 99
`}.one(t)
		if row.Outcome != engine.OK {
			t.Fatal(row.Error)
		}
		q := o.asked()[way]
		var all []string
		for _, m := range q.Messages {
			all = append(all, m.Role+":"+m.Content)
		}
		talk := "system:You are a0. user:2? assistant:Yes. user:Sure?"
		got := strings.Join(all, " ")
		if !strings.HasSuffix(got, talk) || q.Temperature != 0.3 || q.MaxTokens != 99 || q.auth != "Bearer sk-hunter2" || q.Seed == 0 {
			t.Errorf("%v: %+v", way, q)
		}
		const schema = `{"additionalProperties":false,"properties":{"mood":{"enum":["good","bad"],"type":"string"},` +
			`"more":{"anyOf":[{"additionalProperties":false,"properties":{"sizes":{"items":{"type":"string"},"type":"array"}},"required":["sizes"],` +
			`"type":"object"},{"type":"null"}]}},"required":["mood","more"],"type":"object"}`
		switch way {
		case answersBySchema:
			if q.Format.Type != "json_schema" || string(q.Format.JSONSchema.Schema) != schema || !q.Format.JSONSchema.Strict || got != talk {
				t.Errorf("format %+v, %s", q.Format, got)
			}
		case answersJSON, answersText:
			if (q.Format.Type == "json_object") != (way == answersJSON) || !strings.HasPrefix(got, "system:Answer with one JSON document") || !strings.Contains(got, schema) {
				t.Errorf("format %+v, %s", q.Format, got)
			}
		}
	}
	if all := o.asked(); all[0].Seed != all[1].Seed {
		t.Error("the seed of a request is not that of the step")
	}
}

// TestModelSeesItsError checks that a model is shown its error when asked again, at bounded length.
func TestModelSeesItsError(t *testing.T) {
	o := says(`{"shop":"yes"}`, "", strings.Repeat("é", prompt.MaxRepeated), `{"shop":true}`)
	row := stage{steps: `step a: {kind: llm, service: model, prompt: Shop?, answer: {shop: bool}}`, more: o.models(t)}.one(t)
	if row.Outcome != engine.OK {
		t.Fatal(row.Error)
	}
	all := o.asked()
	if len(all) != 4 {
		t.Fatalf("asked %d times", len(all))
	}
	for i, want := range []struct {
		messages int
		last     string
	}{
		{1, "Shop?"},
		{3, "That does not fit: shop: got string, want boolean. Answer again, with nothing but the JSON document."},
		{4, "That does not fit: the answer is empty. Answer again, with nothing but the JSON document."},
		{6, "That does not fit: "},
	} {
		if q := all[i]; len(q.Messages) != want.messages || !strings.HasPrefix(q.last(), want.last) || len(q.last()) > 1000 {
			t.Errorf("request %d: %d messages, the last %.300q; want %d, %q", i, len(q.Messages), q.last(), want.messages, want.last)
		}
	}
	if m := all[3].Messages[4]; m.Role != "assistant" || len(m.Content) > prompt.MaxRepeated {
		t.Errorf("%s got %d bytes of it", m.Role, len(m.Content))
	}
	for i, q := range all {
		if slices.ContainsFunc(all[:i], func(other asking) bool { return other.Seed == q.Seed }) {
			t.Errorf("request %d has the seed of another", i)
		}
	}
	if u := row.Steps[0].Usage; *u != (engine.Usage{Calls: 4, Input: 20, Output: 8, Cost: 28_000}) {
		t.Errorf("usage %+v", u)
	}
}

// TestAskingAgainWithoutAShape checks that a repeated request without a shape does not mention a JSON document.
func TestAskingAgainWithoutAShape(t *testing.T) {
	o := says("", "Hello.")
	stage{steps: `step a: {kind: llm, service: model, prompt: Say hello.}`, more: o.models(t)}.one(t)
	if q := o.asked()[1]; q.last() != "That does not fit: the answer is empty. Answer again." || len(q.Messages) != 2 {
		t.Errorf("%+v", q.Messages)
	}
}

// TestFormsThatAreRefused checks that a service that rejects the response format is asked again in plain text within
// the same call, which counts as one attempt, and in plain text from then on.
func TestFormsThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		way      Answers
		refusal  string
		statuses []int
		want     string // in the error; "" is that there is an answer
	}{
		{answersBySchema, `400 {"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."}}`, []int{400, 200}, ""},
		{answersJSON, "422 no json_object", []int{422, 200}, ""},
		{answersText, "400 no response_format", []int{400}, `format"`}, // it was not asked for
		{answersBySchema, "400 too long", []int{400}, `too long"`},
		{answersBySchema, "500 no response_format", []int{500}, `format"`},
	} {
		o := &oracle{}
		o.answer = func(q asking) (int, string) {
			status := 0
			if _, err := fmt.Sscan(tt.refusal, &status); err != nil {
				t.Error(err)
			}
			if tt.want != "" || q.Format.Type != "" {
				return status, tt.refusal[4:]
			}
			return 200, `Here it is: {"n": 3}`
		}
		more := o.models(t)
		more[1].Answers = tt.way
		row := stage{steps: "step a: {kind: llm, service: other, prompt: hi, answer: {n: int}, retry: {attempts: 1}}", more: more}.one(t)
		if (row.Error == "") != (tt.want == "") || !strings.HasSuffix(row.Error, tt.want) || !slices.Equal(row.Steps[0].Statuses, tt.statuses) || row.Steps[0].Attempts != 1 {
			t.Errorf("%v, %s: %v, %s", tt.way, tt.refusal, row.Steps[0].Statuses, row.Error)
		}
		if last := o.asked()[len(o.asked())-1]; tt.want == "" && (last.Format.Type != "" || !strings.Contains(last.Messages[0].Content, "JSON")) {
			t.Errorf("%v: asked %s", tt.way, last.body)
		}
	}
}

// TestFurtherFields checks that extra fields of a step override those of its service, and that the cache distinguishes
// them.
func TestFurtherFields(t *testing.T) {
	o := says("ok")
	more := o.models(t)
	more[0].Effort, more[0].Extra = "high", []llm.Extra{{Name: "top_k", Value: []byte("40")}, {Name: "user", Value: []byte(`"all"`)}}
	stage{steps: `
step a: {kind: llm, service: model, prompt: hi, max_completion_tokens: 9, reasoning_effort: low, extra: {top_k: "${1 + 2}", provider: {order: [x]}}}
step b: {kind: llm, service: model, prompt: hi}
step c: {kind: llm, service: model, prompt: hi, cache: {k: "1"}, extra: {top_p: 0.5}}
step d: {kind: llm, service: model, prompt: hi, cache: {k: "1"}, extra: {top_p: "${0.25 * k}"}}
`, more: more}.one(t)
	for i, want := range []string{
		`"max_completion_tokens":9,"seed":`, `"reasoning_effort":"high","top_k":40,"user":"all"}`, `"top_p":0.5,"top_k":40,"user":"all"}`, `"top_p":0.25,"top_k":40,"user":"all"}`,
	} {
		if got := o.asked()[i].body; !strings.Contains(got, want) {
			t.Errorf("step %d sent %s, want %s", i, got, want)
		}
	}
	if got, want := o.asked()[0].body, `"reasoning_effort":"low","top_k":3,"provider":{"order":["x"]},"user":"all"}`; !strings.HasSuffix(got, want) {
		t.Errorf("sent %s, want %s", got, want)
	}
}

// TestShare checks that the share of agents that send a request is the same in each cycle, in each run, and in any
// order.
func TestShare(t *testing.T) {
	const agents, share = 400, 0.3
	who := func(seed uint64, parallel bool) (all []int) {
		o := says(`{"shop":true}`)
		rows := stage{
			steps: `
step a: {kind: llm, service: model, prompt: "${agent.id}", share: "${params.n / 10}", answer: {shop: bool}, otherwise: '{"shop": False}'}
step b: {kind: emit, event: e, data: "${steps.a.shop}"}
`, more: o.models(t), agents: agents, change: func(s *engine.Settings) {
				s.Seed = seed
				if s.Limit = 1; parallel {
					s.Limit = 50
				}
			},
		}.run(t)
		for _, row := range rows {
			if events(&row) == "e=true" {
				all = append(all, row.Agent)
			}
			if asks := row.Steps[0].Attempts > 0; asks != (events(&row) == "e=true") {
				t.Fatalf("agent %d: %+v, %s", row.Agent, row.Steps[0], events(&row))
			}
		}
		slices.Sort(all)
		if n := len(all); n != len(o.asked()) || n < agents*share*0.75 || n > agents*share*1.25 {
			t.Errorf("%d of %d asked, %d requests", n, agents, len(o.asked()))
		}
		return all
	}
	first := who(1, false)
	if again := who(1, true); !slices.Equal(first, again) {
		t.Errorf("the same seed: %v, then %v", first, again)
	}
	if slices.Equal(first, who(2, true)) {
		t.Error("another seed has others ask no others")
	}
}

// TestPrivateCompletions checks that a private answer appears in none of a session's texts, except that the model sees
// it when asked again.
func TestPrivateCompletions(t *testing.T) {
	for _, answers := range [][]string{{`{"pin":"1234"}`}, {"1234"}, {"400 1234"}, {`{"pin":7}`, "500 1234"}} {
		o := says(answers...)
		journal := &enginetest.Journal{}
		row := stage{
			steps:   `step a: {kind: llm, service: other, prompt: PIN?, answer: {pin: int}, private: true, retry: {attempts: 2, wait: 0}}`,
			more:    o.models(t),
			journal: journal,
		}.one(t)
		if strings.Contains(row.Error, "1234") {
			t.Errorf("%v: the error is %s", answers, row.Error)
		}
		for _, a := range enginetest.Of[engine.AnswerRow](journal) {
			if !a.Private || strings.Contains(a.Error, "1234") {
				t.Errorf("%v: journaled %+v", answers, a.Entry)
			}
		}
	}
}

// TestInexactByModels checks which failures mark a run's result as dependent on timing, even if a default replaced the
// answer.
func TestInexactByModels(t *testing.T) {
	for answers, want := range map[string]bool{"404": false, "yes": true, "500": true, "cut": true} {
		o := says(answers)
		row := stage{
			steps: `step a: {kind: llm, service: other, prompt: hi, answer: {a: int}, otherwise: '{"a": 1}', retry: {attempts: 2, wait: 0}}`,
			more:  o.models(t),
		}.one(t)
		var totals engine.Totals
		totals.Add(&row)
		if got := totals.Inexact != nil; row.Outcome != engine.OK || got != want {
			t.Errorf("%s: inexact %v, want %v: %s", answers, totals.Inexact, want, row.Error)
		}
	}
}

// TestRepeatedQuestionsHoldNoMemory checks that the long answers to questions that were asked again hold no memory once their step has
// ended.
func TestRepeatedQuestionsHoldNoMemory(t *testing.T) {
	var answers []string
	for range 40 {
		answers = append(answers, "no", strings.Repeat("so ", 100_000)+`{"shop":true}`)
	}
	row := stage{
		steps: `step all: {kind: for, each: range(40), as: i, do: {step a: {kind: llm, service: model, prompt: "Shop, ${i}?", answer: {shop: bool}}}}`,
		more:  says(answers...).models(t), memory: 64 << 20,
	}.one(t)
	if row.Outcome != engine.OK {
		t.Error(row.Error)
	}
}
