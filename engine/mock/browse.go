package mock

import (
	"strings"
)

func (x storefront) products(b []byte) ([]byte, *refusal) {
	from, to, no := x.page(productCount)
	if no != nil {
		return b, no
	}
	numbers := make([]int, 0, listMost)
	for n := from; n < to; n++ {
		numbers = append(numbers, n)
	}
	return x.shop.appendProducts(b, x.user, numbers), nil
}

func (x storefront) product(b []byte) ([]byte, *refusal) {
	id, ok := parseID(x.r.URL.Path[len("/api/products/"):])
	if !ok {
		return b, unknown("Product not found")
	}
	n, ok := x.shop.goods.productByID[id]
	if !ok {
		return b, unknown("Product not found")
	}
	return x.shop.appendProduct(b, x.user, n), nil
}

func (x storefront) search(b []byte) ([]byte, *refusal) {
	query, no := x.query()
	if no != nil {
		return b, no
	}
	limit, no := number(query, "limit", searchDefault, 1, searchMost)
	if no != nil {
		return b, no
	}
	text := query.Get("query")
	if strings.TrimSpace(text) == "" {
		return b, bad("query is required")
	}
	return x.shop.appendProducts(b, x.user, x.shop.goods.search(x.user.key, text, limit)), nil
}

func (x storefront) stores(b []byte) ([]byte, *refusal) {
	b = append(b, `{"stores":[`...)
	for i, s := range x.shop.goods.stores {
		b = append(comma(b, i), s.json...)
	}
	return append(b, `]}`...), nil
}

func (x storefront) selectStore(c *change) *refusal {
	var in struct {
		Store string `json:"store_id"`
	}
	if no := decode(x.body, &in); no != nil {
		return no
	}
	c.op = opStore
	return x.storeNumber(in.Store, &c.store)
}

func (x storefront) storeNumber(text string, into *int32) *refusal {
	id, ok := parseID(text)
	if !ok {
		return bad("store_id must be a UUID")
	}
	n, ok := x.shop.goods.storeByID[id]
	if !ok {
		return unknown("Store not found")
	}
	*into = int32(n)
	return nil
}

func (x storefront) openSession(c *change) *refusal {
	var in struct {
		Store *string `json:"store_id"`
	}
	if len(x.body) > 0 {
		if no := decode(x.body, &in); no != nil {
			return no
		}
	}
	store := int32(noStore)
	if in.Store != nil {
		if no := x.storeNumber(*in.Store, &store); no != nil {
			return no
		}
	}
	c.op, c.store = opSession, store
	if !x.inSession {
		c.session, c.claims = x.user.nextSession(), true
		x.shop.sessions.claim(c.session, x.user)
	}
	return nil
}
