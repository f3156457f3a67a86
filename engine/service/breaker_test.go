package service

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/service/breaker"
)

// bare returns a call outside of a session.
func bare(t *testing.T) *Call {
	t.Helper()
	timer := clock.New(t.Context(), 0, nil)
	t.Cleanup(timer.Stop)
	return &Call{Clock: timer, Retry: engine.DefaultSettings().Retry}
}

// trip opens a breaker.
func trip(t *testing.T, b *breaker.Breaker) {
	t.Helper()
	for range 10 {
		p, err := b.Pass(func(func(context.Context) error) error { panic("it is open already") })
		if err != nil {
			t.Fatal(err)
		}
		b.Done(p, breaker.Unavailable, "status 503")
	}
}

// hurry shortens the first wait of a breaker, for tests on the real clock.
func hurry(b *breaker.Breaker) { b.First = 50 * time.Millisecond }

// TestVerdicts checks what responses and failures say about a service.
func TestVerdicts(t *testing.T) {
	for _, tt := range []struct {
		answer reply
		change func(*Call)
		bad    int64
		open   bool // after ten calls
	}{
		{ok200(""), nil, 0, false},
		{reply{status: 404}, nil, 0, false},
		{reply{status: 401}, nil, 0, false},
		{reply{status: 408}, nil, 0, false},
		{reply{status: 501}, nil, 0, false},
		{reply{status: 503}, func(c *Call) { c.Expect = []int{503} }, 0, false},
		{reply{status: 500}, nil, 10, true},
		{reply{status: 504}, nil, 10, true},
		{reply{err: errReset}, nil, 10, true},
		{reply{err: errRefused}, nil, 10, true},
		{reply{hangs: true}, nil, 10, true},
		{ok200(strings.Repeat("x", maxBody+1)), nil, 0, false},
		{ok200("!"), func(c *Call) { c.Accept = func(*Answer) error { return engine.Fail(engine.BadAnswer, "no") } }, 0, false},
		{ok200("!"), func(c *Call) { c.Accept = func(*Answer) error { return engine.Fail(engine.ServerError, "told") } }, 10, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := client(t, &script{answers: []reply{tt.answer}}, Limits{})
			for range 10 {
				c := bare(t)
				c.Retry.Attempts = 1
				if tt.change != nil {
					tt.change(c)
				}
				_, _ = h.Do(c, Request{Method: http.MethodGet, Target: must(t, "/x")}) // the state shows the outcome
			}
			if s := h.State(time.Now()); s.Failures != tt.bad || (s.Breaker == engine.BreakerOpen) != tt.open {
				t.Errorf("%d %v: %d failures, %v; want %d, open: %v", tt.answer.status, tt.answer.err, s.Failures, s.Breaker, tt.bad, tt.open)
			}
			h.Close()
		})
	}
}
