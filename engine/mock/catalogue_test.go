package mock

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/throng-sim/throng/engine/internal/draw"
)

func TestCatalogueFollowsTheContract(t *testing.T) {
	for seed := range uint64(20) {
		c := build(Config{Seed: seed}, testClock(nil)).goods
		if len(c.products) != 200 || len(c.stores) != 20 || len(c.coupons) != 40 {
			t.Fatalf("seed %d: %d products, %d stores, %d coupons", seed, len(c.products), len(c.stores), len(c.coupons))
		}
		brands, names := map[string]bool{}, map[string]bool{}
		ids := map[uuid.UUID]bool{}
		for _, p := range c.products {
			brands[p.brand], names[p.name], ids[p.id] = true, true, true
			if p.price < 50 || p.price > 3_000 || p.price%10 != 9 {
				t.Errorf("seed %d: %s costs %v", seed, p.name, p.price)
			}
			if p.stock < 100 || p.stock >= maxStock || p.ratingTenths < 30 || p.ratingTenths > 50 {
				t.Errorf("seed %d: %s has stock %d and rating %d", seed, p.name, p.stock, p.ratingTenths)
			}
		}
		for _, s := range c.stores {
			ids[s.id] = true
		}
		for _, coupon := range c.coupons {
			ids[coupon.id] = true
			if coupon.value <= 0 || coupon.details == "" || (coupon.kind == kindFrontstore) != (coupon.minimum > 0) ||
				coupon.ceiling > 0 && coupon.discount != discountPercent {
				t.Errorf("seed %d: coupon %+v", seed, coupon)
			}
		}
		if len(names) != 200 || len(brands) < 15 || len(ids) != 260 {
			t.Errorf("seed %d: %d names, %d brands, %d ids", seed, len(names), len(brands), len(ids))
		}
		if (c.frontstore|c.itemLevel).len() != 40 || c.frontstore.len() != frontstoreCoupons {
			t.Errorf("seed %d: %d frontstore coupons", seed, c.frontstore.len())
		}
	}
}

// TestCatalogueIsStable pins the catalogue of a seed, because existing runs and logs refer to it. If it must change, raise logVersion
// too.
func TestCatalogueIsStable(t *testing.T) {
	s := build(Config{Seed: 1}, testClock(nil))
	var h bytes.Buffer
	for _, p := range s.goods.products {
		fmt.Fprintf(&h, "%s %d\n", p.opening, p.stock)
	}
	for _, store := range s.goods.stores {
		fmt.Fprintf(&h, "%s\n", store.json)
	}
	for _, c := range s.goods.coupons {
		fmt.Fprintf(&h, "%s\n", c.full)
	}
	u := s.users.of("shopper-1")
	fmt.Fprintln(&h, u.wallet, u.store, u.nextSession(), u.itemID(0, 3), s.goods.search(u.key, "dairy milk", 50))
	const want = "91c90d9a3cb8bcf8"
	if got := fmt.Sprintf("%.8x", sha256.Sum256(h.Bytes())); got != want {
		t.Errorf("seed 1 has hash %s, want %s", got, want)
	}
}

func TestSearchFinds(t *testing.T) {
	s := build(Config{Seed: 1}, testClock(nil))
	c, user := s.goods, s.users.of("ann").key
	for _, shelf := range assortment {
		for _, query := range []string{shelf.category, strings.ToUpper(shelf.category), " " + strings.ToLower(shelf.category) + "!"} {
			found := c.search(user, query, productCount)
			in := 0
			for _, n := range found {
				if c.products[n].category == shelf.category {
					in++
				}
			}
			if in != shelfSize {
				t.Errorf("%q finds %d of its %d products", query, in, shelfSize)
			}
		}
	}
	for query, want := range map[string]string{
		"apple": "Gala Apples", "APPLES": "Gala Apples", "gala": "Gala Apples", "cheddar cheese": "Sharp Cheddar",
		"paper towel": "Paper Towels", "dark chocolate": "Dark Chocolate",
	} {
		found := c.search(user, query, 50)
		if !slices.ContainsFunc(found, func(n int) bool { return c.products[n].name == want }) {
			t.Errorf("%q does not find %s", query, want)
		}
	}
	brand := c.products[0].brand
	if found := c.search(user, brand, 50); !slices.Contains(found, 0) {
		t.Errorf("the brand %q does not find its product", brand)
	}
	if first := c.search(user, "whole wheat bread", 3)[0]; c.products[first].name != "Whole Wheat Bread" {
		t.Errorf("three matching words do not come first, but %s", c.products[first].name)
	}
	for _, query := range []string{"", "  ", "&", "zzzz", "a"} {
		if found := c.search(user, query, 50); len(found) > 0 {
			t.Errorf("%q finds %d products", query, len(found))
		}
	}
	if got := len(c.search(user, "Dairy", 5)); got != 5 {
		t.Errorf("limit 5 returns %d", got)
	}
	if long := strings.Repeat("x ", 5_000) + "dairy"; len(c.search(user, long, 5)) != 0 {
		t.Errorf("word 5,001 of a query was used")
	}
}

func TestSearchOrderIsTheUsersOwn(t *testing.T) {
	s := build(Config{Seed: 1}, testClock(nil))
	search := func(user string) string {
		return fmt.Sprint(s.goods.search(s.users.of(user).key, "Snacks", 50))
	}
	ann := search("ann")
	if again := search("ann"); again != ann {
		t.Errorf("the same search of the same user returns %s, then %s", ann, again)
	}
	if search("bob") == ann {
		t.Error("two users have the same order")
	}
	other := build(Config{Seed: 2}, testClock(nil))
	if other.goods.products[0].id == s.goods.products[0].id {
		t.Error("two seeds have the same product ids")
	}
}

func TestWalletsDiffer(t *testing.T) {
	root := draw.Key{}.Int(1)
	sizes := map[int]int{}
	wallets := map[couponSet]int{}
	var any couponSet
	for i := range 5_000 {
		w := newWallet(root.Int(uint64(i)))
		sizes[w.len()]++
		wallets[w]++
		any |= w
	}
	for size := smallestWallet; size <= largestWallet; size++ {
		if sizes[size] < 500 {
			t.Errorf("%d of 5,000 wallets have %d coupons", sizes[size], size)
		}
	}
	if len(sizes) != largestWallet-smallestWallet+1 || len(wallets) < 4_900 || any.len() != couponCount {
		t.Errorf("sizes %v, %d wallets, %d coupons in them", sizes, len(wallets), any.len())
	}
}

func TestAppendIDIsTheUUID(t *testing.T) {
	form := regexp.MustCompile(`^"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$`)
	for i := range uint64(100) {
		id := newID(draw.Key{}.Int(i))
		if got := string(appendID(nil, id)); got != `"`+id.String()+`"` || !form.MatchString(got) {
			t.Errorf("appendID(%v) = %s", id, got)
		}
	}
}
