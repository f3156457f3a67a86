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

// TestQuotaOfMessages checks the headers of Anthropic's format, in which a quota is full at a time.
func TestQuotaOfMessages(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 250_000_000, time.UTC)
	m := indoorModel(ModelConfig{RequestsPerMinute: 2, TokensPerMinute: 1000}, &now)
	ask := func(status int, requests, reset string) http.Header {
		t.Helper()
		g := m.message(hello(`,"max_tokens":9`))
		h := g.header
		if g.status != status || h.Get("Anthropic-Ratelimit-Requests-Limit") != "2" || h.Get("Anthropic-Ratelimit-Requests-Remaining") != requests ||
			h.Get("Anthropic-Ratelimit-Requests-Reset") != reset || h.Get("X-Ratelimit-Limit-Requests")+h.Get("X-Ratelimit-Remaining-Tokens") != "" {
			t.Errorf("%d %v, want %d with %s requests until %s", g.status, h, status, requests, reset)
		}
		return h
	}
	h := ask(200, "1", "2026-01-02T03:04:36Z") // rounded up
	if left, err := strconv.Atoi(h.Get("Anthropic-Ratelimit-Tokens-Remaining")); err != nil || left >= 1000 || left < 900 || h.Get("Anthropic-Ratelimit-Tokens-Limit") != "1000" ||
		h.Get("Anthropic-Ratelimit-Tokens-Reset") < "2026-01-02T03:04:06Z" {
		t.Errorf("tokens: %v", h)
	}
	ask(200, "0", "2026-01-02T03:05:06Z")
	if h := ask(429, "0", "2026-01-02T03:05:06Z"); h.Get("Retry-After") != "30" {
		t.Errorf("Retry-After is %q", h.Get("Retry-After"))
	}
	if g := m.post(chatPath, hello(``)); g.header.Get("Anthropic-Ratelimit-Requests-Limit") != "" || g.header.Get("X-Ratelimit-Limit-Requests") != "2" {
		t.Errorf("the other format shares the quota, with its own headers: %v", g.header)
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
