package view

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func TestStepSections(t *testing.T) {
	s := engine.TrialStep{
		Status: engine.StepFailed, Class: engine.ServerError, Took: 12 * time.Millisecond, Attempts: 2, Retries: 1, Output: `{"a":1}`, Error: "status 500",
		Exchanges: []engine.Exchange{
			{Service: "shop", Request: "POST /x", Headers: "Host: h", Sent: `{"messages": [{"role": "user", "content": "Hello\nyou"}]}`, Attempt: 1, Took: time.Millisecond, Error: "reset"},
			{Service: "shop", Request: "POST /x", Attempt: 2, Took: time.Millisecond, Status: 500, Answer: strings.Repeat("x", 100)},
		},
		Usage: &engine.Usage{Calls: 1, Input: 10, Output: 2, Cost: 1500},
	}
	if got, want := StepSummary(&s), "failed (server_error), 12 ms, 1 retry, 1 model call, 10 tokens in, 2 out, $0.000002"; got != want {
		t.Errorf("about %q, want %q", got, want)
	}
	var titles []string
	for _, section := range StepSections(&s) {
		titles = append(titles, section.Title)
	}
	want := "Request to shop: POST /x|No answer after 1 ms: reset|Request to shop: POST /x, attempt 2|Answer 500 after 1 ms|Error|Output"
	if got := strings.Join(titles, "|"); got != want {
		t.Errorf("titles %q\nwant %q", got, want)
	}
	if got := StepSections(&s)[0].Text; got != "Host: h\n\nuser: Hello\nyou" {
		t.Errorf("sent %q", got)
	}
	s.Private, s.Exchanges, s.Error = true, nil, ""
	if got := StepSections(&s); len(got) != 1 || got[0].Text != "private, not shown" {
		t.Errorf("a private step: %v", got)
	}
}

func TestReadable(t *testing.T) {
	long := `{"name": "` + strings.Repeat("x", 80) + `", "list": [1]}`
	for text, want := range map[string]string{
		`{"a":1}`:            `{"a":1}`,
		"plain":              "plain",
		"":                   "",
		"{" + long:           "{" + long,
		long:                 "{\n  \"name\": \"" + strings.Repeat("x", 80) + "\",\n  \"list\": [\n    1\n  ]\n}",
		`{"messages": "no"}`: `{"messages": "no"}`,
	} {
		if got := Readable(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestTrialResults(t *testing.T) {
	trial := engine.Trial{
		Events: []engine.TrialEvent{{Path: "a.b", Name: "order", Data: "1"}}, Said: []engine.TrialMessage{{To: []string{"ann"}, More: 3, Body: `"hi"`}}, Usage: engine.Usage{Calls: 1, Unpriced: 1},
		After: engine.Remembered{Fields: []engine.Fact{{Name: "n", Value: "2"}}, Inbox: []engine.InboxMessage{{Body: `"x"`}}},
	}
	var all []string
	for _, s := range TrialResults(&trial) {
		all = append(all, s.Title+"="+s.Text)
	}
	want := `Event order of a.b=1|Message to ann and 3 more="hi"|Memory after the session=n: 2|Inbox after the session=cycle 0, from outside: "x"|Cost=1 model call, 0 tokens in, 0 out, at an unknown price`
	if got := strings.Join(all, "|"); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
