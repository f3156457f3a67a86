package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/service/tokenpath"
)

// loginOf returns the login of a test's agents.
func loginOf(t *testing.T, h *HTTP, path string) *Auth {
	t.Helper()
	at, err := tokenpath.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	return &Auth{
		Tokens: &Tokens{}, Header: "Authorization", Scheme: "Bearer",
		Issuer: &Login{
			Client: h, Token: at,
			Request: Request{Method: "POST", Target: must(t, "/auth/login"), Header: http.Header{"X-A": {"1"}}, Body: []byte("who")},
		},
	}
}

func gives(token string) reply { return ok200(`{"access_token": "` + token + `"}`) }

// lines returns the requests that a fake saw: method, path and credentials.
func (f *script) lines() string {
	var b strings.Builder
	for _, r := range f.requests() {
		fmt.Fprintf(&b, "%s %s %s\n", r.method, strings.TrimPrefix(r.url, "http://shop.example/base"), r.header.Get("Authorization"))
	}
	return strings.TrimSpace(b.String())
}

// TestLogin checks the requests and the outcome of one call of an agent without a token.
func TestLogin(t *testing.T) {
	const in = "POST /auth/login \n"
	denied := reply{status: 401, body: "no"}
	tests := []struct {
		name     string
		answers  []reply
		change   func(*Call)
		sent     string
		class    engine.Class
		attempts int
		statuses []int
		says     string
	}{
		{"ok", []reply{gives("t1"), ok200("x")}, nil, in + "POST /x Bearer t1", engine.NoError, 1, []int{200}, ""},
		{
			"again on 401",
			[]reply{gives("t1"), denied, gives("t2"), ok200("x")},
			nil,
			in + "POST /x Bearer t1\n" + in + "POST /x Bearer t2", engine.NoError, 1,
			[]int{401, 200},
			"",
		},
		{
			"once",
			[]reply{gives("t1"), denied, gives("t2"), denied},
			nil,
			in + "POST /x Bearer t1\n" + in + "POST /x Bearer t2", engine.ClientError, 1,
			[]int{401, 401},
			"status 401",
		},
		{
			"a 401 that is expected",
			[]reply{gives("t1"), denied, gives("t2"), denied},
			func(c *Call) { c.Expect = []int{401} },
			in + "POST /x Bearer t1\n" + in + "POST /x Bearer t2", engine.NoError, 1,
			[]int{401, 401},
			"",
		},
		{
			"again at a later attempt", // the age of a token must not depend on how often the service failed before
			[]reply{gives("t1"), denied, gives("t2"), {status: 500}, denied, gives("t3"), {err: errReset}, denied, gives("t4"), denied},
			nil,
			in + "POST /x Bearer t1\n" + in + "POST /x Bearer t2\nPOST /x Bearer t2\n" + in + "POST /x Bearer t3\nPOST /x Bearer t3\n" + in + "POST /x Bearer t4", engine.ClientError, 3,
			[]int{401, 500, 401, 401, 401},
			"status 401",
		},
		{"wrong password", []reply{{status: 403, body: "t1 hunter2"}}, nil, in, engine.ClientError, 0, nil, "the login before it failed: status 403"},
		{
			"no login, after 401",
			[]reply{gives("t1"), denied, {status: 400}},
			nil,
			in + "POST /x Bearer t1\n" + in, engine.ClientError, 1,
			[]int{401},
			"the login before it failed: status 400",
		},
		{"tried again", []reply{{status: 500}, {err: errReset}, gives("t1"), ok200("")}, nil, in + in + in + "POST /x Bearer t1", engine.NoError, 1, []int{200}, ""},
		{"no server", []reply{{status: 503, body: "hunter2"}}, nil, strings.Repeat(in, 5), engine.ServerError, 0, nil, "the login before it failed: status 503"},
		{"no token", []reply{ok200(`{"token": "hunter2"}`)}, nil, strings.Repeat(in, 5), engine.BadAnswer, 0, nil, "its answer has no token at body.access_token"},
		{"no JSON", []reply{ok200(`hunter2`)}, nil, strings.Repeat(in, 5), engine.BadAnswer, 0, nil, "its answer is not JSON"},
		{"an invalid token", []reply{gives(`a\nb`)}, nil, strings.Repeat(in, 5), engine.BadAnswer, 0, nil, "no token"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := &script{answers: tt.answers}
				h := client(t, fake, Limits{})
				st := stage{journal: &enginetest.Journal{}}
				row := st.play(t, func(s *engine.Session) {
					c := callOf(s, "step")
					c.Auth = loginOf(t, h, "body.access_token")
					if tt.change != nil {
						tt.change(c)
					}
					_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/x")})
					end(s, c, err)
				})
				if got := fake.lines(); got != strings.TrimSpace(tt.sent) {
					t.Errorf("sent\n%s\nwant\n%s", got, tt.sent)
				}
				got := row.Steps[0]
				if row.Class != tt.class || got.Attempts != tt.attempts || !slices.Equal(got.Statuses, tt.statuses) || !strings.Contains(row.Error, tt.says) {
					t.Errorf("class %q, %d attempts, statuses %v: %s; want %q, %d, %v, %q",
						row.Class, got.Attempts, got.Statuses, row.Error, tt.class, tt.attempts, tt.statuses, tt.says)
				}
				kept := fmt.Sprintf("%+v", st.journal.Rows())
				for _, secret := range []string{"t1", "t2", "hunter2", ".login"} {
					if strings.Contains(kept, secret) || strings.Contains(row.Error, secret) {
						t.Errorf("%s is in the journal, or in %s:\n%s", secret, row.Error, kept)
					}
				}
			})
		})
	}
}

// TestLoginIsTheStepsTime checks that a login uses the step's time, that its wait for a 429 is throttled, and that the agent does
// not log in again for its next step.
func TestLoginIsTheStepsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := gives("t1")
		slow.after = 3 * time.Second
		fake := &script{answers: []reply{{status: 429, header: map[string]string{"Retry-After": "3600"}}, slow, ok200(""), ok200("")}}
		h := client(t, fake, Limits{})
		auth := loginOf(t, h, "body.access_token")
		row := stage{change: func(s *engine.Settings) { s.SessionTimeout = time.Minute }}.play(t, func(s *engine.Session) {
			first, second := callOf(s, "a"), callOf(s, "b")
			first.Auth, second.Auth = auth, auth
			_, err := h.Do(first, Request{Method: "GET", Target: must(t, "/a")})
			if err == nil {
				_, err = h.Do(second, Request{Method: "GET", Target: must(t, "/b")})
			}
			s.Row.Steps = append(s.Row.Steps, first.Record)
			end(s, second, err)
		})
		if got, want := fake.lines(), "POST /auth/login \nPOST /auth/login \nGET /a Bearer t1\nGET /b Bearer t1"; got != want || row.Outcome != engine.OK {
			t.Errorf("%v %s: sent\n%s\nwant\n%s", row.Outcome, row.Error, got, want)
		}
		a, b := row.Steps[0], row.Steps[1]
		if a.Service != 3*time.Second || a.Throttled < time.Hour || a.Attempts != 1 || b.Service != 0 || b.Throttled != 0 {
			t.Errorf("records %+v and %+v", a, b)
		}
	})
}

// TestLoginRunsOutOfTime checks that a step times out in a login that hangs, and that this is journaled.
func TestLoginRunsOutOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := stage{journal: &enginetest.Journal{}}
		fake := &script{answers: []reply{{hangs: true}}}
		h := client(t, fake, Limits{})
		try := func(s *engine.Session) {
			c := callOf(s, "step")
			c.Auth = loginOf(t, h, "body")
			c.Clock = c.Clock.Child(time.Second, &Overtime{Path: "step", Limit: time.Second})
			defer c.Clock.Stop()
			_, err := h.Do(c, Request{Method: "GET", Target: must(t, "/")})
			if _, ok := errors.AsType[*Overtime](err); !ok {
				t.Errorf("error %v", err)
			}
			next := callOf(s, "next")
			_, _ = h.Do(next, Request{Method: "POST", Target: must(t, "/")})
			end(s, c, err)
		}
		st.play(t, try)
		intents := enginetest.Of[engine.IntentRow](st.journal)
		if len(intents) != 1 || len(intents[0].Earlier) != 1 || intents[0].Earlier[0].Status != engine.StepTimedOut {
			t.Fatalf("intents %+v", intents)
		}
	})
}

// TestFailedLoginIsReplayed checks that no login is sent for a step that is in the journal.
func TestFailedLoginIsReplayed(t *testing.T) {
	fake := &script{answers: []reply{ok200("")}}
	h := client(t, fake, Limits{})
	post := Request{Method: "POST", Target: must(t, "/x")}
	try := func(entry engine.Entry) (*engine.SessionRow, int) {
		before := len(fake.requests())
		row := resumed(entry).play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			c.Auth, c.Once = loginOf(t, h, "body"), true
			_, err := h.Do(c, post)
			end(s, c, err)
		})
		return row, len(fake.requests()) - before
	}
	row, asked := try(engine.Entry{Path: "step", Attempts: 1, Status: engine.StepFailed, Class: engine.ClientError, Error: "the login before it failed"})
	if asked != 0 || row.Class != engine.ClientError || row.Steps[0].Attempts != 0 || row.Steps[0].Label != engine.Replayed {
		t.Errorf("%d asked: %+v", asked, row)
	}
	if row, asked = try(engine.Entry{Path: "step", Hash: post.hash()}); asked != 0 || row.Class != engine.Network {
		t.Errorf("a call that must not be sent twice: %d requests: %+v", asked, row)
	}
}

// TestStepsShareALogin checks that concurrent steps of an agent log in once, also when the token is rejected. Another agent does
// not share the login.
func TestStepsShareALogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		logins, live := 0, ""
		h := client(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Second) // in virtual time: all steps meet
			mu.Lock()
			defer mu.Unlock()
			if strings.HasSuffix(r.URL.Path, "login") {
				logins++
				live = fmt.Sprintf("t%d", logins)
				return answerOf(r, 200, live), nil
			}
			if r.Header.Get("Authorization") != "Bearer "+live {
				return answerOf(r, 401, ""), nil
			}
			return answerOf(r, 200, ""), nil
		}), Limits{})
		auth := loginOf(t, h, "body")
		row := stage{}.play(t, func(s *engine.Session) {
			clock := s.Clock()
			for range 2 {
				var steps sync.WaitGroup
				for i := range 8 {
					steps.Go(func() {
						c := &Call{Session: s, Path: fmt.Sprint("step", i), Retry: s.Settings().Retry}
						c.Clock = clock.Child(0, nil)
						defer c.Clock.Stop()
						c.Auth = auth
						if _, err := h.Do(c, Request{Method: "GET", Target: must(t, "/x")}); err != nil {
							t.Errorf("step %d: %v", i, err)
						}
					})
				}
				steps.Wait()
				mu.Lock()
				live = "another" // the service now rejects their token
				mu.Unlock()
			}
			s.Row.Outcome = engine.OK
		})
		if logins != 2 || row.Outcome != engine.OK {
			t.Errorf("%d logins, %v", logins, row.Outcome)
		}
	})
}

// TestWaitForALoginCanBeCut checks that waiting for the login of another step ends with the session.
func TestWaitForALoginCanBeCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cut := context.WithCancel(t.Context())
		auth := &Auth{Tokens: &Tokens{}}
		auth.Tokens.seat(0).turn <- struct{}{}
		time.AfterFunc(time.Second, cut)
		st := stage{ctx: ctx}
		row := st.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			c.Auth = auth
			_, err := c.signIn(c.Clock.Context())
			if err == nil {
				t.Error("it signed in")
			}
			end(s, c, err)
		})
		if row != nil {
			t.Errorf("row %+v", row)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answerOf(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}

// TestAttemptsAreNotCountedByTokens checks that the mock gets the same attempt number after a 401, so that its answers do not
// depend on the age of a token.
func TestAttemptsAreNotCountedByTokens(t *testing.T) {
	fake := &script{answers: []reply{gives("t1"), {status: 401}, gives("t2"), {status: 429, header: map[string]string{"Retry-After": "0"}}, ok200("")}}
	h := client(t, fake, Limits{})
	h.transport.tag = true
	stage{}.play(t, func(s *engine.Session) {
		c := callOf(s, "step")
		c.Auth = loginOf(t, h, "body.access_token")
		_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/x")})
		end(s, c, err)
	})
	var tags []string
	for _, r := range fake.requests() {
		tag, _, _ := strings.Cut(r.header.Get("X-Throng-Request"), " ")
		tags = append(tags, tag)
	}
	if want := []string{"0/step.login/1", "0/step/1", "0/step.login/1", "0/step/1", "0/step/2"}; !slices.Equal(tags, want) {
		t.Errorf("got %q, want %q", tags, want)
	}
}

// TestPrivate checks that errors contain nothing of a private answer, and that its journal entry is marked.
func TestPrivate(t *testing.T) {
	refuse := func(*Answer) error { return errors.New("hunter2 is not JSON") }
	for _, tt := range []struct {
		name   string
		answer reply
		change func(*Call)
		says   string
	}{
		{"status", reply{status: 404, body: "hunter2"}, nil, "status 404"},
		{"redirect", reply{status: 302, header: map[string]string{"Location": "http://hunter2.example/"}}, nil, "status 302"},
		{"body", ok200("hunter2"), func(c *Call) { c.Accept = refuse }, "the answer, which is private, cannot be used"},
		{"ok", ok200("hunter2"), nil, ""},
	} {
		st := stage{journal: &enginetest.Journal{}, change: func(s *engine.Settings) { s.Retry.Attempts = 1 }}
		h := client(t, &script{answers: []reply{tt.answer}}, Limits{})
		try := func(s *engine.Session) {
			c := callOf(s, "step")
			c.Private = true
			if tt.change != nil {
				tt.change(c)
			}
			a, err := h.Do(c, Request{Method: "POST", Target: must(t, "/x")})
			if tt.name == "ok" && (err != nil || string(a.Body) != "hunter2") {
				t.Errorf("%s: %v, %v", tt.name, a, err)
			}
			end(s, c, err)
		}
		row := st.play(t, try)
		if !strings.HasPrefix(row.Error, tt.says) || strings.Contains(row.Error, "hunter2") {
			t.Errorf("%s: %s", tt.name, row.Error)
		}
		answers := enginetest.Of[engine.AnswerRow](st.journal)
		if len(answers) != 1 || !answers[0].Private || strings.Contains(answers[0].Error, "hunter2") {
			t.Fatalf("%s: answers %+v", tt.name, answers)
		}
		again := resumed(answers[0].Entry).play(t, try)
		if again.Error != row.Error || again.Outcome != row.Outcome {
			t.Errorf("%s: replayed %s", tt.name, again.Error)
		}
	}
}

// TestSecretsAreBlackedOut uses a service that repeats its request in a refusal and in an answer.
func TestSecretsAreBlackedOut(t *testing.T) {
	says := reply{status: 400, body: "your token-12 and s3cret and s3cret-long", header: map[string]string{"X-You": "Bearer token-12"}}
	good := says
	good.status = 200
	fake := &script{answers: []reply{gives("token-12"), says, good}}
	h := client(t, fake, Limits{})
	st := stage{journal: &enginetest.Journal{}}
	auth := loginOf(t, h, "body.access_token")
	row := st.play(t, func(s *engine.Session) {
		call := func(path string) (*Answer, *Call, error) {
			c := callOf(s, path)
			c.Auth, c.Secrets = auth, []string{"s3cret-long", "s3cret", ""}
			a, err := h.Do(c, Request{Method: "POST", Target: must(t, "/x")})
			return a, c, err
		}
		_, c, refused := call("a")
		a, _, err := call("b")
		if err != nil || string(a.Body) != "your … and s3cret and …" || a.Header.Get("X-You") != "Bearer …" {
			t.Errorf("got %v, %s, %v", err, a.Body, a.Header)
		}
		end(s, c, refused)
	})
	if row.Error != `status 400: "your … and … and …"` {
		t.Errorf("error %s", row.Error)
	}
	for _, a := range enginetest.Of[engine.AnswerRow](st.journal) {
		if strings.Contains(string(a.Output), "token-12") || strings.Contains(string(a.Output), "s3cret-long") {
			t.Errorf("%s journals %s", a.Path, a.Output)
		}
	}
}
