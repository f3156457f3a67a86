package service

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

var (
	errReset   = &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}
	errRefused = &net.OpError{Op: "dial", Err: errors.New("connection refused")}
)

func ok200(body string) reply { return reply{status: 200, body: body} }

// TestAnswers checks the outcome of all kinds of responses: class, requests that count, statuses.
func TestAnswers(t *testing.T) {
	bad := func(a *Answer) error {
		if strings.HasPrefix(string(a.Body), "!") {
			return errors.New("not JSON")
		}
		return nil
	}
	tests := []struct {
		name     string
		answers  []reply
		change   func(*Call)
		class    engine.Class // of the failure; NoError if there is none
		attempts int
		statuses []int
		says     string
	}{
		{"ok", []reply{ok200("x")}, nil, engine.NoError, 1, []int{200}, ""},
		{"created", []reply{{status: 201}}, nil, engine.NoError, 1, []int{201}, ""},
		{"not expected", []reply{{status: 200}}, func(c *Call) { c.Expect = []int{201} }, engine.ClientError, 1, []int{200}, "status 200"},
		{"404 expected", []reply{{status: 404}}, func(c *Call) { c.Expect = []int{200, 404} }, engine.NoError, 1, []int{404}, ""},
		{"503 expected", []reply{{status: 503}}, func(c *Call) { c.Expect = []int{503} }, engine.NoError, 1, []int{503}, ""},
		{"429 expected", []reply{{status: 429}}, func(c *Call) { c.Expect = []int{429} }, engine.NoError, 1, []int{429}, ""},
		{"404", []reply{{status: 404, body: `{"detail":"no such thing"}`}}, nil, engine.ClientError, 1, []int{404}, "no such thing"},
		{
			"redirect",
			[]reply{{status: 302, header: map[string]string{"Location": "https://u:p@else.example/login?token=1"}}},
			nil, engine.ClientError, 1,
			[]int{302},
			"https://else.example/login; redirects are not followed",
		},
		{"not modified", []reply{{status: 304}}, nil, engine.ClientError, 1, []int{304}, ""},
		{"500 then ok", []reply{{status: 500}, ok200("")}, nil, engine.NoError, 2, []int{500, 200}, ""},
		{"500 forever", []reply{{status: 500, body: "broken"}}, nil, engine.ServerError, 5, []int{500, 500, 500, 500, 500}, `"broken"`},
		{"501", []reply{{status: 501}}, nil, engine.ServerError, 1, []int{501}, ""},
		{"408 forever", []reply{{status: 408}}, nil, engine.Timeout, 5, []int{408, 408, 408, 408, 408}, ""},
		{"429 then ok", []reply{{status: 429}, {status: 429}, ok200("")}, nil, engine.NoError, 1, []int{429, 429, 200}, ""},
		{"429 between", []reply{{status: 500}, {status: 429}, ok200("")}, nil, engine.NoError, 2, []int{500, 429, 200}, ""},
		{"reset", []reply{{err: errReset}}, nil, engine.Network, 5, nil, "reset by peer"},
		{"reset then ok", []reply{{err: errReset}, ok200("")}, nil, engine.NoError, 2, []int{200}, ""},
		{"hangs", []reply{{hangs: true}}, nil, engine.Timeout, 5, nil, "no answer in time"},
		{"bad answer", []reply{ok200("!")}, func(c *Call) { c.Accept = bad }, engine.BadAnswer, 5, []int{200, 200, 200, 200, 200}, "not JSON"},
		{"bad answer then ok", []reply{ok200("!"), ok200("")}, func(c *Call) { c.Accept = bad }, engine.NoError, 2, []int{200, 200}, ""},
		// The expected answer may have been damaged on its way.
		{
			"bad answer of another status",
			[]reply{ok200("!"), {status: 201}},
			func(c *Call) { c.Accept, c.Expect = bad, []int{201} }, engine.NoError, 2,
			[]int{200, 201},
			"",
		},
		{"bad body of a 404", []reply{{status: 404, body: "!"}}, func(c *Call) { c.Accept = bad }, engine.ClientError, 1, []int{404}, ""},
		{"too big", []reply{{status: 200, body: strings.Repeat("x", maxBody+1)}}, nil, engine.BadAnswer, 1, nil, "too big"},
		{"three attempts", []reply{{status: 500}}, func(c *Call) { c.Retry.Attempts = 3 }, engine.ServerError, 3, []int{500, 500, 500}, ""},
		{"once, 500", []reply{{status: 500}}, once, engine.ServerError, 1, []int{500}, ""},
		{"once, reset", []reply{{err: errReset}}, once, engine.Network, 1, nil, ""},
		{"once, bad", []reply{ok200("!")}, func(c *Call) { c.Once, c.Accept = true, bad }, engine.BadAnswer, 1, []int{200}, ""},
		{"once, refused connection", []reply{{err: errRefused}, ok200("")}, once, engine.NoError, 2, []int{200}, ""},
		{"once, 429", []reply{{status: 429}, ok200("")}, once, engine.NoError, 1, []int{429, 200}, ""},
		{
			"secret",
			[]reply{{status: 401, body: "bad token s3cret.shopper-1"}},
			func(c *Call) { c.Secrets = []string{"", "s3cret"} },
			engine.ClientError, 1,
			[]int{401},
			"bad token ….shopper-1",
		},
	}
	for _, tt := range tests {
		for _, method := range []string{"GET", "POST"} {
			t.Run(tt.name+" "+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					fake := &script{answers: tt.answers}
					h := client(t, fake, Limits{})
					row := stage{}.play(t, func(s *engine.Session) {
						c := callOf(s, "step")
						if tt.change != nil {
							tt.change(c)
						}
						_, err := h.Do(c, Request{Method: method, Target: must(t, "/x")})
						end(s, c, err)
					})
					got := row.Steps[0]
					if row.Class != tt.class || got.Attempts != tt.attempts || !slices.Equal(got.Statuses, tt.statuses) || !strings.Contains(row.Error, tt.says) {
						t.Errorf("got class %q, %d attempts, %v, error %q; want %q, %d, %v, %q",
							row.Class, got.Attempts, got.Statuses, row.Error, tt.class, tt.attempts, tt.statuses, tt.says)
					}
				})
			})
		}
	}
}

func once(c *Call) { c.Once = true }

// TestWhatIsSent checks the requests of one call: the key and the rest are the same each time.
func TestWhatIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &script{answers: []reply{{status: 500}, ok200("")}}
		h := client(t, fake, Limits{})
		h.transport.tag = true
		stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "fill_cart[2].add")
			_, err := h.Do(c, Request{
				Method: "POST", Target: must(t, "/items?a=1").With("b=2"), Header: http.Header{"X-A": {"b"}}, Body: []byte("body"),
			})
			end(s, c, err)
		})
		all := fake.requests()
		if len(all) != 2 {
			t.Fatalf("%d requests", len(all))
		}
		for i, r := range all {
			if got, want := r.url, "http://shop.example/base/items?a=1&b=2"; got != want {
				t.Errorf("address %s, want %s", got, want)
			}
			if got, want := r.header.Get("Idempotency-Key"), "run/0/0/fill_cart[2].add/884e9e90df55e50b"; got != want {
				t.Errorf("key %s, want %s", got, want)
			}
			if got, want := r.header.Get("X-Throng-Request"), "0/fill_cart[2].add/"+string(rune('1'+i))+" 2026-01-02T08:00:00Z"; got != want {
				t.Errorf("tag %q, want %q", got, want)
			}
			if r.header.Get("X-A") != "b" || r.body != "body" || r.method != "POST" {
				t.Errorf("request %d: %+v", i, r)
			}
		}
	})
}

func TestWhatNeedsNoKeyHasNone(t *testing.T) {
	for name, set := range map[string]func(*Call, *Request){
		"GET":  func(*Call, *Request) {},
		"once": func(c *Call, r *Request) { c.Once, r.Method = true, "POST" },
	} {
		t.Run(name, func(t *testing.T) {
			fake := &script{answers: []reply{ok200("")}}
			h := client(t, fake, Limits{})
			stage{}.play(t, func(s *engine.Session) {
				c, r := callOf(s, "step"), Request{Method: "GET", Target: must(t, "/")}
				set(c, &r)
				_, err := h.Do(c, r)
				end(s, c, err)
			})
			if r := fake.requests()[0]; r.header.Get("Idempotency-Key") != "" || r.header.Get("X-Throng-Request") != "" {
				t.Errorf("headers %v", r.header)
			}
		})
	}
}

// TestRefusalsAreWaitedOut checks that a 429 uses no attempt and no time: the session is throttled.
func TestRefusalsAreWaitedOut(t *testing.T) {
	date := time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC).Format(http.TimeFormat) // a minute after the start of virtual time
	tests := []struct {
		name        string
		answer      reply
		least, most time.Duration
	}{
		{"seconds", reply{status: 429, header: map[string]string{"Retry-After": "7"}}, 7 * time.Second, 9 * time.Second},
		{"date", reply{status: 429, header: map[string]string{"Retry-After": date}}, time.Minute, 75 * time.Second},
		{"date by a clock that is fast", reply{status: 429, header: map[string]string{
			"Retry-After": "Sat, 01 Jan 2050 00:00:10 GMT", "Date": "Sat, 01 Jan 2050 00:00:00 GMT",
		}}, 10 * time.Second, 13 * time.Second},
		{"nothing", reply{status: 429}, time.Second / 2, time.Second},
		{"zero", reply{status: 429, header: map[string]string{"Retry-After": "0"}}, leastWait, 2 * leastWait},
		{"nonsense", reply{status: 429, header: map[string]string{"Retry-After": "soon"}}, time.Second / 2, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := &script{answers: []reply{tt.answer, ok200("")}}
				h := client(t, fake, Limits{})
				row := stage{}.play(t, func(s *engine.Session) {
					c := callOf(s, "step")
					_, err := h.Do(c, Request{Method: "GET", Target: must(t, "/")})
					end(s, c, err)
				})
				wait := fake.waits()[0]
				if wait < tt.least || wait > tt.most {
					t.Errorf("waited %s, want %s to %s", wait, tt.least, tt.most)
				}
				if row.Outcome != engine.OK || row.Throttled != wait || row.Service != 0 {
					t.Errorf("outcome %v, held %s, service %s", row.Outcome, row.Throttled, row.Service)
				}
			})
		})
	}
}

// TestRefusedForever checks that no timeout limits a 429 that never ends, and that only a cut ends the call.
func TestRefusedForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cut := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Hour, cut)
		fake := &script{answers: []reply{{status: 429, after: time.Millisecond}}}
		h := client(t, fake, Limits{})
		st := stage{ctx: ctx, journal: &enginetest.Journal{}, change: func(s *engine.Settings) { s.SessionTimeout = time.Minute }}
		var statuses int
		row := st.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/")})
			statuses = len(c.Record.Statuses)
			end(s, c, err)
		})
		if row != nil {
			t.Errorf("a cut session has a row: %+v", row)
		}
		if n := len(fake.requests()); n < 2*60 || n > 4*60+20 || statuses != n {
			t.Errorf("%d requests in two hours, %d statuses; the wait grows to a minute, with jitter down to half", n, statuses)
		}
		if got := enginetest.Of[engine.AnswerRow](st.journal); len(got) > 0 {
			t.Errorf("an answer was journaled: %v", got)
		}
	})
}

// TestBackoff checks the waits between attempts: up to twice as long each time, at least as long as the service says, and
// throttled.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var longest [4]time.Duration
		for range 200 {
			fake := &script{answers: []reply{{status: 503, after: time.Second}}}
			h := client(t, fake, Limits{})
			row := stage{}.play(t, func(s *engine.Session) {
				c := callOf(s, "step")
				c.Retry = engine.Retry{Attempts: 5, Wait: 2 * time.Second, Max: 10 * time.Second}
				_, err := h.Do(c, Request{Method: "GET", Target: must(t, "/")})
				end(s, c, err)
			})
			for i, w := range fake.waits() {
				longest[i] = max(longest[i], w-time.Second)
			}
			if row.Service != 5*time.Second || row.Throttled != row.Total-row.Service {
				t.Fatalf("service %s, held %s of %s", row.Service, row.Throttled, row.Total)
			}
		}
		for i, most := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second} {
			if longest[i] > most || longest[i] < most*9/10 {
				t.Errorf("wait %d: at most %s of 200, want up to %s", i+1, longest[i], most)
			}
		}
		fake := &script{answers: []reply{{status: 503, header: map[string]string{"Retry-After": "100"}}, ok200("")}}
		h := client(t, fake, Limits{})
		stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			_, err := h.Do(c, Request{Method: "GET", Target: must(t, "/")})
			end(s, c, err)
		})
		if w := fake.waits()[0]; w < 100*time.Second || w > 102*time.Second {
			t.Errorf("after Retry-After: 100 waited %s", w)
		}
	})
}

// TestWhichTimeoutEnds distinguishes the timeouts of an attempt, of the step, and of the session.
func TestWhichTimeoutEnds(t *testing.T) {
	tests := []struct {
		name                   string
		attempt, step, session time.Duration
		outcome                engine.Outcome
		class                  engine.Class
		says                   string
		took                   time.Duration // of service time
		answers                int
	}{
		{"attempt", time.Second, time.Hour, time.Hour, engine.Failed, engine.Timeout, "no answer in time", 5 * time.Second, 1},
		{"step", time.Minute, 10 * time.Second, time.Hour, engine.Failed, engine.Timeout, "step timed out after 10 s", 10 * time.Second, 1},
		{"step, in its third attempt", 4 * time.Second, 10 * time.Second, time.Hour, engine.Failed, engine.Timeout, "step timed out after 10 s", 10 * time.Second, 1},
		{"session", time.Minute, time.Hour, 10 * time.Second, engine.TimedOut, engine.Timeout, "session timed out after 10 s", 10 * time.Second, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := stage{journal: &enginetest.Journal{}, change: func(s *engine.Settings) { s.SessionTimeout = tt.session }}
				h := client(t, &script{answers: []reply{{hangs: true}}}, Limits{Timeout: tt.attempt})
				row := st.play(t, func(s *engine.Session) {
					c := callOf(s, "step")
					c.Clock = c.Clock.Child(tt.step, &Overtime{Path: "step", Limit: tt.step})
					defer c.Clock.Stop()
					_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/")})
					if _, ok := errors.AsType[*Overtime](err); ok {
						err = &engine.StepError{Class: engine.Timeout, Err: err}
					}
					end(s, c, err)
				})
				if row.Outcome != tt.outcome || row.Class != tt.class || row.Error != tt.says || row.Service != tt.took {
					t.Errorf("got %v, %v, %q after %s; want %v, %v, %q after %s",
						row.Outcome, row.Class, row.Error, row.Service, tt.outcome, tt.class, tt.says, tt.took)
				}
				if got := len(enginetest.Of[engine.AnswerRow](st.journal)); got != tt.answers {
					t.Errorf("%d answers journaled, want %d", got, tt.answers)
				}
			})
		})
	}
}

// TestBoundIsHeld checks that the clock of a call that waits for a slot of the service is paused.
func TestBoundIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &script{answers: []reply{{status: 200, after: time.Minute}}}
		h := client(t, fake, Limits{Connections: 1, Timeout: time.Hour})
		settings := engine.DefaultSettings()
		settings.Metrics, settings.SessionTimeout = false, 2*time.Minute
		journal := &enginetest.Journal{}
		run, err := run.Start(t.Context(), run.Config{
			ID: "run", Agents: 10, Settings: settings, Journal: journal, Program: program(func(s *engine.Session) {
				c := callOf(s, "step")
				_, err := h.Do(c, Request{Method: "GET", Target: must(t, "/")})
				end(s, c, err)
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if r := run.Wait(); r.Totals.Outcomes[engine.OK] != 10 {
			t.Errorf("outcomes %v", r.Totals.Outcomes)
		}
		var held time.Duration
		for _, row := range journal.Sessions() {
			held += row.Throttled
			if row.Service != time.Minute {
				t.Errorf("agent %d: service %s", row.Agent, row.Service)
			}
		}
		if want := 45 * time.Minute; held != want {
			t.Errorf("held %s in all, want %s", held, want)
		}
	})
}

// TestRealConnections uses a real server: keep-alive, the number of connections, a cut connection, a body that ends too early, one
// that never ends, and one with a wrong length.
func TestRealConnections(t *testing.T) {
	var n atomic.Int64
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		first := n.Add(1) == 1
		switch r.URL.Path {
		case "/cut":
			if first {
				panic(http.ErrAbortHandler)
			}
		case "/short":
			if first {
				w.Header().Set("Content-Length", "100")
				_, _ = io.WriteString(w, "short")
				return
			}
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		case "/huge":
			w.Header().Set("Content-Length", "99999999999")
		}
		_, _ = io.WriteString(w, "fine")
	})
	h, err := NewHTTP("shop", server, Limits{Timeout: time.Hour}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path     string
		class    engine.Class
		attempts int
	}{
		// First, on a fresh connection: net/http repeats requests that fail on a reused one, because the server may just have
		// closed it. It does so for calls with a key, and for GET.
		{"/cut", engine.NoError, 2},
		{"/", engine.NoError, 1},
		{"/short", engine.NoError, 2},
		{"/endless", engine.BadAnswer, 1},
		{"/huge", engine.BadAnswer, 1},
	} {
		n.Store(0)
		row := stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			c.Retry.Wait = 0
			a, err := h.Do(c, Request{Method: "POST", Target: must(t, tt.path)})
			if err == nil && string(a.Body) != "fine" {
				t.Errorf("%s: body %q", tt.path, a.Body)
			}
			end(s, c, err)
		})
		if row.Class != tt.class || row.Steps[0].Attempts != tt.attempts {
			t.Errorf("%s: class %q after %d attempts, want %q after %d: %s",
				tt.path, row.Class, row.Steps[0].Attempts, tt.class, tt.attempts, row.Error)
		}
	}
	if h.Open() > 1 {
		t.Errorf("%d connections open", h.Open())
	}
	h.Close()
	if h.Open() != 0 {
		t.Errorf("%d connections open after Close", h.Open())
	}
}
