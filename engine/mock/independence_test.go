package mock

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// errand returns a user's sequence of requests.
func errand(s *Shop, user string, seed uint64) []ask {
	walk := &shopping{shop: s, source: testRoot(seed).Text(user).Source()}
	var all []ask
	for i := range 60 {
		a := walk.next()
		a.user = user
		a.tag = stamp(walk.cycle, fmt.Sprint("step[", i, "]"), 1)
		if a.session != "" {
			a.session = newID(testRoot(7).Text(user + a.session)).String()
		}
		all = append(all, a)
		if i%3 == 0 {
			all = append(all, ask{user: user, method: "GET", tag: a.tag, path: []string{
				"/api/products/search?query=dairy", "/api/coupons/eligible", "/api/cart", "/api/orders", "/api/products?limit=7",
			}[i/3%5]})
		}
	}
	return all
}

// TestAnswersDoNotDependOnOtherUsers runs users in sequence and concurrently over HTTP, with every fault that an answer can show.
func TestAnswersDoNotDependOnOtherUsers(t *testing.T) {
	for name, f := range map[string]Faults{
		"no faults": {},
		"faults":    {RateLimited: 0.1, ServerError: 0.1, Cut: 0.1, BadBody: 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			const users = 8
			text := func(g got) string {
				if g.err != nil {
					return "cut"
				}
				return fmt.Sprint(g.status, g.body, g.header.Get("Idempotency-Replayed"), g.header.Get("Retry-After"))
			}
			serial := visit(t, Config{Seed: 31, Faults: f})
			want := make([][]string, users)
			for u := users - 1; u >= 0; u-- {
				for _, a := range errand(serial.shop, fmt.Sprint("user-", u), 5) {
					want[u] = append(want[u], text(serial.do(t, a)))
				}
			}
			atOnce := visit(t, Config{Seed: 31, Faults: f, Log: filepath.Join(t.TempDir(), "shop.log")})
			answers := make([][]string, users)
			var wg sync.WaitGroup
			for u := range users {
				wg.Go(func() {
					for _, a := range errand(atOnce.shop, fmt.Sprint("user-", u), 5) {
						answers[u] = append(answers[u], text(atOnce.do(t, a)))
					}
				})
			}
			wg.Wait()
			for u := range users {
				for i := range want[u] {
					if answers[u][i] != want[u][i] {
						t.Fatalf("user %d, request %d: concurrently\n%s\nin sequence\n%s", u, i, answers[u][i], want[u][i])
					}
				}
			}
			if a, b := atOnce.shop.state(), serial.shop.state(); a != b {
				t.Errorf("states differ:\n%s\n%s", a, b)
			}
			if serial.shop.Orders().Total < users {
				t.Errorf("only %d orders", serial.shop.Orders().Total)
			}
		})
	}
}

// TestIndependentChangesCommute puts the same products and coupons into a cart in any order, as parallel steps do.
func TestIndependentChangesCommute(t *testing.T) {
	var states []string
	for seed := range uint64(10) {
		s := indoors(t, Config{Seed: 12})
		var all []ask
		for n := range 8 {
			all = append(all, ask{user: "ann", method: "POST", path: "/api/cart/items", body: s.productJSON(n*20, n+1)})
		}
		for n := range s.users.of("ann").wallet.all() {
			all = append(all, ask{user: "ann", method: "POST", path: "/api/cart/coupons", body: s.couponJSON(n)})
		}
		draw.Key{}.Int(seed).Source().Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		answers := make([]string, 0, len(all))
		for _, a := range all {
			a.tag = stamp(1, "x", 1)
			answers = append(answers, s.ask(a).body)
		}
		slices.Sort(answers)
		states = append(states, fmt.Sprint(answers, s.ask(ask{user: "ann", method: "POST", path: "/api/orders", tag: stamp(1, "x", 1)}).body))
	}
	for _, other := range states {
		if other != states[0] {
			t.Fatalf("in another order\n%s\nnot\n%s", other, states[0])
		}
	}
}
