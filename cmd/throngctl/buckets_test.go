package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// counterShop is a shop that accepts a number of orders per second, and any number of other requests.
type counterShop struct {
	perSecond int

	mu                sync.Mutex
	began             time.Time
	used, refused     int
	orders, looks     int
	lastLook, lastBuy time.Time
}

func (s *counterShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		s.looks, s.lastLook = s.looks+1, now
		fmt.Fprint(w, `{}`)
		return
	}
	if now.Sub(s.began) > time.Second {
		s.began, s.used = now, 0
	}
	if s.used++; s.used > s.perSecond {
		s.refused++
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	s.orders, s.lastBuy = s.orders+1, now
	fmt.Fprint(w, `{}`)
}

// TestLimitedOrdersDoNotHoldTheRestBack runs against a shop whose orders are rate-limited. Other requests of agents must be
// sent while orders wait, even though there are fewer connections than orders.
func TestLimitedOrdersDoNotHoldTheRestBack(t *testing.T) {
	t.Parallel()
	shop := &counterShop{perSecond: 3}
	server := httptest.NewServer(shop)
	defer server.Close()
	data := t.TempDir()
	file := filepath.Join(data, "shop.yaml")
	text := strings.ReplaceAll(`
population: {count: 80, attributes: {buys: "${agent.index % 8 == 0}"}}
services: {shop: {kind: http, url: "URL", repeats: harmless, limits: {connections: 4}}}
chain visit:
  step look: {kind: http, service: shop, get: "/products/${agent.index}"}
  step order: {kind: http, service: shop, post: /orders, json: {}, when: agent.buys}
  step again: {kind: http, service: shop, get: "/products/${agent.index}", when: not agent.buys}
`, "URL", server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := ctl(t, "run", file, "--data", data, "--no-dashboard", "--no-adaptive", "--max-concurrent", "20")
	if code != exitDone || shop.looks != 150 || shop.orders != 10 || shop.refused == 0 {
		t.Fatalf("exit code %d, %d looks, %d orders, %d refused\n%s%s", code, shop.looks, shop.orders, shop.refused, stdout, stderr)
	}
	if ahead := shop.lastBuy.Sub(shop.lastLook); ahead < time.Second {
		t.Errorf("the last order came only %v after all other requests, which waited for the orders", ahead)
	}
	if strings.Contains(stdout, "inexact") {
		t.Errorf("waiting for an endpoint makes a run inexact:\n%s", stdout)
	}
}
