package mock

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestQuotaOfRequests uses up a quota, and waits for the time that the headers report.
func TestQuotaOfRequests(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := indoorModel(ModelConfig{RequestsPerMinute: 3}, &now)
	ask := func(remaining, reset string) {
		t.Helper()
		g := m.post(chatPath, hello(``), "X-Simulation-Mode", "true")
		h := g.header
		if g.status != 200 || h.Get("X-Ratelimit-Limit-Requests") != "3" || h.Get("X-Ratelimit-Remaining-Requests") != remaining ||
			h.Get("X-Ratelimit-Reset-Requests") != reset || h.Get("X-Ratelimit-Limit-Tokens") != "" {
			t.Errorf("%d %v, want %s remaining, reset in %s", g.status, h, remaining, reset)
		}
	}
	ask("2", "20s")
	ask("1", "40s")
	now = now.Add(500 * time.Millisecond)
	ask("0", "59.5s")
	g := m.post(chatPath, hello(``))
	var no struct{ Error apiError }
	if err := json.Unmarshal([]byte(g.body), &no); err != nil || g.status != 429 || g.header.Get("Retry-After") != "20" ||
		*no.Error.Code != "rate_limit_exceeded" || no.Error.Type != "requests" || g.header.Get("X-Ratelimit-Remaining-Requests") != "0" {
		t.Errorf("%d %s %v", g.status, g.body, g.header)
	}
	now = now.Add(20 * time.Second)
	ask("0", "59.5s")
	now = now.Add(59500 * time.Millisecond)
	ask("2", "20s")
}

// TestQuotaOfTokens checks that the tokens of an answer count, and that an answer larger than the whole quota is
// admitted at some point.
func TestQuotaOfTokens(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := indoorModel(ModelConfig{TokensPerMinute: 100}, &now)
	g := m.post(embedPath, fmt.Sprintf(`{"model":"mock-1","input":%q}`, strings.Repeat("word", 30)))
	if g.status != 200 || g.header.Get("X-Ratelimit-Remaining-Tokens") != "70" || g.header.Get("X-Ratelimit-Reset-Tokens") != "18s" {
		t.Errorf("%d %v", g.status, g.header)
	}
	large := fmt.Sprintf(`{"model":"mock-1","input":%q}`, strings.Repeat("word", 300))
	if g = m.post(embedPath, large); g.status != 429 || g.header.Get("Retry-After") != "18" || !strings.Contains(g.body, `"type":"tokens"`) {
		t.Errorf("%d %v", g.status, g.header)
	}
	now = now.Add(18 * time.Second)
	if g = m.post(embedPath, large); g.status != 200 || g.header.Get("X-Ratelimit-Remaining-Tokens") != "0" || g.header.Get("X-Ratelimit-Reset-Tokens") != "3m0s" {
		t.Errorf("%d %v", g.status, g.header)
	}
	if g = m.post(chatPath, hello(``)); g.status != 429 || g.header.Get("Retry-After") == "" {
		t.Errorf("the excess is not charged: %d", g.status)
	}
}

// TestQuotaIgnores checks requests that do not count: invalid ones, lists, and servers without a quota.
func TestQuotaIgnores(t *testing.T) {
	m := indoorModel(ModelConfig{RequestsPerMinute: 1}, nil)
	for range 3 {
		m.post(chatPath, `{}`)
		m.post(chatPath, hello(``), "Authorization", "Bearer wrong")
		m.send(http.MethodGet, "/v1/models", "")
	}
	if g := m.post(chatPath, hello(``)); g.status != 200 {
		t.Errorf("the first request: %d", g.status)
	}
	free := indoorModel(ModelConfig{}, nil)
	for range 1000 {
		if g := free.post(embedPath, `{"model":"mock-1","input":"a"}`); g.status != 200 || g.header.Get("X-Ratelimit-Limit-Requests") != "" {
			t.Fatalf("%d %v", g.status, g.header)
		}
	}
}

// TestQuotaHeadersAreTrue checks that a client that waits for Retry-After is admitted, that the quota is full after the
// reset, and that no minute admits more than the quota and the saved burst.
func TestQuotaHeadersAreTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		start := now
		requests, limit := rapid.IntRange(1, 5000).Draw(t, "requests"), rapid.IntRange(1, 5000).Draw(t, "tokens")
		q := newQuota(requests, limit, now)
		let := 0
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			tokens := rapid.IntRange(1, limit).Draw(t, "tokens")
			h := http.Header{}
			wait, _ := q.take(tokens, 0, now, h)
			if wait > 0 {
				now = now.Add(wait.Truncate(time.Second) + time.Second)
				if again, kind := q.take(tokens, 0, now, h); again > 0 {
					t.Fatalf("waited %v and must wait %v more for %s", wait, again, kind)
				}
			}
			let++
			if most := float64(requests) * (1 + now.Sub(start).Minutes()); float64(let) > most+1e-3 {
				t.Fatalf("%d requests in %v", let, now.Sub(start))
			}
		}
		h := http.Header{}
		q.take(1, 0, now, h)
		for _, name := range []string{"Requests", "Tokens"} {
			reset, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + name))
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(reset)
		}
		h = http.Header{}
		q.take(1, 0, now, h)
		if h.Get("X-Ratelimit-Remaining-Requests") != strconv.Itoa(requests-1) || h.Get("X-Ratelimit-Remaining-Tokens") != strconv.Itoa(limit-1) {
			t.Fatalf("after the reset: %v", h)
		}
	})
}

// TestQuotaUnderConcurrency checks that of many concurrent calls, the quota admits exactly its size.
func TestQuotaUnderConcurrency(t *testing.T) {
	m := indoorModel(ModelConfig{RequestsPerMinute: 25}, nil)
	var wg sync.WaitGroup
	var let atomic.Int64
	for range 100 {
		wg.Go(func() {
			if m.post(chatPath, hello(``)).status == 200 {
				let.Add(1)
			}
		})
	}
	wg.Wait()
	if let.Load() != 25 || m.Stats().Statuses[429] != 75 {
		t.Errorf("%d let through, %v", let.Load(), m.Stats().Statuses)
	}
}
