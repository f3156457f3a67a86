package service

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/database"
)

// TestTune changes each setting, and checks the error of each invalid one.
func TestTune(t *testing.T) {
	h, err := NewHTTP("shop", "http://shop.example", Limits{}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	l, err := NewLLM(LLMConfig{Name: "model", Base: "http://model.example/v1", Limits: Limits{Rate: 10, MaxRate: 50}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d, err := database.Parse("postgres://u@127.0.0.1:1/d", "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPostgres("db", d, database.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, tt := range []struct {
		service     engine.Service
		name, value string
		old, next   string
	}{
		{h, "shop.timeout", "2500ms", "10s", "2.5s"},
		{h, "shop.timeout", "12.5", "2.5s", "12.5s"},
		{h, "shop.connections", "7", "200", "7"},
		{h, "shop.rate", "5", "0", "5"},
		{h, "shop.rate", "0", "5", "0"},
		{h, "shop.breaker", "off", "on", "off"},
		{h, "shop.breaker", "on", "off", "on"},
		{l, "model.timeout", "2m", "1m", "2m"},
		{l, "model.concurrent", "8", "50", "8"},
		{l, "model.rate", "12.5", "10", "12.5"},
		{l, "model.max-rate", "20", "50", "20"},
		{l, "model.rate", "30", "12.5", "30"},
		{l, "model.max-rate", "5", "30", "5"},
		{l, "model.rate", "5", "5", "5"},
		{p, "db.timeout", "5s", "30s", "5s"},
		{p, "db.connections", "70", "50", "70"},
		{p, "db.connections", "3", "70", "3"},
		{p, "db.breaker", "off", "on", "off"},
		{NewBound(50), "max-llm-calls", "20", "50", "20"},
	} {
		old, err := tt.service.Tune(tt.name, tt.value)
		all := tt.service.Tunables()
		i := slices.IndexFunc(all, func(one engine.Tunable) bool { return one.Name == tt.name })
		if err != nil || old != tt.old || i < 0 || all[i].Value != tt.next || all[i].Help == "" {
			t.Errorf("%s = %s: was %q, then %+v; %v; want %q, %q", tt.name, tt.value, old, all, err, tt.old, tt.next)
		}
	}
	for _, tt := range []struct {
		service     engine.Service
		name, value string
		says        string
	}{
		{h, "shop.timeout", "0s", `shop.timeout: "0s" is not a time between 1ms and 24h (for one attempt, such as 30s)`},
		{h, "shop.timeout", "-10", `"-10" is not a time`},
		{h, "shop.timeout", "NaN", `"NaN" is not a time`},
		{h, "shop.timeout", "1e30", `"1e30" is not a time`},
		{h, "shop.timeout", "25h", `"25h" is not a time`},
		{h, "shop.connections", "0", `"0" is not between 1 and 100000`},
		{h, "shop.connections", "many", `"many" is not between`},
		{h, "shop.breaker", "open", `"open" is neither on, off nor probe`},
		{h, "shop.size", "1", "shop.size: there is no such setting"},
		{h, "timeout", "1s", "there is no such setting"},
		{l, "model.rate", "-1", `"-1" is not a rate`},
		{l, "model.rate", "NaN", `"NaN" is not a rate`},
		{l, "model.rate", "1e9", `"1e9" is not a rate`},
		{l, "model.max-rate", "0", "0 cannot limit a service without a rate"},
		{l, "model.connections", "1", "there is no such setting"},
		{p, "db.connections", "1001", `"1001" is not between 1 and 1000`},
		{p, "db.rate", "1", "there is no such setting"},
		{NewBound(1), "max-llm-calls", "0", `"0" is not between`},
	} {
		before := fmt.Sprint(tt.service.Tunables())
		_, err := tt.service.Tune(tt.name, tt.value)
		if field, ok := errors.AsType[*engine.FieldError](err); !ok || field.Field != tt.name || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s = %s: %v; want %s", tt.name, tt.value, err, tt.says)
		}
		if after := fmt.Sprint(tt.service.Tunables()); after != before {
			t.Errorf("%s = %s changed %s to %s", tt.name, tt.value, before, after)
		}
	}
}

// TestTunedLimitsHold checks that calls obey changed settings.
func TestTunedLimitsHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{takes: time.Second}
		l := models(t, d, LLMConfig{Limits: Limits{Connections: 2}})
		tune(t, l, l.name+".concurrent", "5")
		callers(t, 20, l)
		if d.most != 5 {
			t.Errorf("%d concurrent calls, want 5", d.most)
		}
		tune(t, l, l.name+".timeout", "500ms")
		row := stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			c.Retry.Attempts = 2
			_, err := l.Chat(c, hello())
			end(s, c, err)
		})
		if got := row.Steps[0]; row.Class != engine.Timeout || got.Service != time.Second {
			t.Errorf("class %q after %s", row.Class, got.Service)
		}
	})
}

// TestTunedTimeoutAppliesToWaitingCalls checks that the next attempt of a call that began earlier has the new timeout.
func TestTunedTimeoutAppliesToWaitingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &script{answers: []reply{{hangs: true}, {status: 200, after: 30 * time.Second}}}
		h := client(t, fake, Limits{})
		time.AfterFunc(5*time.Second, func() { tune(t, h, "shop.timeout", "1m") })
		row := stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			_, err := h.Do(c, Request{Method: http.MethodGet, Target: must(t, "/")})
			end(s, c, err)
		})
		if got := row.Steps[0]; row.Outcome != engine.OK || got.Attempts != 2 || got.Service != 40*time.Second {
			t.Errorf("%s %q: %d attempts took %s", row.Outcome, row.Error, got.Attempts, got.Service)
		}
	})
}

func tune(t *testing.T, s engine.Service, name, value string) {
	t.Helper()
	if _, err := s.Tune(name, value); err != nil {
		t.Fatal(err)
	}
}

// TestRenew checks that calls in progress when the machine wakes up are sent again unchanged, except those that must be
// sent at most once. No attempt counts, and no call waits for a breaker.
func TestRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &script{answers: []reply{{hangs: true}, {hangs: true}, ok200("x")}}
		h := client(t, fake, Limits{Timeout: time.Hour})
		h.transport.tag = true
		single := client(t, &script{answers: []reply{{status: 200, body: "y", after: time.Minute}, ok200("twice")}}, Limits{Timeout: time.Hour})
		row := stage{}.play(t, func(s *engine.Session) {
			var group sync.WaitGroup
			twice, never := callOf(s, "a"), callOf(s, "b")
			never.Once = true
			for c, h := range map[*Call]*HTTP{twice: h, never: single} {
				group.Go(func() {
					answer, err := h.Do(c, Request{Method: "POST", Target: must(t, "/x"), Body: []byte("body")})
					if err != nil || string(answer.Body) == "twice" {
						t.Errorf("%s: %v, %v", c.Path, answer, err)
					}
				})
			}
			for range 2 { // and again
				time.Sleep(time.Second)
				synctest.Wait()
				h.Renew()
				single.Renew()
			}
			group.Wait()
			s.Row.Steps = []engine.StepRecord{twice.Record, never.Record}
			s.Row.Outcome = engine.OK
		})
		for i, step := range row.Steps {
			if step.Attempts != 1 || !slices.Equal(step.Statuses, []int{200}) || step.Throttled > 0 || step.Label != [...]engine.Label{engine.Resent, engine.Fresh}[i] {
				t.Errorf("%+v", step)
			}
		}
		all := fake.requests()
		if len(all) != 3 {
			t.Fatalf("%d requests", len(all))
		}
		for _, r := range all[1:] {
			for _, name := range []string{"Idempotency-Key", "X-Throng-Request"} {
				if r.header.Get(name) == "" || r.header.Get(name) != all[0].header.Get(name) || r.body != "body" {
					t.Errorf("sent again: %+v, at first %+v", r, all[0])
				}
			}
		}
		if s := h.State(time.Now()); s.Failures != 0 || s.InFlight != 0 {
			t.Errorf("in the end %+v", s)
		}
	})
}

// TestRenewCloses checks that the breaker closes when the machine wakes up, and waiting calls continue.
func TestRenewCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := client(t, &script{answers: []reply{ok200("x")}}, Limits{})
		trip(t, h.transport.breaker)
		row := stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			done := make(chan error)
			go func() {
				_, err := h.Do(c, Request{Method: "GET", Target: must(t, "/x")})
				done <- err
			}()
			time.Sleep(time.Second)
			synctest.Wait()
			if s := h.State(time.Now()); s.Waiting != 1 {
				t.Errorf("%d wait", s.Waiting)
			}
			h.Renew()
			end(s, c, <-done)
		})
		if got := row.Steps[0]; row.Outcome != engine.OK || got.Waits[engine.ThrottledByBreaker] != time.Second {
			t.Errorf("%v: %+v", row.Outcome, got)
		}
		if moves := h.Moves(); len(moves) != 2 || moves[1].New != "closed" || moves[1].Why != "the machine slept" {
			t.Errorf("%+v", moves)
		}
	})
}

// TestRenewAsksAgain checks that a user can resume a service whose quota is exhausted.
func TestRenewAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := client(t, &script{answers: []reply{{status: 429, header: map[string]string{"Retry-After": "36000"}}, ok200("x")}}, Limits{})
		row := stage{}.play(t, func(s *engine.Session) {
			c, done := callOf(s, "step"), make(chan error)
			go func() {
				_, err := h.Do(c, Request{Method: "GET", Target: must(t, "/x")})
				done <- err
			}()
			time.Sleep(time.Minute)
			synctest.Wait()
			if s := h.State(time.Now()); s.Exhausted == "" || s.Until.IsZero() {
				t.Errorf("%+v", s)
			}
			h.Renew()
			end(s, c, <-done)
			if s := h.State(time.Now()); s.Exhausted != "" || !s.Blocked.IsZero() {
				t.Errorf("then %+v", s)
			}
		})
		if row.Outcome != engine.OK || row.Throttled > 2*time.Minute {
			t.Errorf("%v, held %s: %s", row.Outcome, row.Throttled, row.Error)
		}
	})
}

// TestSteeredWhileAtWork changes all settings at random during many calls on real connections: all calls finish. It is for the race
// detector.
func TestSteeredWhileAtWork(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "7") {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	h, err := NewHTTP("shop", server.URL, Limits{Connections: 8}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	hurry(h.transport.breaker)
	var group sync.WaitGroup
	for worker := range 16 {
		group.Go(func() {
			for i := range 40 {
				c := bare(t)
				c.Retry.Attempts, c.Retry.Wait = 2, time.Millisecond
				if _, err := h.Do(c, Request{Method: "POST", Target: must(t, fmt.Sprint("/", i+worker)), Body: []byte("x")}); err != nil && (i+worker)%10 != 7 {
					t.Errorf("%d of %d: %v", i, worker, err)
				}
			}
		})
	}
	atWork := make(chan struct{})
	go func() { group.Wait(); close(atWork) }()
	tick := time.NewTicker(100 * time.Microsecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-atWork:
			if s := h.State(time.Now()); s.InFlight != 0 || s.Waiting != 0 {
				t.Errorf("in the end %+v", s)
			}
			return
		case <-tick.C:
		}
		tune(t, h, "shop.connections", fmt.Sprint(1+i%8))
		tune(t, h, "shop.timeout", fmt.Sprint(30+i%2, "s"))
		tune(t, h, "shop.breaker", []string{"on", "off"}[i/10%2])
		if h.State(time.Now()).Bound == 0 || len(h.Tunables()) == 0 {
			t.Error("no state")
		}
		h.Moves()
		if i%1000 == 0 {
			h.Renew()
		}
	}
}

// TestStateOfTheRate checks the displayed and journaled state of a service that sends 429.
func TestStateOfTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := client(t, &script{answers: []reply{{status: 429, header: map[string]string{"Retry-After": "30"}}, ok200("")}}, Limits{Rate: 10, MaxRate: 50})
		if s := h.State(time.Now()); s.Name != "shop" || s.Kind != "http" || s.Bound != 200 || s.Rate != 10 || s.MaxRate != 50 || s.Refused != 0 {
			t.Errorf("at first %+v", s)
		}
		call, done := bare(t), make(chan error)
		go func() {
			_, err := h.Do(call, Request{Method: http.MethodGet, Target: must(t, "/x")})
			done <- err
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		s := h.State(time.Now())
		if s.Rate != 8 || s.RateWhy == "" || s.Refused != 1 || s.Failures != 0 || s.Blocked.Before(time.Now().Add(28*time.Second)) || s.Waiting != 1 || s.InFlight != 0 {
			t.Errorf("after a 429 %+v", s)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if s := h.State(time.Now()); !s.Blocked.IsZero() || s.InFlight != 0 || s.Exhausted != "" {
			t.Errorf("in the end %+v", s)
		}
		moves := h.Moves()
		if len(moves) != 1 || moves[0].What != "shop rate" || moves[0].Old != "10" || moves[0].New != "8" || moves[0].Who != "rate limiter" || moves[0].Why == "" {
			t.Errorf("moves %+v", moves)
		}
	})
}
