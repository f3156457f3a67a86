package mock

import (
	"fmt"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// shopping draws requests of a few users over a few cycles: changes, refusals, repeated keys, sessions, reads.
type shopping struct {
	shop   *Shop
	source *draw.Source
	cycle  int
	keys   []ask // sent before, with a key
}

func (s *shopping) next() ask {
	pick := func(n int) int { return s.source.IntN(n) }
	if pick(12) == 0 {
		s.cycle++
	}
	if len(s.keys) > 0 && pick(6) == 0 {
		return s.keys[pick(len(s.keys))]
	}
	a := ask{user: fmt.Sprint("user-", pick(3)), method: "POST"}
	switch pick(10) {
	case 0:
		a.path, a.body = "/api/shopping/session", "{}"
	case 1:
		a.path, a.body = "/api/stores/select", fmt.Sprintf(`{"store_id":%q}`, s.shop.goods.stores[pick(storeCount)].id)
	case 2:
		a.path, a.body = "/api/cart/coupons", s.shop.couponJSON(pick(couponCount))
	case 3, 5:
		a.path = "/api/orders"
	case 4:
		a.path, a.method = "/api/cart", []string{"GET", "DELETE"}[pick(2)]
	default:
		a.path, a.body = "/api/cart/items", s.shop.productJSON(pick(6), pick(300))
	}
	if pick(4) > 0 {
		a.tag = stamp(s.cycle, "step", 1)
	}
	if pick(2) == 0 {
		a.session = someID(byte(pick(6)))
	}
	if pick(3) > 0 {
		a.key = fmt.Sprint("key-", pick(40))
		s.keys = append(s.keys, a)
	}
	return a
}

// TestLogReplaysToTheLiveState makes random changes and, after each, starts another shop from the log.
func TestLogReplaysToTheLiveState(t *testing.T) {
	for _, scarce := range []bool{false, true} {
		cfg := Config{Seed: 21, Scarcity: scarce, Log: filepath.Join(t.TempDir(), "shop.log")}
		s := indoors(t, cfg)
		walk := &shopping{shop: s, source: draw.Key{}.Text("shopping").Source()}
		again := Config{Seed: 21, Scarcity: scarce, Log: filepath.Join(t.TempDir(), "again.log")}
		for i := range 150 {
			a := walk.next()
			g := s.ask(a)
			if g.status >= 500 {
				t.Fatalf("%+v: %d %s", a, g.status, g.body)
			}
			content := readFile(t, cfg.Log)
			writeFile(t, again.Log, content)
			other := indoors(t, again)
			if got, want := other.state(), s.state(); got != want {
				t.Fatalf("after %d requests, the last %+v, the log replays to\n%s\nwant\n%s", i+1, a, got, want)
			}
			if err := other.log.close(); err != nil {
				t.Fatal(err)
			}
		}
		if total := s.Orders().Total; total < 5 || s.count.replays.Load() < 10 {
			t.Errorf("only %d orders and %d replays", total, s.count.replays.Load())
		}
		if err := s.log.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRestartsChangeNothing sends the same requests to a shop that restarts before each of them.
func TestRestartsChangeNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := Config{Seed: rapid.Uint64Range(0, 3).Draw(rt, "seed"), Log: filepath.Join(t.TempDir(), "shop.log")}
		steady, restarted := indoors(t, Config{Seed: cfg.Seed}), indoors(t, cfg)
		walk := &shopping{shop: steady, source: testRoot(rapid.Uint64().Draw(rt, "walk")).Source()}
		for range rapid.IntRange(1, 25).Draw(rt, "requests") {
			a := walk.next()
			if a.tag == "" {
				a.tag = stamp(walk.cycle, "untold", 1) // without a tag, created_at would show the wall clock
			}
			if err := restarted.log.close(); err != nil {
				rt.Fatal(err)
			}
			restarted = indoors(t, cfg)
			want, got := steady.ask(a), restarted.ask(a)
			if got.status != want.status || got.body != want.body {
				rt.Fatalf("%+v: restarted %d %s, steady %d %s", a, got.status, got.body, want.status, want.body)
			}
		}
		if err := restarted.log.close(); err != nil {
			rt.Fatal(err)
		}
	})
}
