package service

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// resumed returns a stage whose journal contains a prefix of its only session.
func resumed(prefix ...engine.Entry) stage {
	return stage{journal: &enginetest.Journal{}, resume: &engine.Resumption{Prefixes: map[int]engine.Prefix{0: prefix}}}
}

func TestReplay(t *testing.T) {
	post := Request{Method: "POST", Target: Target{path: "/x"}, Body: []byte("body")}
	hash := post.hash()
	answered := engine.Entry{
		Path: "step", Hash: hash, Attempts: 2, Statuses: []int{500, 201},
		Output: encodeAnswer(&Answer{Status: 201, Header: http.Header{"Etag": {"7"}}, Body: []byte("made")}),
	}
	with := func(change func(*engine.Entry)) engine.Entry { e := answered; change(&e); return e }
	intent := engine.Entry{Path: "step", Hash: hash}
	tests := []struct {
		name     string
		entry    engine.Entry
		change   func(*Call)
		answer   reply
		class    engine.Class
		label    engine.Label
		attempts int
		requests int
		journals int // answers
	}{
		{"answer", answered, nil, reply{}, engine.NoError, engine.Replayed, 2, 0, 0},
		{"answer that is not expected", answered, func(c *Call) { c.Expect = []int{200} }, reply{}, engine.ClientError, engine.Replayed, 2, 0, 0},
		{
			"failure", with(func(e *engine.Entry) {
				e.Status, e.Class, e.Error, e.Output = engine.StepFailed, engine.Network, "reset", nil
			}),
			nil,
			reply{},
			engine.Network, engine.Replayed, 2, 0, 0,
		},
		{"another request", with(func(e *engine.Entry) { e.Hash++ }), nil, reply{}, engine.ConfigError, engine.Fresh, 0, 0, 0},
		{"another request's intent", engine.Entry{Path: "step", Hash: hash + 1}, nil, reply{}, engine.ConfigError, engine.Fresh, 0, 0, 0},
		{"damaged", with(func(e *engine.Entry) { e.Output = []byte("?") }), nil, reply{}, engine.ConfigError, engine.Replayed, 2, 0, 0},
		{"intent", intent, nil, ok200("made"), engine.NoError, engine.Unconfirmed, 1, 1, 1},
		{
			"intent of what was done", intent, nil,
			reply{status: 201, header: map[string]string{"Idempotency-Replayed": "true"}},
			engine.NoError, engine.Confirmed, 1, 1, 1,
		},
		{"intent of what must not be sent twice", intent, once, ok200(""), engine.Network, engine.NotRepeated, 1, 0, 1},
		{"another step's", engine.Entry{Path: "other", Hash: hash}, nil, ok200(""), engine.NoError, engine.Fresh, 1, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := resumed(tt.entry)
			fake := &script{answers: []reply{tt.answer}}
			h := client(t, fake, Limits{})
			var answer *Answer
			row := st.play(t, func(s *engine.Session) {
				c := callOf(s, "step")
				if tt.change != nil {
					tt.change(c)
				}
				var err error
				answer, err = h.Do(c, post)
				end(s, c, err)
			})
			got := row.Steps[0]
			if row.Class != tt.class || got.Label != tt.label || got.Attempts != tt.attempts || len(fake.requests()) != tt.requests {
				t.Errorf("class %q, label %v, %d attempts, %d requests; want %q, %v, %d, %d: %s",
					row.Class, got.Label, got.Attempts, len(fake.requests()), tt.class, tt.label, tt.attempts, tt.requests, row.Error)
			}
			if n := len(enginetest.Of[engine.AnswerRow](st.journal)); n != tt.journals {
				t.Errorf("%d answers journaled, want %d", n, tt.journals)
			}
			if tt.name == "answer" && (string(answer.Body) != "made" || answer.Header.Get("Etag") != "7" || !slices.Equal(got.Statuses, []int{500, 201})) {
				t.Errorf("the answer is %+v, statuses %v", answer, got.Statuses)
			}
		})
	}
}

// TestObservedGoesWithTheNextIntent checks that the answer of a GET is journaled with the next intent, or not at all.
func TestObservedGoesWithTheNextIntent(t *testing.T) {
	st := stage{journal: &enginetest.Journal{}}
	h := client(t, &script{answers: []reply{ok200("a"), {status: 404}, {status: 201}, ok200("d")}}, Limits{})
	st.play(t, func(s *engine.Session) {
		var err error
		for _, step := range []struct{ path, method string }{{"a", "GET"}, {"b", "GET"}, {"c", "POST"}, {"d", "GET"}} {
			c := callOf(s, step.path)
			_, err = h.Do(c, Request{Method: step.method, Target: Target{path: "/"}})
		}
		end(s, callOf(s, "e"), err)
	})
	intents := enginetest.Of[engine.IntentRow](st.journal)
	if len(intents) != 1 || intents[0].Path != "c" {
		t.Fatalf("intents %+v", intents)
	}
	var earlier []string
	for _, e := range intents[0].Earlier {
		earlier = append(earlier, e.Path)
	}
	if !slices.Equal(earlier, []string{"a", "b"}) {
		t.Errorf("with the intent came %v", earlier)
	}
}

// TestOvertimeIsReplayed checks that a step that timed out is not sent again.
func TestOvertimeIsReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := stage{journal: &enginetest.Journal{}}
		fake := &script{answers: []reply{{hangs: true}}}
		h := client(t, fake, Limits{})
		try := func(s *engine.Session) {
			c := callOf(s, "loop[0].step")
			c.Clock = c.Clock.Child(time.Second, &Overtime{Path: "loop", Limit: time.Second})
			defer c.Clock.Stop()
			_, err := h.Do(c, Request{Method: "POST", Target: Target{path: "/"}})
			var limit *Overtime
			if !errors.As(err, &limit) || limit.Path != "loop" || limit.Limit != time.Second || err.Error() != "step timed out after 1 s" {
				t.Errorf("error %v", err)
			}
			end(s, c, err)
		}
		st.play(t, try)
		answers := enginetest.Of[engine.AnswerRow](st.journal)
		if len(answers) != 1 || answers[0].Status != engine.StepTimedOut {
			t.Fatalf("answers %+v", answers)
		}
		resumed(answers[0].Entry).play(t, try)
		if n := len(fake.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestFailureOfADamagedTimeout(t *testing.T) {
	var step *engine.StepError
	if err := Failure(engine.Entry{Path: "x", Status: engine.StepTimedOut, Output: []byte("?")}); !errors.As(err, &step) || step.Class != engine.ConfigError {
		t.Errorf("error %v", err)
	}
}
