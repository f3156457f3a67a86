package service

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
)

// TestCallsOutsideOfSessions checks that a call without a session is retried and waits like any other, and has no journal entry and
// no key.
func TestCallsOutsideOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &script{answers: []reply{{status: 500}, {status: 429, header: map[string]string{"Retry-After": "7"}}, ok200("x")}}
		h := client(t, fake, Limits{})
		h.transport.tag = true
		timer := clock.New(t.Context(), time.Minute, errAttemptTimeout)
		defer timer.Stop()
		call := &Call{Clock: timer, Path: "population[3]", Retry: engine.DefaultSettings().Retry}
		answer, err := h.Do(call, Request{Method: http.MethodPost, Target: must(t, "/chat"), Header: http.Header{}, Body: []byte("hello")})
		if err != nil || string(answer.Body) != "x" {
			t.Fatalf("got %v, %v", answer, err)
		}
		if r := call.Record; r.Attempts != 2 || !slices.Equal(r.Statuses, []int{500, 429, 200}) || r.Throttled < 7*time.Second {
			t.Errorf("record %+v", r)
		}
		for i, r := range fake.requests() {
			if got, want := r.header.Get("X-Throng-Request"), "0/population[3]/"+string(rune('1'+i))+" 0001-01-01T00:00:00Z"; got != want {
				t.Errorf("request %d is tagged %q, want %q", i, got, want)
			}
			if r.header.Get("Idempotency-Key") != "" || r.body != "hello" {
				t.Errorf("request %d: %+v", i, r)
			}
		}
	})
}
