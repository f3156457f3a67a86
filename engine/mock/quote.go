package mock

import "strconv"

// line is a quantity of a product in a cart, in an order, or bought so far.
type line struct{ product, quantity int32 }

// noCoupon means that no coupon is used.
const noCoupon = -1

// quote is the price of a cart.
type quote struct {
	lines         []quotedLine
	subtotal      cents
	itemDiscounts cents
	front         int // the frontstore coupon used, or noCoupon
	frontDiscount cents
	total         cents
}

// quotedLine is a line with its price and its best coupon.
type quotedLine struct {
	line
	unit, total, discount cents
	coupon                int // or noCoupon
}

// quote prices a cart with the selected coupons. It uses the item-level coupon with the largest discount for each line, then the one
// frontstore coupon with the largest discount on the rest whose minimum the subtotal reaches. Of equal coupons, it uses the one with the
// lower number.
func (c *catalogue) quote(cart []line, selected couponSet) quote {
	q := quote{lines: make([]quotedLine, 0, len(cart)), front: noCoupon}
	for _, l := range cart {
		p := &c.products[l.product]
		ql := quotedLine{line: l, unit: p.price, total: p.price * cents(l.quantity), coupon: noCoupon}
		for n := range (selected & c.itemLevel).all() {
			if coupon := &c.coupons[n]; coupon.covers(p) {
				if off := coupon.off(ql.total); off > ql.discount {
					ql.coupon, ql.discount = n, off
				}
			}
		}
		q.lines = append(q.lines, ql)
		q.subtotal += ql.total
		q.itemDiscounts += ql.discount
	}
	rest := q.subtotal - q.itemDiscounts
	for n := range (selected & c.frontstore).all() {
		if coupon := &c.coupons[n]; q.subtotal >= coupon.minimum {
			if off := coupon.off(rest); off > q.frontDiscount {
				q.front, q.frontDiscount = n, off
			}
		}
	}
	q.total = rest - q.frontDiscount
	return q
}

// obstacle explains why a coupon has no effect on a cart; "" if it has.
func (c *catalogue) obstacle(n int, cart []line, subtotal cents) string {
	coupon := &c.coupons[n]
	if coupon.kind == kindFrontstore {
		if subtotal >= coupon.minimum {
			return ""
		}
		return "Spend " + (coupon.minimum - subtotal).String() + " more to reach the minimum purchase of " +
			coupon.minimum.String()
	}
	for _, l := range cart {
		if coupon.covers(&c.products[l.product]) {
			return ""
		}
	}
	if coupon.kind == kindBrand {
		return "No product of the brand " + coupon.scope + " in the cart"
	}
	return "No " + coupon.scope + " product in the cart"
}

// subtotal returns the price of a cart before coupons.
func (c *catalogue) subtotal(cart []line) cents {
	var sum cents
	for _, l := range cart {
		sum += c.products[l.product].price * cents(l.quantity)
	}
	return sum
}

// cents is an amount of money; a coupon's value in percent uses it too, as hundredths of a percent.
type cents int64

const wholePercent cents = 100 // one percent of a coupon's value

// percent returns value hundredths of a percent of c, rounded half up. Both are at least 0.
func (c cents) percent(value cents) cents { return (c*value + 5_000) / 10_000 }

// bogo returns half of c times value hundredths of a percent, rounded half up. Both are at least 0.
func (c cents) bogo(value cents) cents { return (c*value + 10_000) / 20_000 }

// append writes c as a JSON number with two decimals: 12.50.
func (c cents) append(b []byte) []byte {
	if c < 0 {
		b, c = append(b, '-'), -c
	}
	b = strconv.AppendInt(b, int64(c/100), 10)
	return append(b, '.', byte('0'+c/10%10), byte('0'+c%10))
}

// String returns c with two decimals: 12.50.
func (c cents) String() string { return string(c.append(nil)) }
