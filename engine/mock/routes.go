package mock

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// storefront is the API of the shop: the actions of its routes.
type storefront struct{ *exchange }

// route is the action of one method of one path. Exactly one of read and change is set; both run while holding the user's lock.
type route struct {
	method, path string
	limit        limit
	// read writes the answer to a call that changes nothing.
	read func(storefront, []byte) ([]byte, *refusal)
	// change checks a call and fills in its change.
	change func(storefront, *change) *refusal
}

// routes is the API. A path that ends in a slash takes an ID.
var routes = []route{
	{method: "GET", path: "/api/stores", read: storefront.stores},
	{method: "POST", path: "/api/stores/select", change: storefront.selectStore},
	{method: "POST", path: "/api/shopping/session", change: storefront.openSession},
	{method: "GET", path: "/api/products", limit: limitProducts, read: storefront.products},
	{method: "GET", path: "/api/products/", limit: limitProducts, read: storefront.product},
	{method: "GET", path: "/api/products/search", limit: limitSearch, read: storefront.search},
	{method: "GET", path: "/api/cart", read: storefront.cart},
	{method: "DELETE", path: "/api/cart", change: storefront.clearCart},
	{method: "POST", path: "/api/cart/items", change: storefront.addItem},
	{method: "POST", path: "/api/cart/coupons", change: storefront.applyCoupon},
	{method: "GET", path: "/api/coupons/eligible", limit: limitCoupons, read: storefront.eligible},
	{method: "GET", path: "/api/coupons/wallet", limit: limitCoupons, read: storefront.wallet},
	{method: "GET", path: "/api/orders", read: storefront.orders},
	{method: "POST", path: "/api/orders", change: storefront.order},
	{method: "POST", path: "/connectors", read: storefront.connector},
}

// routesByPath contains the routes by path, in the order of the table.
var routesByPath = func() map[string][]*route {
	byPath := map[string][]*route{}
	for i := range routes {
		r := &routes[i]
		byPath[r.path] = append(byPath[r.path], r)
	}
	return byPath
}()

// findRoute returns the route of a call, or the methods that its path supports, or neither.
func findRoute(method, path string) (*route, []string) {
	candidates := routesByPath[path]
	if slash := strings.LastIndexByte(path, '/'); len(candidates) == 0 && slash < len(path)-1 {
		candidates = routesByPath[path[:slash+1]]
	}
	var methods []string
	for _, r := range candidates {
		if r.method == method {
			return r, nil
		}
		methods = append(methods, r.method)
	}
	return nil, methods
}

const (
	searchDefault, searchMost = 10, 50
	listDefault, listMost     = 20, 100
)

func bad(detail string) *refusal     { return &refusal{http.StatusBadRequest, detail} }
func unknown(detail string) *refusal { return &refusal{http.StatusNotFound, detail} }

// page reads limit and offset for a list of n.
func (x storefront) page(n int) (from, to int, no *refusal) {
	query, no := x.query()
	if no != nil {
		return 0, 0, no
	}
	limit, no := number(query, "limit", listDefault, 1, listMost)
	if no != nil {
		return 0, 0, no
	}
	from, no = number(query, "offset", 0, 0, 1<<31-1)
	from = min(from, n)
	return from, min(from+limit, n), no
}

func (x storefront) query() (url.Values, *refusal) {
	query, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return nil, bad("The query is not valid")
	}
	return query, nil
}

// number reads a whole number of the query.
func number(query url.Values, name string, usual, least, most int) (int, *refusal) {
	text := query.Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, bad(name + " must be a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most))
	}
	return n, nil
}
