package service

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/engine/service/pricing"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

var errDial = &net.OpError{Op: "dial", Err: errors.New("connection refused")}

// spends returns a stage whose run must have spent an amount at its end, in the ledger and in the journal.
func spends(t *testing.T, want engine.Amount, change func(*engine.Settings)) stage {
	t.Helper()
	j := &enginetest.Journal{}
	return stage{journal: j, change: change, after: func(r *run.Run) {
		if b := r.Snapshot().Budget; b.Spent != want || b.Claimed != (engine.Amount{}) {
			t.Errorf("spent %+v and claimed %+v, want %+v and nothing", b.Spent, b.Claimed, want)
		}
		if got := j.Reopen().Resumption().Spent().Amount(); got != want {
			t.Errorf("the journal has %+v spent, want %+v", got, want)
		}
	}}
}

// TestRequestsSpent checks what the attempts of a call use of a budget of requests.
func TestRequestsSpent(t *testing.T) {
	refused := reply{status: 429, header: map[string]string{"Retry-After": "3"}}
	for _, c := range []struct {
		name    string
		answers []reply
		method  string
		want    int64
	}{
		{"ok", []reply{ok200("x")}, "GET", 1},
		{"a change", []reply{ok200("x")}, "POST", 1},
		{"retried", []reply{{status: 500}, {err: io.ErrUnexpectedEOF}, ok200("x")}, "POST", 3},
		{"refused", []reply{refused, refused, ok200("x")}, "GET", 1},
		{"never sent", []reply{{err: errDial}, ok200("x")}, "POST", 1},
		{"never sent at all", []reply{{err: errDial}}, "GET", 0},
		{"no answer in time", []reply{{hangs: true}, ok200("x")}, "GET", 2},
		{"a failure", []reply{{status: 404}}, "POST", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := client(t, &script{answers: c.answers}, Limits{})
				spends(t, engine.Amount{Requests: c.want}, nil).play(t, func(s *engine.Session) {
					call := callOf(s, "step")
					_, err := h.Do(call, Request{Method: c.method, Target: must(t, "/x")})
					end(s, call, err)
				})
			})
		})
	}
}

// TestSignInsAreSpent checks that logins count as requests, although they are not steps.
func TestSignInsAreSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := client(t, &script{answers: []reply{gives("t1"), {status: 401}, gives("t2"), ok200("x")}}, Limits{})
		row := spends(t, engine.Amount{Requests: 4}, nil).play(t, func(s *engine.Session) {
			call := callOf(s, "step")
			call.Auth = loginOf(t, h, "body.access_token")
			_, err := h.Do(call, Request{Method: "POST", Target: must(t, "/x")})
			end(s, call, err)
		})
		if row.Steps[0].Attempts != 1 {
			t.Errorf("the step has %d attempts", row.Steps[0].Attempts)
		}
	})
}

// TestTokensSpent checks the usage of the attempts of a model call, by their responses.
func TestTokensSpent(t *testing.T) {
	const asked = int64(3) // "Say hello." at 4 bytes per token
	told := engine.Amount{Cost: 18_000, Tokens: 15, Requests: 1}
	claimed := engine.Amount{Cost: 1000*36 + 2000*pricing.UnboundedAnswer, Tokens: 36 + pricing.UnboundedAnswer, Requests: 1} // the usage is unknown
	for _, c := range []struct {
		name    string
		answers []reply
		want    engine.Amount
		calls   int64 // that were or may have been charged
	}{
		{"told", []reply{wrote("Hello.")}, told, 1},
		{"not told", []reply{ok200(`{"choices":[{"message":{"content":"Hello."}}]}`)}, engine.Amount{Cost: 1000*asked + 2000*2, Tokens: asked + 2, Requests: 1}, 1},
		{"an error", []reply{{status: 500}, wrote("Hello.")}, told.Plus(engine.Amount{Requests: 1}), 1},
		{"an error with status 200", []reply{ok200(`{"error":{"message":"down","code":502}}`), wrote("Hello.")}, told.Plus(engine.Amount{Requests: 1}), 1},
		{"of no use", []reply{ok200(`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1}}`), wrote("Hello.")}, told.Plus(engine.Amount{Cost: 12_000, Tokens: 11, Requests: 1}), 2},
		{"a page", []reply{ok200("<html>"), wrote("Hello.")}, told.Plus(engine.Amount{Cost: 1000 * asked, Tokens: asked, Requests: 1}), 2},
		{"lost on its way", []reply{{err: errReset}, wrote("Hello.")}, told.Plus(claimed), 2},
		{"refused", []reply{{status: 429, header: map[string]string{"Retry-After": "3"}}, wrote("Hello.")}, told, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := models(t, &script{answers: c.answers}, LLMConfig{Prices: pricing.Prices{"gpt-4o-mini": {Input: 1e-6, Output: 2e-6}}})
				row, got := spends(t, c.want, nil).chat(t, l, hello(), nil)
				if got == nil || row.Steps[0].Usage == nil || row.Steps[0].Usage.Calls != c.calls || row.Steps[0].Usage.Cost != c.want.Cost {
					t.Errorf("got %v, %+v", got, row.Steps[0].Usage)
				}
			})
		})
	}
}

// TestClaims checks the claims of model calls, based on max_tokens or on the known limits of the model.
func TestClaims(t *testing.T) {
	l := models(t, &script{}, LLMConfig{Prices: pricing.Prices{"m": {Input: 1e-6, Output: 2e-6}}})
	b := &bill{from: l, model: "m", asked: 300, form: 60, parts: 2, longest: 40}
	tokens := func(b *bill) int64 { u := b.most(); return u.Input + u.Output }
	const prompt = 360/pricing.FirstBytes + 3*wrapping
	if got, want := *b.most(), (engine.Usage{Calls: 1, Cost: 1000 * (prompt + 2*40), Input: prompt, Output: 40, Estimated: 1}); got != want {
		t.Errorf("with max_tokens %+v, want %+v", got, want)
	}
	b.longest = -1
	if got := tokens(b); got != prompt+pricing.UnboundedAnswer {
		t.Errorf("an unknown model claims %d tokens, want %d", got, prompt+pricing.UnboundedAnswer)
	}
	l.meter.NoteAnswer("m", 10)
	if got := tokens(b); got != prompt+pricing.LeastAnswer {
		t.Errorf("a model with short answers claims %d tokens, want %d", got, prompt+pricing.LeastAnswer)
	}
	l.meter.NoteAnswer("m", 3000)
	l.meter.NoteAnswer("m", 200)
	l.meter.Learn(800, 100) // 8 bytes per token
	if got, want := tokens(b), int64(57+3*wrapping+4500); got != want {
		t.Errorf("a model with long answers claims %d tokens, want %d", got, want)
	}
	other := &bill{from: l, model: "other", longest: -1}
	if got := other.most(); got.Input+got.Output != wrapping+pricing.UnboundedAnswer || got.Cost != 0 {
		t.Errorf("another model claims %+v", got)
	}
}

// TestRefusedCallSendsNothing checks that a call beyond the budget sends nothing to the service, writes nothing to the
// journal, and uses no secret.
func TestRefusedCallSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &script{answers: []reply{wrote("Hello.")}}
		l := models(t, f, LLMConfig{})
		st := spends(t, engine.Amount{}, func(s *engine.Settings) { s.Budget.Tokens = 50 })
		row, got := st.chat(t, l, hello(), nil)
		if row != nil || got != nil || len(f.requests()) > 0 || len(enginetest.Of[engine.IntentRow](st.journal)) > 0 {
			t.Errorf("got %v, %v, with %d requests and the journal %v", row, got, len(f.requests()), st.journal.Rows())
		}
		ends := enginetest.Of[engine.EndRow](st.journal)
		if len(ends) != 1 || ends[0].Ending != engine.EndOutOfBudget || !strings.Contains(ends[0].Reason, "0 spent, the next call may ") {
			t.Errorf("it ended with %+v", ends)
		}
	})
}

// TestCallsWaitForTheBudget checks that two calls proceed in sequence if only one fits the budget, with clocks
// paused.
func TestCallsWaitForTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := wrote("Hello.")
		slow.after = 50 * time.Second
		l := models(t, &script{answers: []reply{slow}}, LLMConfig{})
		chat := hello()
		chat.MaxTokens = 60
		st := spends(t, engine.Amount{Tokens: 30, Requests: 2}, func(s *engine.Settings) {
			s.Budget.Tokens, s.SessionTimeout = 150, 101*time.Second
		})
		row := st.play(t, func(s *engine.Session) {
			up := s.Clock()
			var records [2]engine.StepRecord
			var both sync.WaitGroup
			for i := range records {
				both.Go(func() {
					c := chat
					c.Header = http.Header{} // the client changes it
					branch := up.Branch()
					defer branch.Stop()
					call := &Call{Session: s, Clock: branch, Path: []string{"a", "b"}[i], Retry: s.Settings().Retry}
					if _, err := l.Chat(call, c); err != nil {
						t.Error(err)
					}
					records[i] = call.Record
				})
			}
			both.Wait()
			var waits engine.Waits
			for i := range records {
				waits.Add(records[i].Waits)
			}
			if waits[engine.ThrottledByBudget] != 50*time.Second {
				t.Errorf("they waited %v for the budget", waits[engine.ThrottledByBudget])
			}
			s.Row.Steps = append(s.Row.Steps, records[:]...)
			s.Row.Outcome = engine.OK
		})
		if row == nil || row.Total != 100*time.Second {
			t.Errorf("the session ended as %+v", row)
		}
	})
}

// TestAnswersInTheJournalAreSpentOnce checks that a session that is cut in its second call keeps the cost of its first.
func TestAnswersInTheJournalAreSpentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &script{answers: []reply{wrote("Hello.")}}
		l := models(t, f, LLMConfig{})
		twice := func(s *engine.Session) {
			for _, path := range []string{"a", "b"} {
				chat := hello()
				chat.MaxTokens = 60
				call := callOf(s, path)
				if _, err := l.Chat(call, chat); err != nil {
					s.Row.Fail(path, err)
					return
				}
				s.Row.Steps = append(s.Row.Steps, call.Record)
			}
			s.Row.Outcome = engine.OK
		}
		st := spends(t, engine.Amount{Tokens: 15, Requests: 1}, func(s *engine.Settings) { s.Budget.Tokens = 100 })
		if row := st.play(t, twice); row != nil {
			t.Fatalf("the session was not cut: %+v", row)
		}
		again := stage{journal: st.journal.Reopen(), after: func(r *run.Run) {
			if got := r.Snapshot().Budget.Spent; got != (engine.Amount{Tokens: 30, Requests: 2}) {
				t.Errorf("spent %+v", got)
			}
		}}
		again.resume = again.journal.Resumption()
		row := again.play(t, twice)
		if row == nil || row.Outcome != engine.OK || row.Steps[0].Label != engine.Replayed || row.Steps[1].Label != engine.Fresh || len(f.requests()) != 2 {
			t.Errorf("resumed, it ended as %+v after %d requests", row, len(f.requests()))
		}
		if got := again.journal.Reopen().Resumption().Spent().Amount(); got != (engine.Amount{Tokens: 30, Requests: 2}) {
			t.Errorf("the journal has %+v spent", got)
		}
	})
}

// TestOnceIsNotGivenUpForTheBudget checks that a call that must be sent at most once, and did not fit the budget before
// it was sent, is sent after a resume. One that could not leave at first keeps its claim.
func TestOnceIsNotGivenUpForTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &script{answers: []reply{ok200("x"), {err: errDial}, ok200("x")}}
		h := client(t, f, Limits{})
		both := func(s *engine.Session) {
			for _, path := range []string{"a", "b"} {
				call := callOf(s, path)
				call.Once = true
				_, err := h.Do(call, Request{Method: "POST", Target: must(t, "/"+path)})
				if err != nil {
					s.Row.Fail(path, err)
					return
				}
			}
			s.Row.Outcome = engine.OK
		}
		st := spends(t, engine.Amount{Requests: 1}, func(s *engine.Settings) { s.Budget.Requests = 1 })
		if row := st.play(t, both); row != nil {
			t.Fatalf("the session was not cut: %+v", row)
		}
		again := stage{journal: st.journal.Reopen(), change: func(s *engine.Settings) { s.Budget.Requests = 2 }}
		again.resume = again.journal.Resumption()
		if row := again.play(t, both); row == nil || row.Outcome != engine.OK || len(f.requests()) != 3 {
			t.Errorf("resumed, it ended as %+v after %d requests", row, len(f.requests()))
		}
	})
}

// TestStatementsAreSpent checks that statements count as requests, except without a connection.
func TestStatementsAreSpent(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	p, _ := serverOf(t, server, database.Limits{})
	p.ask(t, spends(t, engine.Amount{Requests: 1}, nil), sql(t, "SELECT 1"), nil)
	p.ask(t, spends(t, engine.Amount{Requests: 2}, nil), sql(t, "SELECT pg_terminate_backend(pg_backend_pid())"), func(c *Call) { c.Retry.Attempts = 2 })
	st := spends(t, engine.Amount{Requests: 0}, nil)
	server.Stop(t)
	p.ask(t, st, sql(t, "SELECT 1"), func(c *Call) { c.Retry.Attempts = 2 })
}
