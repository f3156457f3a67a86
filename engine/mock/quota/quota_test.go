package quota

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestHeadersAreTrue checks that a client that waits for Retry-After is admitted, that the quota is full after the
// reset, and that no minute admits more than the quota and the saved burst.
func TestHeadersAreTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		start := now
		requests, limit := rapid.IntRange(1, 5000).Draw(t, "requests"), rapid.IntRange(1, 5000).Draw(t, "tokens")
		q := New(requests, limit, now)
		let := 0
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			tokens := rapid.IntRange(1, limit).Draw(t, "tokens")
			h := http.Header{}
			wait, _ := q.Take(tokens, 0, now, Usual(h))
			if wait > 0 {
				now = now.Add(wait.Truncate(time.Second) + time.Second)
				if again, kind := q.Take(tokens, 0, now, Usual(h)); again > 0 {
					t.Fatalf("waited %v and must wait %v more for %s", wait, again, kind)
				}
			}
			let++
			if most := float64(requests) * (1 + now.Sub(start).Minutes()); float64(let) > most+1e-3 {
				t.Fatalf("%d requests in %v", let, now.Sub(start))
			}
		}
		h := http.Header{}
		q.Take(1, 0, now, Usual(h))
		for _, name := range []string{"Requests", "Tokens"} {
			reset, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + name))
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(reset)
		}
		h = http.Header{}
		q.Take(1, 0, now, Usual(h))
		if h.Get("X-Ratelimit-Remaining-Requests") != strconv.Itoa(requests-1) || h.Get("X-Ratelimit-Remaining-Tokens") != strconv.Itoa(limit-1) {
			t.Fatalf("after the reset: %v", h)
		}
	})
}

// TestFaultQuota replaces the quota of requests while a fault sets it, and restores it later without filling it.
func TestFaultQuota(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	q := New(600, 0, now)
	take := func(perSecond float64) (time.Duration, string) {
		h := http.Header{}
		wait, _ := q.Take(1, perSecond, now, Usual(h))
		if h.Get("X-Ratelimit-Limit-Tokens") != "" {
			t.Error("tokens are unlimited, and have headers")
		}
		return wait, h.Get("X-Ratelimit-Limit-Requests") + " " + h.Get("X-Ratelimit-Remaining-Requests")
	}
	for i, c := range []struct {
		perSecond float64
		wait      time.Duration
		said      string
	}{{0, 0, "600 599"}, {2, 0, "2 1"}, {2, 0, "2 0"}, {2, 500 * time.Millisecond, "2 0"}, {0, 100 * time.Millisecond, "600 0"}} {
		if wait, said := take(c.perSecond); wait != c.wait || said != c.said {
			t.Errorf("%d: waits %v with %s, want %v with %s", i, wait, said, c.wait, c.said)
		}
	}
	h := http.Header{}
	if seconds := Refuse(h, 1001*time.Millisecond); seconds != 2 || h.Get("Retry-After") != "2" {
		t.Errorf("%d, %v", seconds, h)
	}
}
