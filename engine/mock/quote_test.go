package mock

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestMoneyReads(t *testing.T) {
	for c, want := range map[cents]string{0: "0.00", 5: "0.05", 99: "0.99", 100: "1.00", 1250: "12.50", 123456: "1234.56", -5: "-0.05", -1250: "-12.50"} {
		if got := c.String(); got != want {
			t.Errorf("%d cents = %s, want %s", int64(c), got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		c := cents(rapid.Int64Range(-1e15, 1e15).Draw(t, "cents"))
		text := c.String()
		if !json.Valid([]byte(text)) {
			t.Fatalf("%s is not a JSON number", text)
		}
		want := new(big.Rat).SetFrac64(int64(c), 100).FloatString(2)
		if text != want {
			t.Fatalf("%d cents = %s, want %s", int64(c), text, want)
		}
	})
}

// TestPercentRoundsHalfUp compares with exact fractions.
func TestPercentRoundsHalfUp(t *testing.T) {
	halfUp := func(amount, value, per int64) int64 {
		r := new(big.Rat).SetFrac64(amount*value, per)
		r.Add(r, big.NewRat(1, 2))
		return new(big.Int).Div(r.Num(), r.Denom()).Int64()
	}
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64Range(0, 1e9).Draw(t, "amount")
		value := rapid.Int64Range(0, 10_000).Draw(t, "value")
		if got, want := cents(amount).percent(cents(value)), halfUp(amount, value, 10_000); int64(got) != want {
			t.Fatalf("percent = %d, want %d", got, want)
		}
		if got, want := cents(amount).bogo(cents(value)), halfUp(amount, value, 20_000); int64(got) != want {
			t.Fatalf("bogo = %d, want %d", got, want)
		}
	})
}

func TestCouponTakesOff(t *testing.T) {
	for _, c := range []struct {
		name   string
		coupon coupon
		amount cents
		want   cents
	}{
		{"percent", coupon{discount: discountPercent, value: 15 * wholePercent}, 1000, 150},
		{"percent rounds half up", coupon{discount: discountPercent, value: 15 * wholePercent}, 10, 2},
		{"percent up to its maximum", coupon{discount: discountPercent, value: 50 * wholePercent, ceiling: 300}, 1000, 300},
		{"percent just under its maximum", coupon{discount: discountPercent, value: 30 * wholePercent, ceiling: 301}, 1000, 300},
		{"fixed", coupon{discount: discountFixed, value: 250}, 1000, 250},
		{"fixed above the amount", coupon{discount: discountFixed, value: 250}, 199, 199},
		{"bogo", coupon{discount: discountTwoFor, value: 100 * wholePercent}, 1000, 500},
		{"bogo in part", coupon{discount: discountTwoFor, value: 25 * wholePercent}, 1000, 125},
		{"of nothing", coupon{discount: discountFixed, value: 250}, 0, 0},
	} {
		if got := c.coupon.off(c.amount); got != c.want {
			t.Errorf("%s: %v off %v, want %v", c.name, got, c.amount, c.want)
		}
	}
}

// drawCart draws a cart and a selection of coupons.
func drawCart(t *rapid.T) ([]line, couponSet) {
	var cart []line
	for _, n := range rapid.SliceOfNDistinct(rapid.Int32Range(0, productCount-1), 0, 8, rapid.ID).Draw(t, "products") {
		cart = add(cart, line{n, rapid.Int32Range(1, 40).Draw(t, "quantity")})
	}
	var selected couponSet
	for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(0, couponCount-1), 0, 12, rapid.ID).Draw(t, "coupons") {
		selected.add(n)
	}
	return cart, selected
}

// TestQuoteIsTheBest checks a quote against the definition: no other selected coupon has a larger discount, sums are correct, and no
// price is negative.
func TestQuoteIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCatalogue(testRoot(rapid.Uint64Range(1, 5).Draw(t, "seed")))
		cart, selected := drawCart(t)
		q := c.quote(cart, selected)
		var subtotal, itemDiscounts cents
		for i, l := range q.lines {
			p := &c.products[l.product]
			if l.line != cart[i] || l.unit != p.price || l.total != p.price*cents(l.quantity) {
				t.Fatalf("line %d of %v is %+v", i, cart, l)
			}
			best := cents(0)
			for n := range selected.all() {
				if coupon := &c.coupons[n]; coupon.kind != kindFrontstore && coupon.covers(p) {
					best = max(best, coupon.off(l.total))
				}
			}
			if l.discount != best || l.discount > l.total || (l.coupon == noCoupon) != (best == 0) {
				t.Fatalf("line %d has discount %v by coupon %d, the best is %v", i, l.discount, l.coupon, best)
			}
			if l.coupon != noCoupon && (!selected.has(l.coupon) || !c.coupons[l.coupon].covers(p)) {
				t.Fatalf("line %d has coupon %d", i, l.coupon)
			}
			subtotal += l.total
			itemDiscounts += l.discount
		}
		best := cents(0)
		for n := range selected.all() {
			if coupon := &c.coupons[n]; coupon.kind == kindFrontstore && subtotal >= coupon.minimum {
				best = max(best, coupon.off(subtotal-itemDiscounts))
			}
		}
		if q.subtotal != subtotal || q.itemDiscounts != itemDiscounts || q.frontDiscount != best ||
			q.total != subtotal-itemDiscounts-best || q.total < 0 || q.subtotal != c.subtotal(cart) {
			t.Fatalf("quote %+v, want subtotal %v, item discounts %v, frontstore %v", q, subtotal, itemDiscounts, best)
		}
		if q.front != noCoupon && c.coupons[q.front].kind != kindFrontstore {
			t.Fatalf("frontstore coupon is %+v", c.coupons[q.front])
		}
	})
}

// TestMoreCouponsNeverCostMore checks that one more selected coupon never raises the price, unless it lowers the
// subtotal of a frontstore percentage. The rule therefore holds for item-level and for frontstore coupons separately.
func TestMoreCouponsNeverCostMore(t *testing.T) {
	c := newCatalogue(testRoot(1))
	rapid.Check(t, func(t *rapid.T) {
		cart, selected := drawCart(t)
		set := rapid.SampledFrom([]couponSet{c.itemLevel, c.frontstore}).Draw(t, "kind")
		more := selected
		more.add(rapid.IntRange(0, couponCount-1).Draw(t, "more"))
		if a, b := c.quote(cart, selected&set).total, c.quote(cart, more&set).total; b > a {
			t.Fatalf("%v with one more coupon, %v without", b, a)
		}
	})
}

// TestEligibleCouponsHaveADiscount checks that a coupon has either a discount or an obstacle with a reason.
func TestEligibleCouponsHaveADiscount(t *testing.T) {
	c := newCatalogue(testRoot(3))
	rapid.Check(t, func(t *rapid.T) {
		cart, _ := drawCart(t)
		subtotal := c.subtotal(cart)
		for n := range couponCount {
			var alone couponSet
			alone.add(n)
			q := c.quote(cart, alone)
			why := c.obstacle(n, cart, subtotal)
			if (why == "") != (q.total < q.subtotal) {
				t.Fatalf("coupon %+v takes %v off %v, obstacle %q", c.coupons[n], q.subtotal-q.total, q.subtotal, why)
			}
		}
	})
}

// TestOrderTotalsInTheAnswer reads an order as a client does and adds it up again.
func TestOrderTotalsInTheAnswer(t *testing.T) {
	s := indoors(t, Config{Seed: 8})
	users := 0
	rapid.Check(t, func(t *rapid.T) {
		users++
		user := fmt.Sprint("user-", users)
		cart, _ := drawCart(t)
		if len(cart) == 0 {
			return
		}
		for _, l := range cart {
			s.ask(ask{user: user, method: "POST", path: "/api/cart/items", body: s.productJSON(int(l.product), int(l.quantity))})
		}
		for n := range s.users.of(user).wallet.all() {
			s.ask(ask{user: user, method: "POST", path: "/api/cart/coupons", body: s.couponJSON(n)})
		}
		var placed struct {
			Order struct {
				Items []struct {
					Quantity  int
					UnitPrice json.Number `json:"unit_price"`
					LineTotal json.Number `json:"line_total"`
					Discount  json.Number
				}
				Applied struct {
					ItemLevel  []struct{ Discount json.Number } `json:"item_level"`
					Frontstore *struct{ Discount json.Number }
				} `json:"applied_coupons"`
				Totals struct {
					Subtotal   json.Number
					Items      json.Number `json:"item_discounts"`
					Frontstore json.Number `json:"frontstore_discount"`
					Discounts  json.Number `json:"discount_total"`
					Final      json.Number `json:"final_total"`
				}
			}
		}
		g := s.ask(ask{user: user, method: "POST", path: "/api/orders"})
		if err := json.Unmarshal([]byte(g.body), &placed); err != nil || g.status != 201 {
			t.Fatalf("%d %s %v", g.status, g.body, err)
		}
		o := placed.Order
		var subtotal, items, byCoupon, front cents
		for _, i := range o.Items {
			subtotal += centsOf(t, i.LineTotal)
			items += centsOf(t, i.Discount)
			if centsOf(t, i.UnitPrice)*cents(i.Quantity) != centsOf(t, i.LineTotal) {
				t.Fatalf("line %+v", i)
			}
		}
		for _, c := range o.Applied.ItemLevel {
			byCoupon += centsOf(t, c.Discount)
		}
		if o.Applied.Frontstore != nil {
			front = centsOf(t, o.Applied.Frontstore.Discount)
		}
		want := []cents{subtotal, items, front, items + front, subtotal - items - front}
		for i, n := range []json.Number{o.Totals.Subtotal, o.Totals.Items, o.Totals.Frontstore, o.Totals.Discounts, o.Totals.Final} {
			if centsOf(t, n) != want[i] || byCoupon != items {
				t.Fatalf("totals %+v, want %v", o.Totals, want)
			}
		}
	})
}

func centsOf(t *rapid.T, n json.Number) cents {
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil {
		t.Fatal(err)
	}
	c := cents(f*100 + 0.5)
	if c.String() != n.String() {
		t.Fatalf("%s does not have two decimals", n)
	}
	return c
}
