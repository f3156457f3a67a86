package mock

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shape lists the fields of an object in order, with those of nested objects: {a,b:{c},d:[{e}]}.
func shape(t *testing.T, text string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	s, err := shapeOf(d)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return s
}

func shapeOf(d *json.Decoder) (string, error) {
	token, err := d.Token()
	if err != nil {
		return "", err
	}
	switch token {
	case json.Delim('{'):
		var fields []string
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return "", err
			}
			inner, err := shapeOf(d)
			if err != nil {
				return "", err
			}
			if inner != "" {
				inner = ":" + inner
			}
			fields = append(fields, name.(string)+inner)
		}
		_, err := d.Token()
		return "{" + strings.Join(fields, ",") + "}", err
	case json.Delim('['):
		first := ""
		for i := 0; d.More(); i++ {
			inner, err := shapeOf(d)
			if err != nil {
				return "", err
			}
			if i == 0 {
				first = inner
			}
		}
		_, err := d.Token()
		return "[" + first + "]", err
	}
	return "", nil
}

const (
	productShape = "{id,name,category,brand,price,rating,in_stock}"
	couponShape  = "{id,type,discount_details,category_or_brand,discount_type,discount_value,min_purchase_amount,max_discount,is_selected}"
	whyNotShape  = "{id,type,discount_details,category_or_brand,discount_type,discount_value,min_purchase_amount,max_discount,is_selected,ineligible_reason}"
	orderShape   = "{id,store:{id,name},items:[{id,product_id,product_name,quantity,unit_price,line_total,discount}]," +
		"applied_coupons:{item_level:[],frontstore},totals:{subtotal,item_discounts,frontstore_discount,discount_total,final_total},status,created_at}"
)

func TestContractAnswers(t *testing.T) {
	v := visit(t, Config{Seed: 11})
	s := v.shop
	session := someID(1)
	wallet := s.users.of("ann").wallet
	coupon := s.firstCoupon("ann")
	// In this order, because each step depends on the previous ones.
	for _, step := range []struct {
		ask
		status int
		shape  string
	}{
		{ask{method: "GET", path: "/healthz", bearer: "-"}, 200, "{status}"},
		{ask{method: "GET", path: "/api/stores"}, 200, "{stores:[{id,name}]}"},
		{ask{method: "POST", path: "/api/stores/select", body: fmt.Sprintf(`{"store_id":%q}`, s.goods.stores[7].id)}, 200, "{success,store:{id,name}}"},
		{ask{method: "POST", path: "/api/shopping/session", body: `{}`}, 201, "{session_id,status}"},
		{ask{method: "POST", path: "/api/shopping/session", session: session}, 201, "{session_id,status}"},
		{ask{method: "POST", path: "/api/shopping/session", body: fmt.Sprintf(`{"store_id":%q}`, s.goods.stores[3].id)}, 201, "{session_id,status}"},
		{ask{method: "GET", path: "/api/products?limit=2&offset=199"}, 200, "{products:[" + productShape + "],count}"},
		{ask{method: "GET", path: "/api/products/" + s.goods.products[5].id.String()}, 200, productShape},
		{ask{method: "GET", path: "/api/products/search?query=dairy&limit=50"}, 200, "{products:[" + productShape + "],count}"},
		{ask{method: "GET", path: "/api/products/search?query=zzzzz"}, 200, "{products:[],count}"},
		{ask{method: "GET", path: "/api/cart"}, 200, "{items:[],coupons:[],store:{id,name},item_count}"},
		{ask{method: "POST", path: "/api/cart/items", body: s.productJSON(5, 2)}, 200, "{success,cart_item:{id,quantity,product_name,unit_price,line_total}}"},
		{ask{method: "GET", path: "/api/coupons/wallet"}, 200, "{coupons:[" + couponShape + "]}"},
		{ask{method: "POST", path: "/api/cart/coupons", body: s.couponJSON(coupon)}, 200, "{success,coupon:{id,type,discount_details,category_or_brand}}"},
		{ask{method: "GET", path: "/api/cart"}, 200, "{items:[{cart_item_id,quantity,product:" + productShape + ",line_total}],coupons:[" + couponShape + "],store:{id,name},item_count}"},
		{ask{method: "DELETE", path: "/api/cart"}, 200, "{success,items_removed,coupons_removed}"},
		{ask{method: "GET", path: "/api/coupons/eligible"}, 200, "{eligible:[],ineligible:[" + whyNotShape + "],cart_subtotal}"},
		{ask{method: "POST", path: "/api/cart/items", body: s.productJSON(6, 1)}, 200, "{success,cart_item:{id,quantity,product_name,unit_price,line_total}}"},
		{ask{method: "POST", path: "/api/orders"}, 201, "{success,order:" + orderShape + "}"},
		{ask{method: "GET", path: "/api/orders?limit=5"}, 200, "{orders:[" + orderShape + "],total}"},
		{ask{method: "POST", path: "/api/orders"}, 400, "{detail}"},
	} {
		step.user = "ann"
		g := v.do(t, step.ask)
		if g.status != step.status {
			t.Fatalf("%s %s = %d %s, want %d", step.method, step.path, g.status, g.body, step.status)
		}
		if got := shape(t, g.body); got != step.shape {
			t.Errorf("%s %s has the shape\n%s, want\n%s", step.method, step.path, got, step.shape)
		}
		if kind := g.header.Get("Content-Type"); kind != "application/json" {
			t.Errorf("%s %s has content type %q", step.method, step.path, kind)
		}
	}
	if wallet.len() < smallestWallet || wallet.len() > largestWallet {
		t.Errorf("the wallet has %d coupons", wallet.len())
	}
}

// TestContractRefusals sends invalid requests. Each gets JSON with a detail.
func TestContractRefusals(t *testing.T) {
	v := visit(t, Config{Seed: 11})
	s := v.shop
	if g := v.do(t, ask{user: "bob", method: "GET", path: "/api/cart", session: someID(9)}); g.status != 200 {
		t.Fatalf("bob's session: %d %s", g.status, g.body)
	}
	notMine := 0
	for s.users.of("ann").wallet.has(notMine) {
		notMine++
	}
	items := func(body string) ask { return ask{method: "POST", path: "/api/cart/items", body: body} }
	unknownID := someID(77)
	for _, c := range []struct {
		name string
		ask
		status int
		detail string
	}{
		{"no token", ask{method: "GET", path: "/api/cart", bearer: "-"}, 401, "Not authenticated"},
		{"other secret", ask{method: "GET", path: "/api/cart", bearer: "Bearer x.ann"}, 401, "Not authenticated"},
		{"secret without a user", ask{method: "GET", path: "/api/cart", bearer: "Bearer " + s.Secret() + "."}, 401, "Not authenticated"},
		{"basic", ask{method: "GET", path: "/api/cart", bearer: "Basic " + s.Secret() + ".ann"}, 401, "Not authenticated"},
		{"a user id too long", ask{method: "GET", path: "/api/cart", user: strings.Repeat("a", maxUserID+1)}, 401, "Not authenticated"},
		{"unknown path without token", ask{method: "GET", path: "/nope", bearer: "-"}, 401, "Not authenticated"},
		{"unknown path", ask{method: "GET", path: "/nope"}, 404, "Not found"},
		{"path with a slash too many", ask{method: "GET", path: "/api/cart/"}, 404, "Not found"},
		{"unknown path below a product", ask{method: "GET", path: "/api/products/" + unknownID + "/x"}, 404, "Not found"},
		{"wrong method", ask{method: "PUT", path: "/api/cart"}, 405, "Method not allowed"},
		{"wrong method of a product", ask{method: "POST", path: "/api/products/" + unknownID}, 405, "Method not allowed"},
		{"wrong method of search", ask{method: "DELETE", path: "/api/products/search"}, 405, "Method not allowed"},
		{"wrong method of health", ask{method: "POST", path: "/healthz"}, 405, "Method not allowed"},
		{"tag", ask{method: "GET", path: "/api/cart", tag: "1/x 2026"}, 400, errTag.Error()},
		{"session no UUID", ask{method: "GET", path: "/api/cart", session: "nope"}, 400, "X-Shopping-Session-Id must be a UUID"},
		{"session of another", ask{method: "GET", path: "/api/cart", session: someID(9)}, 403, "The session belongs to another user"},
		{"unknown product", ask{method: "GET", path: "/api/products/" + unknownID}, 404, "Product not found"},
		{"product no UUID", ask{method: "GET", path: "/api/products/apple"}, 404, "Product not found"},
		{"search for nothing", ask{method: "GET", path: "/api/products/search?query=+"}, 400, "query is required"},
		{"search without query", ask{method: "GET", path: "/api/products/search"}, 400, "query is required"},
		{"search limit 0", ask{method: "GET", path: "/api/products/search?query=a&limit=0"}, 400, "limit must be a whole number from 1 to 50"},
		{"search limit 51", ask{method: "GET", path: "/api/products/search?query=a&limit=51"}, 400, "limit must be a whole number from 1 to 50"},
		{"search limit text", ask{method: "GET", path: "/api/products/search?query=a&limit=ten"}, 400, "limit must be a whole number from 1 to 50"},
		{"query not encoded", ask{method: "GET", path: "/api/products/search?query=%zz"}, 400, "The query is not valid"},
		{"list offset", ask{method: "GET", path: "/api/products?offset=-1"}, 400, "offset must be a whole number from 0 to 2147483647"},
		{"orders limit", ask{method: "GET", path: "/api/orders?limit=101"}, 400, "limit must be a whole number from 1 to 100"},
		{"store no UUID", ask{method: "POST", path: "/api/stores/select", body: `{"store_id":"7"}`}, 400, "store_id must be a UUID"},
		{"store not given", ask{method: "POST", path: "/api/stores/select", body: `{}`}, 400, "store_id must be a UUID"},
		{"unknown store", ask{method: "POST", path: "/api/stores/select", body: `{"store_id":"` + unknownID + `"}`}, 404, "Store not found"},
		{"session in an unknown store", ask{method: "POST", path: "/api/shopping/session", body: `{"store_id":"` + unknownID + `"}`}, 404, "Store not found"},
		{"session body", ask{method: "POST", path: "/api/shopping/session", body: `[`}, 400, "The body is not valid JSON"},
		{"no body", items(""), 400, "The body is not valid JSON"},
		{"half a body", items(`{"product_id":`), 400, "The body is not valid JSON"},
		{"two bodies", items(s.productJSON(1, 1) + "{}"), 400, "The body is not valid JSON"},
		{"an array", items(`[]`), 400, "The body must be a JSON object"},
		{"a number", items(`7`), 400, "The body must be a JSON object"},
		{"product as number", items(`{"product_id":7,"quantity":1}`), 400, "product_id must be a string"},
		{"quantity as text", items(`{"product_id":"` + unknownID + `","quantity":"1"}`), 400, "quantity must be a whole number"},
		{"quantity and a half", items(`{"product_id":"` + unknownID + `","quantity":1.5}`), 400, "quantity must be a whole number"},
		{"quantity huge", items(`{"product_id":"` + unknownID + `","quantity":1e30}`), 400, "quantity must be a whole number"},
		{"quantity 0", items(s.productJSON(1, 0)), 400, "quantity must be at least 1"},
		{"quantity below 0", items(s.productJSON(1, -3)), 400, "quantity must be at least 1"},
		{"product id bad", items(`{"product_id":"apple","quantity":1}`), 400, "product_id must be a UUID"},
		{"product id in braces", items(`{"product_id":"{` + unknownID + `}","quantity":1}`), 400, "product_id must be a UUID"},
		{"product unknown", items(`{"product_id":"` + unknownID + `","quantity":1}`), 404, "Product not found"},
		{"more than there is", items(s.productJSON(1, s.goods.products[1].stock+1)), 400, "Insufficient inventory"},
		{"a million", items(strings.Replace(s.productJSON(1, 1), ":1}", ":1000000}", 1)), 400, "Insufficient inventory"},
		{"coupon no UUID", ask{method: "POST", path: "/api/cart/coupons", body: `{"coupon_id":null}`}, 400, "coupon_id must be a UUID"},
		{"coupon of another", ask{method: "POST", path: "/api/cart/coupons", body: s.couponJSON(notMine)}, 404, "Coupon not found"},
		{"coupon unknown", ask{method: "POST", path: "/api/cart/coupons", body: `{"coupon_id":"` + unknownID + `"}`}, 404, "Coupon not found"},
		{"order of nothing", ask{method: "POST", path: "/api/orders"}, 400, "The cart is empty"},
		{"too large", items(`{"x":"` + strings.Repeat("x", maxBody) + `"}`), 400, "The body is larger than 1 MiB or was not sent whole"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.user == "" {
				c.user = "ann"
			}
			g := v.do(t, c.ask)
			want, _ := json.Marshal(map[string]string{"detail": c.detail})
			if g.status != c.status || g.body != string(want) {
				t.Errorf("got %d %s %v, want %d %s", g.status, g.body, g.err, c.status, want)
			}
		})
	}
	if got := s.Orders().Total; got != 0 {
		t.Errorf("%d orders were made", got)
	}
}

func TestTooLargeBodyOfUnknownLength(t *testing.T) {
	v := visit(t, Config{})
	a := ask{user: "ann", method: "POST", path: "/api/cart/items"}
	r := a.request(t.Context(), v.shop, v.shop.URL())
	r.Body, r.ContentLength = http.NoBody, -1
	r.Body = readCloser{strings.NewReader(strings.Repeat(" ", maxBody+1))}
	response, err := v.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 400 {
		t.Errorf("got %s, want 400", response.Status)
	}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

func TestWrongMethodNamesTheAllowedOnes(t *testing.T) {
	v := visit(t, Config{})
	if got := v.do(t, ask{user: "ann", method: "PUT", path: "/api/cart"}).header.Get("Allow"); got != "GET, DELETE" {
		t.Errorf("Allow = %q, want GET, DELETE", got)
	}
}

func TestSessionsBelongToUsers(t *testing.T) {
	v := visit(t, Config{Seed: 2})
	var opened struct {
		ID string `json:"session_id"`
	}
	open := ask{user: "ann", method: "POST", path: "/api/shopping/session"}
	v.must(t, open, &opened)
	if g := v.do(t, ask{user: "bob", method: "GET", path: "/api/cart", session: opened.ID}); g.status != 403 {
		t.Errorf("bob in ann's session: %d, want 403", g.status)
	}
	if g := v.do(t, ask{user: "ann", method: "GET", path: "/api/cart", session: strings.ToUpper(opened.ID)}); g.status != 200 {
		t.Errorf("ann in her session, in upper case: %d, want 200", g.status)
	}
	first := opened.ID
	v.must(t, open, &opened)
	if opened.ID == first {
		t.Error("two sessions have one id")
	}
	open.session = someID(3)
	v.must(t, open, &opened)
	if opened.ID != someID(3) {
		t.Errorf("the session is %s, want the one of the header", opened.ID)
	}
}

// TestShortestJourney adds and orders without selecting a store.
func TestShortestJourney(t *testing.T) {
	v := visit(t, Config{Seed: 5})
	var found struct{ Products []struct{ ID string } }
	v.must(t, ask{user: "ann", method: "GET", path: "/api/products/search?query=bread"}, &found)
	if len(found.Products) == 0 {
		t.Fatal("no bread")
	}
	v.must(t, ask{user: "ann", method: "POST", path: "/api/cart/items", body: `{"product_id":"` + found.Products[0].ID + `","quantity":1}`}, nil)
	var cart, placed struct {
		Store struct{ ID string }
		Order struct {
			Store   struct{ ID string }
			Created string `json:"created_at"`
		}
	}
	v.must(t, ask{user: "ann", method: "GET", path: "/api/cart"}, &cart)
	v.must(t, ask{user: "ann", method: "POST", path: "/api/orders", tag: "4/checkout.order/1 2026-01-02T11:00:00+02:00"}, &placed)
	if cart.Store.ID == "" || placed.Order.Store.ID != cart.Store.ID {
		t.Errorf("ordered in store %q with a cart of store %q", placed.Order.Store.ID, cart.Store.ID)
	}
	if placed.Order.Created != "2026-01-02T09:00:00Z" {
		t.Errorf("created at %s, want the simulated time in UTC", placed.Order.Created)
	}
	stores := map[int32]bool{}
	for i := range 200 {
		stores[v.shop.users.of(fmt.Sprint(i)).store] = true
	}
	if len(stores) < storeCount/2 {
		t.Errorf("200 users have %d stores between them", len(stores))
	}
}

func TestCartAddsUpAndEmpties(t *testing.T) {
	s := indoors(t, Config{Seed: 3})
	add := func(n, quantity int) got {
		return s.ask(ask{user: "ann", method: "POST", path: "/api/cart/items", body: s.productJSON(n, quantity)})
	}
	first, second := add(9, 2), add(9, 3)
	var a, b struct {
		Item struct {
			ID        string
			Quantity  int
			UnitPrice json.Number `json:"unit_price"`
			LineTotal json.Number `json:"line_total"`
		} `json:"cart_item"`
	}
	if err := json.Unmarshal([]byte(first.body), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(second.body), &b); err != nil {
		t.Fatal(err)
	}
	price := s.goods.products[9].price
	if a.Item.ID != b.Item.ID || b.Item.Quantity != 5 || b.Item.LineTotal.String() != (5*price).String() {
		t.Errorf("2 and 3 of %v made %s and %s", price, first.body, second.body)
	}
	stock := s.goods.products[9].stock
	if g := add(9, stock-4); g.status != 400 || !strings.Contains(g.body, "Insufficient inventory") {
		t.Errorf("one more than the stock of %d: %d %s", stock, g.status, g.body)
	}
	if g := add(9, stock-5); g.status != 200 {
		t.Errorf("all of the stock: %d %s", g.status, g.body)
	}
	if g := s.ask(ask{user: "ann", method: "POST", path: "/api/orders"}); g.status != 201 {
		t.Fatalf("order: %d %s", g.status, g.body)
	}
	if g := add(9, 1); g.status != 400 {
		t.Errorf("from an empty shelf: %d %s", g.status, g.body)
	}
	if g := s.ask(ask{user: "ann", method: "GET", path: "/api/products/" + s.goods.products[9].id.String()}); !strings.Contains(g.body, `"in_stock":false`) {
		t.Errorf("an empty shelf reads %s", g.body)
	}
	if g := s.ask(ask{user: "bob", method: "POST", path: "/api/cart/items", body: s.productJSON(9, 1)}); g.status != 200 {
		t.Errorf("bob's own stock: %d %s", g.status, g.body)
	}
	if g := s.ask(ask{user: "ann", method: "GET", path: "/api/cart"}); !strings.Contains(g.body, `"item_count":0`) {
		t.Errorf("after the order the cart reads %s", g.body)
	}
	add(1, 1)
	add(2, 1)
	if g := s.ask(ask{user: "ann", method: "DELETE", path: "/api/cart"}); g.body != `{"success":true,"items_removed":2,"coupons_removed":0}` {
		t.Errorf("cleared: %s", g.body)
	}
}

func TestScarcitySharesTheStock(t *testing.T) {
	for _, scarce := range []bool{false, true} {
		s := indoors(t, Config{Seed: 3, Scarcity: scarce})
		all := s.productJSON(4, s.goods.products[4].stock)
		for _, user := range []string{"ann", "bob"} {
			if g := s.ask(ask{user: user, method: "POST", path: "/api/cart/items", body: all}); g.status != 200 {
				t.Fatalf("scarcity %v: %s puts all into the cart: %d", scarce, user, g.status)
			}
		}
		if g := s.ask(ask{user: "ann", method: "POST", path: "/api/orders"}); g.status != 201 {
			t.Fatalf("ann orders: %d", g.status)
		}
		want := map[bool]int{false: 201, true: 400}[scarce]
		if g := s.ask(ask{user: "bob", method: "POST", path: "/api/orders"}); g.status != want {
			t.Errorf("scarcity %v: bob orders what ann has: %d, want %d", scarce, g.status, want)
		}
	}
}

func TestOrdersAreListedNewestFirstAndCounted(t *testing.T) {
	s := indoors(t, Config{Seed: 3})
	var ids []string
	for i := range ordersKept + 3 {
		s.ask(ask{user: "ann", method: "POST", path: "/api/cart/items", body: s.productJSON(i%productCount, 1)})
		g := s.ask(ask{user: "ann", method: "POST", path: "/api/orders"})
		ids = append(ids, regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(g.body)[1])
	}
	slices.Reverse(ids)
	var list struct {
		Orders []struct{ ID string }
		Total  int
	}
	for _, page := range []struct{ offset, limit, want int }{{0, 10, 10}, {95, 10, 5}, {100, 10, 0}, {0, 100, 100}} {
		list.Orders = nil
		g := s.ask(ask{user: "ann", method: "GET", path: fmt.Sprintf("/api/orders?offset=%d&limit=%d", page.offset, page.limit)})
		if err := json.Unmarshal([]byte(g.body), &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Orders) != page.want || list.Total != ordersKept+3 {
			t.Errorf("offset %d: %d orders of %d, want %d of %d", page.offset, len(list.Orders), list.Total, page.want, ordersKept+3)
		}
		for i, o := range list.Orders {
			if o.ID != ids[page.offset+i] {
				t.Errorf("order %d is %s, want %s", page.offset+i, o.ID, ids[page.offset+i])
			}
		}
	}
	if got := s.OrderCount("ann"); got != ordersKept+3 {
		t.Errorf("count = %d", got)
	}
	if got := s.Orders(); got.Total != ordersKept+3 || got.DoubledKeys != 0 || !maps.Equal(got.ByUser, map[string]int64{"ann": ordersKept + 3}) {
		t.Errorf("orders = %+v", got)
	}
}
