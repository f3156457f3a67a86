package service

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/engine/service/redact"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// line formats an exchange as one line.
func line(e *engine.Exchange) string {
	return fmt.Sprintf("%d.%d %s#%d %s: %s [%s] %d [%s] %s", e.Cycle, e.Agent, e.Path, e.Attempt, e.Service, e.Request, e.Sent, e.Status, e.Answer, e.Error)
}

func toldAll(all []engine.Exchange) (lines []string) {
	for i := range all {
		lines = append(lines, line(&all[i]))
	}
	return lines
}

// TestTraces checks the trace of each attempt of a call, with a refusal between them.
func TestTraces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := client(t, &script{answers: []reply{{status: 500, body: "no"}, {err: errReset}, {status: 429}, {status: 201, body: "made", after: time.Second}}}, Limits{})
		var all []engine.Exchange
		stage{tracer: func(e engine.Exchange) { all = append(all, e) }}.play(t, func(s *engine.Session) {
			call := callOf(s, "step")
			_, err := h.Do(call, Request{Method: "POST", Target: must(t, "/x?a=1"), Body: []byte(`{"n": 1}`)})
			end(s, call, err)
		})
		want := []string{
			`0.0 step#1 shop: POST /base/x?a=1 [{"n": 1}] 500 [no] `,
			`0.0 step#2 shop: POST /base/x?a=1 [{"n": 1}] 0 [] connection reset by peer`,
			`0.0 step#3 shop: POST /base/x?a=1 [{"n": 1}] 429 [] `,
			`0.0 step#3 shop: POST /base/x?a=1 [{"n": 1}] 201 [made] `,
		}
		if got := toldAll(all); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if took := all[len(all)-1].Took; took != time.Second {
			t.Errorf("the last took %v", took)
		}
	})
}

// TestTracesHoldNoSecrets checks that traces do not contain the service's secrets in any spelling, values whose names
// look like secrets, or anything of a private call.
func TestTracesHoldNoSecrets(t *testing.T) {
	const canary = "canary/1234&5678"
	body := fmt.Sprintf(`{"user": "ada", "password": "mine\"%s", "refreshToken":"other-one", "note": "%s", "max_tokens": 5}`, "own-word", canary)
	for _, private := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := client(t, &script{answers: []reply{{status: 400, body: "you sent canary%2F1234%265678 and " + canary + strings.Repeat(" ", 3000) + canary}}}, Limits{})
			var all []engine.Exchange
			stage{tracer: func(e engine.Exchange) { all = append(all, e) }}.play(t, func(s *engine.Session) {
				call := callOf(s, "step")
				call.Secrets, call.Private = redact.Spellings(canary), private
				_, err := h.Do(call, Request{Method: "POST", Target: must(t, "/x?api_key=abcdef&q=tea"), Body: []byte(body)})
				end(s, call, err)
			})
			if len(all) != 1 {
				t.Fatalf("got %d traces", len(all))
			}
			text := line(&all[0])
			for _, secret := range []string{canary, "canary%2F", "own-word", "other-one", "abcdef"} {
				if strings.Contains(text, secret) {
					t.Errorf("private %v: %s is in %s", private, secret, text)
				}
			}
			if shows := strings.Contains(text, `"max_tokens": 5`) && strings.Contains(text, "q=tea") && strings.Contains(text, "ada"); shows == private {
				t.Errorf("private %v: got %s", private, text)
			}
		})
	}
}

// TestShown checks that bodies are shown only if they are readable.
func TestShown(t *testing.T) {
	long := strings.Repeat("ä", 100<<10)
	for _, tt := range []struct{ body, want string }{
		{"", ""},
		{"{}", "{}"},
		{"a\nb\t", "a\nb\t"},
		{"\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", 990), "binary data, 998 B"},
		{"bell\a", "binary data, 5 B"},
		{long, strings.Repeat("ä", mostShown/2) + "… 205 kB in all"},
		{"grant_type=x&client_secret=abc&scope=y", "grant_type=x&client_secret=…&scope=y"},
		{`{"tokens": ["a"], "password": "cut`, `{"tokens": ["a"], "password": "…"`},
	} {
		if got := Shown([]byte(tt.body), len(tt.body)); got != tt.want {
			t.Errorf("%.60q: got %.80q, want %.80q", tt.body, got, tt.want)
		}
	}
}

// TestMasked checks texts that are not from a service.
func TestMasked(t *testing.T) {
	for text, want := range map[string]string{
		`{"pin": 1, "password": "abc"}`: `{"pin": 1, "password": "…"}`, "short": "short", strings.Repeat("x", 41): strings.Repeat("x", 40) + "… 41 B in all",
		`"{\"password\": \"a\\\"b\\n\", \"n\": \"c\"}"`: `"{\"password\": \"…\", \"n\": \"c\"}"`,
		strings.Repeat(`{"password": "abc"}`, 1000):     strings.Repeat(`{"password": "…"}`, 3)[:40] + "… 19 kB in all",
	} {
		if got := Masked(text, 40); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestTracesOfModels checks that a trace names the model and shows the text of a stream.
func TestTracesOfModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := models(t, &script{answers: []reply{streamed(said("Hel"), said("lo."), stopped, usageEvent, "[DONE]")}}, LLMConfig{})
		c := hello()
		c.Stream = true
		var all []engine.Exchange
		stage{tracer: func(e engine.Exchange) { all = append(all, e) }}.chat(t, l, c, nil)
		if len(all) != 1 || all[0].Request != c.Model || all[0].Answer != "Hello." || !strings.Contains(all[0].Sent, `"messages"`) {
			t.Errorf("got %s", toldAll(all))
		}
	})
}

// TestTracesOfStatements checks that a trace shows the statement and its args.
func TestTracesOfStatements(t *testing.T) {
	p, address := serverOf(t, pgtest.Shared(t), database.Limits{})
	execute(t, address, "create table t (name text, tag text)")
	var all []engine.Exchange
	st := stage{tracer: func(e engine.Exchange) { all = append(all, e) }}
	p.ask(t, st, sql(t, "insert into t values ($1, $2)", "Ada", nil), nil)
	p.ask(t, st, sql(t, "select name from t"), nil)
	p.ask(t, st, sql(t, "select nothing from t where name = $1", "word"), func(c *Call) { c.Private = true })
	want := []string{
		`0.0 step#1 db: insert into t values ($1, $2) [["Ada", null]] 0 [{"count":1,"rows":[]}] `,
		`0.0 step#1 db: select name from t [] 0 [{"count":1,"rows":[{"name":"Ada"}]}] `,
		`0.0 step#1 db: select nothing from t where name = $1 [private, not shown] 0 [] SQLSTATE 42703`,
	}
	if got := toldAll(all); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestFailuresAreKept checks that traces of failures are kept, also for agents that are not watched.
func TestFailuresAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := client(t, &script{answers: []reply{ok200("fine"), {status: 404, body: "gone"}}}, Limits{})
		var got []string
		stage{after: func(r *run.Run) { got = toldAll(r.Exchanges(0)) }}.play(t, func(s *engine.Session) {
			for i := range 2 {
				call := callOf(s, fmt.Sprint("step", i))
				_, err := h.Do(call, Request{Method: http.MethodGet, Target: must(t, "/x")})
				end(s, call, err)
			}
		})
		if want := []string{"0.0 step1#1 shop: GET /base/x [] 404 [gone] "}; !slices.Equal(got, want) {
			t.Errorf("kept %v, want %v", got, want)
		}
	})
}

// TestTracingCostsNothing checks that there is no allocation without a tracer.
func TestTracingCostsNothing(t *testing.T) {
	h := client(t, &script{}, Limits{})
	stage{}.play(t, func(s *engine.Session) {
		call := callOf(s, "step")
		r := h.request(&Request{Method: http.MethodGet, Target: must(t, "/x")})
		ended := attempted{answer: &Answer{Status: 200, Body: []byte("{}")}}
		if n := testing.AllocsPerRun(100, func() { h.transport.trace(r, call, &ended) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		end(s, call, nil)
	})
}
