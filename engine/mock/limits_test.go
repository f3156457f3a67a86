package mock

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

func TestRateLimits(t *testing.T) {
	for _, c := range []struct {
		path  string
		calls int
	}{
		{"/api/products", 60},
		{"/api/products/search?query=milk", 30},
		{"/api/coupons/eligible", 30},
		{"/api/cart", 0}, // none
	} {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		s := build(Config{Secret: "secret"}, testClock(&now))
		call := func(user string) got {
			return s.ask(ask{user: user, method: "GET", path: c.path, limited: true})
		}
		for i := range max(c.calls, 100) {
			g := call(fmt.Sprint(i % 3)) // by address, not by user
			if want := c.calls == 0 || i < c.calls; (g.status == 200) != want || !want && g.header.Get("Retry-After") != "60" {
				t.Fatalf("%s: call %d gets %d, Retry-After %q", c.path, i+1, g.status, g.header.Get("Retry-After"))
			}
		}
		if c.calls == 0 {
			continue
		}
		now = now.Add(59*time.Second + time.Millisecond)
		if g := call("ann"); g.status != 429 || g.header.Get("Retry-After") != "1" || !json.Valid([]byte(g.body)) {
			t.Errorf("%s after 59 s: %d, Retry-After %q", c.path, g.status, g.header.Get("Retry-After"))
		}
		now = now.Add(time.Second)
		if g := call("ann"); g.status != 200 {
			t.Errorf("%s after a minute: %d", c.path, g.status)
		}
	}
}

func TestSimulationModeLiftsTheLimits(t *testing.T) {
	for _, kept := range []bool{false, true} {
		s := build(Config{Secret: "secret", KeepRateLimits: kept}, testClock(nil))
		limited := 0
		for range 100 {
			if s.ask(ask{user: "ann", method: "GET", path: "/api/products"}).status == 429 {
				limited++
			}
		}
		if want := map[bool]int{false: 0, true: 40}[kept]; limited != want {
			t.Errorf("limits kept %v: %d of 100 calls refused, want %d", kept, limited, want)
		}
	}
}

func TestLimitsForgetOldAddresses(t *testing.T) {
	l, now := newLimits(), time.Now()
	for i := range 10 * tooManyAddresses {
		if i%tooManyAddresses == 0 {
			now = now.Add(time.Minute)
		}
		l.take(caller{fmt.Sprint(i), limitSearch}, now)
	}
	if got := len(l.minutes); got > tooManyAddresses {
		t.Errorf("%d addresses are stored", got)
	}
}
