package service

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/service/redact"
)

// TestRepeats checks changing requests in doubt: whether they are sent again, their label, and whether they are listed.
func TestRepeats(t *testing.T) {
	replay := reply{status: 201, header: map[string]string{"Idempotency-Replayed": "true"}}
	stripe := reply{status: 201, header: map[string]string{"Idempotent-Replayed": "true"}}
	hangs, made, gone := reply{hangs: true}, ok200("made"), reply{err: errReset}
	keyed := func(c *Call) { c.Repeats = Keyed }
	harmless := func(c *Call) { c.Repeats = Harmless }
	for _, tt := range []struct {
		name     string
		known    bool // an earlier process sent it
		answers  []reply
		change   func(*Call)
		requests int
		label    engine.Label
	}{
		{"nothing is in doubt", false, []reply{made}, nil, 1, engine.Fresh},
		{"a crash", true, []reply{made}, nil, 1, engine.Unconfirmed},
		{"a crash, proved", true, []reply{replay}, nil, 1, engine.Confirmed},
		{"a crash, proved in another way", true, []reply{stripe}, nil, 1, engine.Confirmed},
		{"a timeout", false, []reply{hangs, made}, nil, 2, engine.Unconfirmed},
		{"a timeout, proved", false, []reply{hangs, replay}, nil, 2, engine.Confirmed},
		{"a broken connection", false, []reply{gone, made}, nil, 2, engine.Unconfirmed},
		{"a gateway that gave up", false, []reply{{status: 504}, made}, nil, 2, engine.Unconfirmed},
		{"an error in the middle", false, []reply{{status: 500}, made}, nil, 2, engine.Unconfirmed},
		{"never sent", false, []reply{{err: errRefused}, made}, nil, 2, engine.Fresh},
		{"turned away", false, []reply{{status: 503}, made}, nil, 2, engine.Fresh},
		{"refused", false, []reply{{status: 429}, made}, nil, 2, engine.Fresh},
		{"an answer that says no", false, []reply{{status: 409}}, nil, 1, engine.Fresh},
		{"no answer at all", false, []reply{gone, gone, gone, gone, gone}, nil, 5, engine.Unconfirmed},
		{"keyed, and it is true", true, []reply{made, replay}, keyed, 2, engine.Resent},
		{"keyed, and it is not true", true, []reply{made, made}, keyed, 2, engine.Unconfirmed},
		{"keyed, proved by the first response", true, []reply{replay}, keyed, 1, engine.Confirmed},
		{"an answer that no such request gets in", true, []reply{{status: 401}}, nil, 1, engine.Resent},
		{"an answer that may come of the first", true, []reply{{status: 400}}, nil, 1, engine.Unconfirmed},
		{"harmless", true, []reply{made}, harmless, 1, engine.Resent},
		{"never", true, nil, once, 0, engine.NotRepeated},
		{"never, in one process", false, []reply{gone}, once, 1, engine.NotRepeated},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				post := Request{Method: "POST", Target: must(t, "/orders"), Body: []byte("body")}
				st := stage{journal: &enginetest.Journal{}}
				if tt.known {
					st = resumed(engine.Entry{Path: "step", Hash: post.hash()})
				}
				fake := &script{answers: tt.answers}
				h := client(t, fake, Limits{})
				row := st.play(t, func(s *engine.Session) {
					c := callOf(s, "step")
					if tt.change != nil {
						tt.change(c)
					}
					_, err := h.Do(c, post)
					end(s, c, err)
				})
				if got := row.Steps[0].Label; got != tt.label || len(fake.requests()) != tt.requests {
					t.Errorf("%v after %d requests, want %v after %d: %s", got, len(fake.requests()), tt.label, tt.requests, row.Error)
				}
				listed := enginetest.Of[engine.UnconfirmedRow](st.journal)
				if want := tt.label == engine.Unconfirmed; (len(listed) == 1) != want || want && (listed[0].Path != "step" || listed[0].Request != "POST /base/orders" && listed[0].Request != "POST /orders") {
					t.Errorf("listed %+v", listed)
				}
			})
		})
	}
}

// TestUnconfirmedStaysSo checks that an unconfirmed answer is still unconfirmed when it is taken from the journal.
func TestUnconfirmedStaysSo(t *testing.T) {
	post := Request{Method: "POST", Target: must(t, "/x")}
	h := client(t, &script{}, Limits{})
	row := resumed(engine.Entry{
		Path: "step", Hash: post.hash(), Attempts: 1, Statuses: []int{200}, Unconfirmed: true, Output: encodeAnswer(&Answer{Status: 200, Header: http.Header{}}),
	}).play(t, func(s *engine.Session) {
		c := callOf(s, "step")
		_, err := h.Do(c, post)
		end(s, c, err)
	})
	if got := row.Steps[0].Label; got != engine.Unconfirmed {
		t.Errorf("taken from the journal it is %v", got)
	}
}

// TestVerify checks a request in doubt if its service can be asked.
func TestVerify(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers []reply
		label   engine.Label
		sent    []string // methods
		body    string
		class   engine.Class
	}{
		{"it was done", []reply{ok200("done")}, engine.Confirmed, []string{"GET"}, "stands in", engine.NoError},
		{"it was not", []reply{ok200("no"), ok200("made")}, engine.Resent, []string{"GET", "POST"}, "made", engine.NoError},
		{"lost again", []reply{ok200("no"), {err: errReset}, ok200("done")}, engine.Confirmed, []string{"GET", "POST", "GET"}, "stands in", engine.NoError},
		{"asked without success", []reply{{status: 404}}, engine.NotRepeated, []string{"GET"}, "", engine.ClientError},
		{"an answer that makes no sense", []reply{ok200("?")}, engine.NotRepeated, []string{"GET"}, "", engine.Script},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				post := Request{Method: "POST", Target: must(t, "/orders"), Body: []byte("body")}
				st := resumed(engine.Entry{Path: "step", Hash: post.hash()})
				fake := &script{answers: tt.answers}
				h := client(t, fake, Limits{})
				var got *Answer
				var asked InDoubt
				began := time.Now()
				row := st.play(t, func(s *engine.Session) {
					c := callOf(s, "step")
					c.Verify = &Verify{
						After: 3 * time.Second,
						Ask: func(in InDoubt) (Request, error) {
							asked = in
							if time.Since(began) < 3*time.Second {
								t.Errorf("asked after %s", time.Since(began))
							}
							return Request{Method: "GET", Target: must(t, "/orders")}, nil
						},
						Judge: func(a *Answer) (*Answer, bool, error) {
							if string(a.Body) == "?" {
								return nil, false, engine.Fail(engine.Script, "no sense")
							}
							return &Answer{Status: 200, Header: http.Header{}, Body: []byte("stands in")}, string(a.Body) == "done", nil
						},
					}
					var err error
					got, err = h.Do(c, post)
					end(s, c, err)
				})
				var sent []string
				for _, r := range fake.requests() {
					sent = append(sent, r.method)
				}
				if row.Steps[0].Label != tt.label || row.Class != tt.class || len(sent) != len(tt.sent) || tt.body != "" && string(got.Body) != tt.body {
					t.Errorf("%v, class %q after %v, answer %+v: %s", row.Steps[0].Label, row.Class, sent, got, row.Error)
				}
				if asked.Step != "step" || asked.Method != "POST" || asked.Key == "" {
					t.Errorf("asked about %+v", asked)
				}
				if n := len(enginetest.Of[engine.UnconfirmedRow](st.journal)); n != 0 {
					t.Errorf("%d listed", n)
				}
				if n := len(enginetest.Of[engine.AnswerRow](st.journal)); n != 1 {
					t.Errorf("%d answers journaled", n)
				}
			})
		})
	}
}

// TestAnotherTakeIsInDoubt checks that requests of a requeued session are unconfirmed, and that its service is asked first if
// possible.
func TestAnotherTakeIsInDoubt(t *testing.T) {
	asking := &Verify{
		Ask:   func(InDoubt) (Request, error) { return Request{Method: "GET", Target: must(t, "/x")}, nil },
		Judge: func(a *Answer) (*Answer, bool, error) { return a, true, nil },
	}
	for _, tt := range []struct {
		name   string
		take   int
		verify *Verify
		label  engine.Label
		sent   string
	}{
		{"the first", 0, nil, engine.Fresh, "POST"},
		{"the first, which can be asked", 0, asking, engine.Fresh, "POST"},
		{"another", 1, nil, engine.Unconfirmed, "POST"},
		{"another, which can be asked", 1, asking, engine.Confirmed, "GET"},
	} {
		fake := &script{answers: []reply{ok200("x")}}
		h := client(t, fake, Limits{})
		row := stage{}.play(t, func(s *engine.Session) {
			s.Take = tt.take
			c := callOf(s, "step")
			c.Verify = tt.verify
			_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/x")})
			end(s, c, err)
		})
		if got := row.Steps[0].Label; got != tt.label || fake.requests()[0].method != tt.sent {
			t.Errorf("%s: %v, sent %s; want %v, %s", tt.name, got, fake.requests()[0].method, tt.label, tt.sent)
		}
	}
}

// TestProofIsOfOneStep checks that a service's support of keys is proved for each step.
func TestProofIsOfOneStep(t *testing.T) {
	var p proofs
	p.learn("buy[3].order", proven)
	if p.known("buy[4].order") != proven || p.known("buy[3].pay") != unproven {
		t.Error("a proof is of another step than its own")
	}
	asked := 0
	for range 2 {
		if p.find(t.Context(), "pay", func() proof { asked++; return disproven }) != disproven {
			t.Error("the finding is not reported")
		}
	}
	if asked != 1 {
		t.Errorf("found out %d times", asked)
	}
}

// TestAnotherTakeAsksForSomethingElse checks that a requeued request with another body has another key, and with the same body the
// same key.
func TestAnotherTakeAsksForSomethingElse(t *testing.T) {
	keys := map[string]string{}
	for name, r := range map[string]Request{
		"first": {Method: "POST", Target: must(t, "/x"), Body: []byte("one")}, "same": {Method: "POST", Target: must(t, "/x"), Body: []byte("one")},
		"other": {Method: "POST", Target: must(t, "/x"), Body: []byte("two")},
	} {
		fake := &script{answers: []reply{ok200("")}}
		h := client(t, fake, Limits{})
		stage{}.play(t, func(s *engine.Session) {
			if name != "first" {
				s.Take = 1
			}
			c := callOf(s, "step")
			_, err := h.Do(c, r)
			end(s, c, errors.Join(err))
		})
		keys[name] = fake.requests()[0].header.Get("Idempotency-Key")
	}
	if keys["first"] == "" || keys["first"] != keys["same"] || keys["first"] == keys["other"] {
		t.Errorf("keys %v", keys)
	}
}

// TestUnknownReplay checks that a run reports a request that the service has already carried out but that is missing
// from the journal, because the store is an older copy.
func TestUnknownReplay(t *testing.T) {
	replay := reply{status: 201, header: map[string]string{"Idempotency-Replayed": "true"}}
	post := Request{Method: "POST", Target: must(t, "/orders")}
	for _, tt := range []struct {
		name    string
		st      stage
		answers []reply
		inexact bool
	}{
		{"fresh", stage{journal: &enginetest.Journal{}}, []reply{replay}, true},
		{"sent before a crash", resumed(engine.Entry{Path: "step", Hash: post.hash()}), []reply{replay}, false},
		{"in doubt", stage{journal: &enginetest.Journal{}}, []reply{{err: errReset}, replay}, false},
		{"not replayed", stage{journal: &enginetest.Journal{}}, []reply{ok200("made")}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := client(t, &script{answers: tt.answers}, Limits{})
				tt.st.play(t, func(s *engine.Session) {
					c := callOf(s, "step")
					_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/orders")})
					end(s, c, err)
				})
				told := 0
				for _, c := range enginetest.Of[engine.ChangeRow](tt.st.journal) {
					if c.Inexact != nil && c.Inexact.Path == "step" && strings.Contains(c.Why, "that is not in the journal") {
						told++
					}
				}
				if (told == 1) != tt.inexact || told > 1 {
					t.Errorf("reported %d times, want %t", told, tt.inexact)
				}
			})
		})
	}
}

// TestCookiesInOtherRequests checks that the request that proves a service's claim is the same as the first, and that a verify may use
// cookies.
func TestCookiesInOtherRequests(t *testing.T) {
	const set = "csrf=token-of-csrf"
	post := Request{Method: "POST", Target: must(t, "/orders?c="+redact.CookieMark("csrf")), Body: []byte("c=" + redact.CookieMark("csrf")), Kind: BodyForm}
	for name, of := range map[string]struct {
		answers []reply
		change  func(*Call)
		want    string // the last request
		label   engine.Label
	}{
		"keyed": {
			[]reply{{err: errReset}, ok200("made"), {status: 200, header: map[string]string{"Idempotency-Replayed": "true"}}},
			func(c *Call) { c.Repeats = Keyed }, "POST http://shop.example/base/orders?c=token-of-csrf c=token-of-csrf", engine.Resent,
		},
		"verify": {[]reply{{err: errReset}, ok200("done")}, func(c *Call) {
			c.Verify = &Verify{
				Ask: func(InDoubt) (Request, error) {
					return Request{Method: "GET", Target: must(t, "/done?c="+redact.CookieMark("csrf"))}, nil
				},
				Judge: func(a *Answer) (*Answer, bool, error) { return a, true, nil },
			}
		}, "GET http://shop.example/base/done?c=token-of-csrf ", engine.Confirmed},
	} {
		synctest.Test(t, func(t *testing.T) {
			fake := &script{answers: of.answers}
			h := client(t, fake, Limits{})
			row := stage{}.play(t, func(s *engine.Session) {
				c := callOf(s, "step")
				c.Cookies = &Cookies{Set: []string{set + "; Path=/"}}
				of.change(c)
				_, err := h.Do(c, post)
				end(s, c, err)
			})
			all := fake.requests()
			last := all[len(all)-1]
			if got := last.method + " " + last.url + " " + last.body; len(all) != len(of.answers) || got != of.want || row.Steps[0].Label != of.label || last.header.Get("Cookie") != set {
				t.Errorf("%s: the last of %d requests is %s, label %v: %s", name, len(all), got, row.Steps[0].Label, row.Error)
			}
		})
	}
}

// lingering is a transport whose first attempt still reads its headers when it has been abandoned, as a Transport may.
type lingering struct {
	script
	first sync.Once
	over  chan struct{}
	ended sync.WaitGroup
}

func (l *lingering) RoundTrip(r *http.Request) (*http.Response, error) {
	l.first.Do(func() {
		l.ended.Go(func() {
			for open := true; open; {
				_ = r.Header.Get("Authorization")
				select {
				case _, open = <-l.over:
				default:
				}
			}
		})
	})
	return l.script.RoundTrip(r)
}

// TestProofHasItsOwnHeaders checks, with the race detector, that the request that proves a claim does not change the headers of an
// attempt that was abandoned.
func TestProofHasItsOwnHeaders(t *testing.T) {
	fake := &lingering{script: script{answers: []reply{{err: errReset}, ok200("made")}}, over: make(chan struct{})}
	h := client(t, fake, Limits{})
	stage{}.play(t, func(s *engine.Session) {
		c := callOf(s, "step")
		c.Repeats, c.Retry.Wait = Keyed, 0
		c.Auth = &Auth{Tokens: &Tokens{}, Header: "Authorization", Issuer: &JWT{Method: "HS256", Secret: "hunter2-long", Claims: []byte("{}"), TTL: DefaultTTL}}
		_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/x"), Body: []byte("body")})
		end(s, c, err)
	})
	close(fake.over)
	fake.ended.Wait()
	if n := len(fake.requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
}
