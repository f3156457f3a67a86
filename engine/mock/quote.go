package mock

// line is a product and how many of it: in a cart, in an order, or bought so far.
type line struct{ product, quantity int32 }

// noCoupon stands where a coupon's number would.
const noCoupon = -1

// quote is what a cart costs.
type quote struct {
	lines         []quotedLine
	subtotal      cents
	itemDiscounts cents
	front         int // the frontstore coupon that is used, or noCoupon
	frontDiscount cents
	total         cents
}

// quotedLine is a line with its price and the coupon that is best for it.
type quotedLine struct {
	line
	unit, total, discount cents
	coupon                int // or noCoupon
}

// quote prices a cart with the coupons that were selected: for each line the item-level coupon that takes most off
// it, then for the order the one frontstore coupon that takes most off what is left and whose minimum the subtotal
// reaches. Of equal coupons the one with the lower number is used.
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

// obstacle says in words why a coupon has no effect on a cart, "" if it has.
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

// subtotal is what a cart costs before coupons.
func (c *catalogue) subtotal(cart []line) cents {
	var sum cents
	for _, l := range cart {
		sum += c.products[l.product].price * cents(l.quantity)
	}
	return sum
}
