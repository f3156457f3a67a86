package mock

import (
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// answer is the result of a change. It is kept for an idempotency key in this small form, and written out again when the key is repeated:
// everything else in its JSON never changes.
type answer interface {
	write(s *Shop, u *user, b []byte) (status int, body []byte)
}

type (
	// refusal is an answer of 4xx or 5xx. Its detail never repeats text of the request.
	refusal struct {
		status int
		detail string
	}
	sessionOpened struct{ id uuid.UUID }
	storeSelected struct{ store int32 }
	itemAdded     struct {
		carts uint32
		line  // with the quantity after the change
	}
	cartCleared   struct{ items, coupons int }
	couponApplied struct{ coupon int32 }
	ordered       struct{ *order }
)

func (a *refusal) write(_ *Shop, _ *user, b []byte) (int, []byte) {
	b = appendText(append(b, `{"detail":`...), a.detail)
	return a.status, append(b, '}')
}

func (a sessionOpened) write(_ *Shop, _ *user, b []byte) (int, []byte) {
	b = appendID(append(b, `{"session_id":`...), a.id)
	return http.StatusCreated, append(b, `,"status":"active"}`...)
}

func (a storeSelected) write(s *Shop, _ *user, b []byte) (int, []byte) {
	b = append(b, `{"success":true,"store":`...)
	b = append(b, s.goods.stores[a.store].json...)
	return http.StatusOK, append(b, '}')
}

func (a itemAdded) write(s *Shop, u *user, b []byte) (int, []byte) {
	p := &s.goods.products[a.product]
	b = appendID(append(b, `{"success":true,"cart_item":{"id":`...), u.itemID(a.carts, a.product))
	b = strconv.AppendInt(append(b, `,"quantity":`...), int64(a.quantity), 10)
	b = appendText(append(b, `,"product_name":`...), p.name)
	b = p.price.append(append(b, `,"unit_price":`...))
	b = (p.price * cents(a.quantity)).append(append(b, `,"line_total":`...))
	return http.StatusOK, append(b, `}}`...)
}

func (a cartCleared) write(_ *Shop, _ *user, b []byte) (int, []byte) {
	b = strconv.AppendInt(append(b, `{"success":true,"items_removed":`...), int64(a.items), 10)
	b = strconv.AppendInt(append(b, `,"coupons_removed":`...), int64(a.coupons), 10)
	return http.StatusOK, append(b, '}')
}

func (a couponApplied) write(s *Shop, _ *user, b []byte) (int, []byte) {
	b = append(b, `{"success":true,"coupon":`...)
	b = append(b, s.goods.coupons[a.coupon].short...)
	return http.StatusOK, append(b, `}}`...)
}

func (a ordered) write(s *Shop, u *user, b []byte) (int, []byte) {
	b = s.appendOrder(append(b, `{"success":true,"order":`...), u, a.order)
	return http.StatusCreated, append(b, '}')
}

func (s *Shop) appendOrder(b []byte, u *user, o *order) []byte {
	q := s.goods.quote(o.lines, o.selected)
	b = appendID(append(b, `{"id":`...), newID(u.key.Text("order").Int(uint64(o.number))))
	b = append(append(b, `,"store":`...), s.goods.stores[o.store].json...)
	b = append(b, `,"items":[`...)
	for i, l := range q.lines {
		p := &s.goods.products[l.product]
		b = appendID(append(comma(b, i), `{"id":`...), u.itemID(o.carts, l.product))
		b = appendID(append(b, `,"product_id":`...), p.id)
		b = appendText(append(b, `,"product_name":`...), p.name)
		b = strconv.AppendInt(append(b, `,"quantity":`...), int64(l.quantity), 10)
		b = l.unit.append(append(b, `,"unit_price":`...))
		b = l.total.append(append(b, `,"line_total":`...))
		b = append(l.discount.append(append(b, `,"discount":`...)), '}')
	}
	b = s.appendUsedCoupons(append(b, `],"applied_coupons":`...), &q)
	b = q.subtotal.append(append(b, `,"totals":{"subtotal":`...))
	b = q.itemDiscounts.append(append(b, `,"item_discounts":`...))
	b = q.frontDiscount.append(append(b, `,"frontstore_discount":`...))
	b = (q.itemDiscounts + q.frontDiscount).append(append(b, `,"discount_total":`...))
	b = q.total.append(append(b, `,"final_total":`...))
	b = append(b, `},"status":"completed","created_at":"`...)
	b = time.UnixMicro(o.at).UTC().AppendFormat(b, time.RFC3339Nano)
	return append(b, `"}`...)
}

// appendUsedCoupons writes the coupons that reduced the price, each with its amount.
func (s *Shop) appendUsedCoupons(b []byte, q *quote) []byte {
	b = append(b, `{"item_level":[`...)
	used := 0
	for _, l := range q.lines {
		if l.coupon == noCoupon {
			continue
		}
		b = append(comma(b, used), s.goods.coupons[l.coupon].short...)
		b = appendID(append(b, `,"product_id":`...), s.goods.products[l.product].id)
		b = append(l.discount.append(append(b, `,"discount":`...)), '}')
		used++
	}
	b = append(b, `],"frontstore":`...)
	if q.front == noCoupon {
		return append(b, `null}`...)
	}
	b = append(b, s.goods.coupons[q.front].short...)
	return append(q.frontDiscount.append(append(b, `,"discount":`...)), `}}`...)
}

func (s *Shop) appendProduct(b []byte, u *user, n int) []byte {
	b = append(b, s.goods.products[n].opening...)
	return append(strconv.AppendBool(b, s.left(u, int32(n)) > 0), '}')
}

func (s *Shop) appendProducts(b []byte, u *user, numbers []int) []byte {
	b = append(b, `{"products":[`...)
	for i, n := range numbers {
		b = s.appendProduct(comma(b, i), u, n)
	}
	b = strconv.AppendInt(append(b, `],"count":`...), int64(len(numbers)), 10)
	return append(b, '}')
}

// appendCoupon writes a coupon and, if it cannot be used, the reason.
func (s *Shop) appendCoupon(b []byte, u *user, n int, obstacle string) []byte {
	b = strconv.AppendBool(append(b, s.goods.coupons[n].full...), u.selected.has(n))
	if obstacle != "" {
		b = appendText(append(b, `,"ineligible_reason":`...), obstacle)
	}
	return append(b, '}')
}

// appendCoupons writes the coupons of a set.
func (s *Shop) appendCoupons(b []byte, u *user, set couponSet) []byte {
	i := 0
	for n := range set.all() {
		b = s.appendCoupon(comma(b, i), u, n, "")
		i++
	}
	return b
}
