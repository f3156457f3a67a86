package mock

import (
	"slices"
	"strconv"
)

func (x storefront) cart(b []byte) ([]byte, *refusal) {
	s, u := x.shop, x.user
	b = append(b, `{"items":[`...)
	for i, l := range u.cart {
		b = appendID(append(comma(b, i), `{"cart_item_id":`...), u.itemID(u.carts, l.product))
		b = strconv.AppendInt(append(b, `,"quantity":`...), int64(l.quantity), 10)
		b = s.appendProduct(append(b, `,"product":`...), u, int(l.product))
		total := s.goods.products[l.product].price * cents(l.quantity)
		b = append(total.append(append(b, `,"line_total":`...)), '}')
	}
	b = s.appendCoupons(append(b, `],"coupons":[`...), u, u.selected)
	b = append(append(b, `],"store":`...), s.goods.stores[u.store].json...)
	b = strconv.AppendInt(append(b, `,"item_count":`...), int64(len(u.cart)), 10)
	return append(b, '}'), nil
}

func (x storefront) clearCart(c *change) *refusal {
	c.op = opClear
	return nil
}

func (x storefront) addItem(c *change) *refusal {
	var in struct {
		Product  string `json:"product_id"`
		Quantity int    `json:"quantity"`
	}
	if no := decode(x.body, &in); no != nil {
		return no
	}
	id, ok := parseID(in.Product)
	if !ok {
		return bad("product_id must be a UUID")
	}
	if in.Quantity < 1 {
		return bad("quantity must be at least 1")
	}
	n, ok := x.shop.goods.productByID[id]
	if !ok {
		return unknown("Product not found")
	}
	product := int32(n)
	if in.Quantity > x.shop.left(x.user, product)-int(quantity(x.user.cart, product)) {
		return bad(noStock)
	}
	c.op, c.line = opAdd, line{product, int32(in.Quantity)}
	return nil
}

const noStock = "Insufficient inventory"

func (x storefront) applyCoupon(c *change) *refusal {
	var in struct {
		Coupon string `json:"coupon_id"`
	}
	if no := decode(x.body, &in); no != nil {
		return no
	}
	id, ok := parseID(in.Coupon)
	if !ok {
		return bad("coupon_id must be a UUID")
	}
	n, ok := x.shop.goods.couponByID[id]
	if !ok || !x.user.wallet.has(n) {
		return unknown("Coupon not found")
	}
	c.op, c.coupon = opCoupon, int32(n)
	return nil
}

func (x storefront) eligible(b []byte) ([]byte, *refusal) {
	s, u := x.shop, x.user
	subtotal := s.goods.subtotal(u.cart)
	b = append(b, `{"eligible":[`...)
	var not couponSet
	i := 0
	for n := range u.wallet.all() {
		if s.goods.obstacle(n, u.cart, subtotal) != "" {
			not.add(n)
			continue
		}
		b = s.appendCoupon(comma(b, i), u, n, "")
		i++
	}
	b, i = append(b, `],"ineligible":[`...), 0
	for n := range not.all() {
		b = s.appendCoupon(comma(b, i), u, n, s.goods.obstacle(n, u.cart, subtotal))
		i++
	}
	return append(subtotal.append(append(b, `],"cart_subtotal":`...)), '}'), nil
}

func (x storefront) wallet(b []byte) ([]byte, *refusal) {
	b = x.shop.appendCoupons(append(b, `{"coupons":[`...), x.user, x.user.wallet)
	return append(b, `]}`...), nil
}

// order orders the content of the cart.
func (x storefront) order(c *change) *refusal {
	if len(x.user.cart) == 0 {
		return bad("The cart is empty")
	}
	for _, l := range x.user.cart {
		if int(l.quantity) > x.shop.left(x.user, l.product) {
			return bad(noStock)
		}
	}
	c.op = opOrder
	return nil
}

// orders lists the newest orders first. Of a user with more than ordersKept, the older ones are counted but not listed.
func (x storefront) orders(b []byte) ([]byte, *refusal) {
	newest := slices.Clone(x.user.last)
	slices.Reverse(newest)
	from, to, no := x.page(len(newest))
	if no != nil {
		return b, no
	}
	b = append(b, `{"orders":[`...)
	for i, o := range newest[from:to] {
		b = x.shop.appendOrder(comma(b, i), x.user, o)
	}
	b = strconv.AppendInt(append(b, `],"total":`...), x.user.orders, 10)
	return append(b, '}'), nil
}
