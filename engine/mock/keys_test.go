package mock

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestKeyAnswersTheSameAgain(t *testing.T) {
	v := visit(t, Config{Seed: 9})
	s := v.shop
	add := ask{user: "ann", method: "POST", path: "/api/cart/items", body: s.productJSON(2, 3)}
	for i, a := range []ask{
		{user: "ann", method: "POST", path: "/api/shopping/session"},
		{user: "ann", method: "POST", path: "/api/stores/select", body: fmt.Sprintf(`{"store_id":%q}`, s.goods.stores[1].id)},
		{user: "ann", method: "POST", path: "/api/orders"}, // refused; the refusal is kept
		add,
		{user: "ann", method: "POST", path: "/api/cart/coupons", body: s.couponJSON(s.firstCoupon("ann"))},
		{user: "ann", method: "POST", path: "/api/cart/coupons", body: `{"coupon_id":7}`},
		{user: "ann", method: "POST", path: "/api/orders"},
		{user: "ann", method: "DELETE", path: "/api/cart"},
	} {
		a.key = fmt.Sprint("key ", i)
		first := v.do(t, a)
		state := s.state()
		for range 2 {
			again := v.do(t, a)
			if again.status != first.status || again.body != first.body {
				t.Errorf("%s %s: %d %s, then %d %s", a.method, a.path, first.status, first.body, again.status, again.body)
			}
			if first.header.Get("Idempotency-Replayed") != "" || again.header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("%s %s: replayed is %q, then %q", a.method, a.path, first.header.Get("Idempotency-Replayed"), again.header.Get("Idempotency-Replayed"))
			}
		}
		if got := s.state(); got != state {
			t.Errorf("%s %s again changed the state to\n%s\nfrom\n%s", a.method, a.path, got, state)
		}
	}
	if got := s.Stats().Replays; got != 16 {
		t.Errorf("%d replays, want 16", got)
	}
	// The key is checked before anything else in the request, and per user.
	add.key, add.body, add.session = "key 6", "nonsense", "nonsense"
	if g := v.do(t, add); g.status != 201 || g.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the key of the order on another call: %d %s", g.status, g.body)
	}
	add.user, add.body, add.session = "bob", s.productJSON(2, 1), ""
	if g := v.do(t, add); g.status != 200 || g.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("the same key of another user: %d %s", g.status, g.body)
	}
}

func TestKeyOfAReadingCallIsIgnored(t *testing.T) {
	s := indoors(t, Config{Seed: 9})
	read := ask{user: "ann", method: "GET", path: "/api/cart", key: "k"}
	before := s.ask(read).body
	s.ask(ask{user: "ann", method: "POST", path: "/api/cart/items", body: s.productJSON(1, 1), key: "k"})
	after := s.ask(read)
	if after.body == before || after.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("the cart after an addition reads %s", after.body)
	}
}

// TestRefusalsOutsideTheShopAreNotKept checks that 401, 404, 405 without a route and 429 are decided before keys are
// read.
func TestRefusalsOutsideTheShopAreNotKept(t *testing.T) {
	v := visit(t, Config{Seed: 9, Faults: Faults{RateLimited: 1}})
	add := ask{user: "ann", method: "POST", path: "/api/cart/items", body: v.shop.productJSON(2, 3), key: "k"}
	for _, status := range []int{429, 429} {
		if g := v.do(t, add); g.status != status || g.header.Get("Idempotency-Replayed") != "" {
			t.Errorf("got %d %q, want %d", g.status, g.header, status)
		}
	}
	v.shop.SetFaults(Faults{ServerError: 1})
	if g := v.do(t, add); g.status != 500 || g.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("got %d, want 500", g.status)
	}
	v.shop.SetFaults(Faults{})
	if g := v.do(t, add); g.status != 200 || g.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("after the faults: %d %s", g.status, g.body)
	}
}

// TestConcurrentDuplicatesMakeOne sends each key many times concurrently.
func TestConcurrentDuplicatesMakeOne(t *testing.T) {
	const copies, users = 8, 6
	v := visit(t, Config{Seed: 9, Log: filepath.Join(t.TempDir(), "shop.log")})
	s := v.shop
	for u := range users {
		v.must(t, ask{user: fmt.Sprint(u), method: "POST", path: "/api/cart/items", body: s.productJSON(u, 1)}, nil)
	}
	var wg sync.WaitGroup
	answers := make([][]got, users)
	for u := range users {
		answers[u] = make([]got, copies)
		for i := range copies {
			wg.Go(func() {
				answers[u][i] = v.do(t, ask{user: fmt.Sprint(u), method: "POST", path: "/api/orders", key: "order"})
			})
		}
	}
	wg.Wait()
	for u, all := range answers {
		fresh := 0
		for _, g := range all {
			if g.status != 201 || g.body != all[0].body {
				t.Errorf("user %d: %d %s %v, want the same order", u, g.status, g.body, g.err)
			}
			if g.header.Get("Idempotency-Replayed") == "" {
				fresh++
			}
		}
		if fresh != 1 {
			t.Errorf("user %d: %d answers were not replayed, want 1", u, fresh)
		}
	}
	if o := s.Orders(); o.Total != users || o.DoubledKeys != 0 {
		t.Errorf("orders %+v, want one for each of %d users", o, users)
	}
}

// TestSecondOfAKeyWaitsForTheFirst blocks the first request with a key while it makes its change, and checks that a
// second one with the same key gets no answer before it.
func TestSecondOfAKeyWaitsForTheFirst(t *testing.T) {
	s := indoors(t, Config{Seed: 9})
	u := s.users.of("ann")
	s.ask(ask{user: "ann", method: "POST", path: "/api/cart/items", body: s.productJSON(1, 1)})
	u.mu.Lock() // simulates a first request in progress
	second := make(chan got)
	go func() { second <- s.ask(ask{user: "ann", method: "POST", path: "/api/orders", key: "k"}) }()
	c := change{op: opOrder, user: "ann", keyed: true, key: hashKey("k"), era: era{at: s.clock().UnixMicro()}}
	status, body := s.apply(u, &c).write(s, u, nil)
	select {
	case g := <-second:
		t.Errorf("the second was answered first: %d", g.status)
	default:
	}
	u.mu.Unlock()
	if g := <-second; g.status != status || g.body != string(body) || g.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the second got %d %s, want %d %s", g.status, g.body, status, body)
	}
}

// TestKeysOfARunExpireWithTheBarrier checks that cycle c forgets this user's keys of cycles before c-1.
func TestKeysOfARunExpireWithTheBarrier(t *testing.T) {
	s := indoors(t, Config{Seed: 9})
	add := func(user, key string, cycle int) bool {
		g := s.ask(ask{user: user, method: "POST", path: "/api/cart/items", body: s.productJSON(1, 1), key: key, tag: stamp(cycle, "add", 1)})
		if g.status != 200 {
			t.Fatalf("%d %s", g.status, g.body)
		}
		return g.header.Get("Idempotency-Replayed") == "true"
	}
	for _, c := range []struct {
		user, key string
		cycle     int
		replayed  bool
	}{
		{"ann", "a", 1, false},
		{"ann", "a", 1, true},
		{"ann", "a", 2, true}, // the barrier of cycle 1 is the previous one
		{"ann", "b", 2, false},
		{"ann", "a", 3, false},
		{"ann", "b", 3, true},
		{"bob", "a", 9, false},
		{"ann", "b", 3, true}, // bob's requests do not affect ann's keys
		{"ann", "c", 9, false},
		{"ann", "b", 9, false},
	} {
		if got := add(c.user, c.key, c.cycle); got != c.replayed {
			t.Errorf("%s, key %s in cycle %d: replayed %v, want %v", c.user, c.key, c.cycle, got, c.replayed)
		}
	}
	if got := len(s.users.of("ann").answered); got != 2 {
		t.Errorf("ann has %d keys, want the 2 of cycle 9", got)
	}
}

// TestSessionsExpireLikeKeys checks that memory does not grow with cycles.
func TestSessionsExpireLikeKeys(t *testing.T) {
	s := indoors(t, Config{Seed: 9})
	for cycle := range 50 {
		for _, user := range []string{"ann", "bob"} {
			id := newID(testRoot(1).Text(user).Int(uint64(cycle))).String()
			if g := s.ask(ask{user: user, method: "POST", path: "/api/shopping/session", session: id, key: id, tag: stamp(cycle, "enter", 1)}); g.status != 201 {
				t.Fatalf("%d %s", g.status, g.body)
			}
		}
	}
	held := 0
	for i := range s.sessions.shards {
		held += len(s.sessions.shards[i].owner)
	}
	if u := s.users.of("ann"); held != 4 || len(u.seen) != 2 || len(u.answered) != 2 {
		t.Errorf("%d sessions held, %d and %d keys ann's; want 4, 2 and 2", held, len(u.seen), len(u.answered))
	}
}

func TestKeysWithoutCyclesExpireAfterADay(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := build(Config{Seed: 9, Secret: "secret"}, testClock(&now))
	replayed := func(key string) bool {
		g := s.ask(ask{user: "ann", method: "POST", path: "/api/cart/items", body: s.productJSON(1, 1), key: key, session: someID(1)})
		return g.header.Get("Idempotency-Replayed") == "true"
	}
	replayed("a")
	now = now.Add(24 * time.Hour)
	if !replayed("a") {
		t.Error("forgotten after a day to the second")
	}
	now = now.Add(time.Second)
	if replayed("a") {
		t.Error("kept for more than a day")
	}
	for range 100 {
		now = now.Add(time.Hour)
		replayed(now.String())
	}
	if u := s.users.of("ann"); len(u.answered) > 26 || len(u.seen) != 1 {
		t.Errorf("%d keys and %d sessions after 100 hours", len(u.answered), len(u.seen))
	}
}
