package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// plainShop is a shop without idempotency keys, like many: a repeated request orders again. It finishes requests whose
// client is gone.
type plainShop struct {
	*httptest.Server
	delay time.Duration // of a change

	mu     sync.Mutex
	carts  map[string][]string // items, by session
	orders []shopOrder
	posts  int
	fatal  int    // the POST at which kill is called; 0 disables it
	kill   func() // called once
	keys   map[string]bool
}

type shopOrder struct {
	Session string `json:"session"`
	Buyer   string `json:"buyer"`
	Items   int    `json:"items"`
	Total   int    `json:"total"`
}

func newPlainShop(t *testing.T, delay time.Duration) *plainShop {
	s := &plainShop{delay: delay, carts: map[string][]string{}, keys: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /cart", s.changing(s.addToCart))
	mux.HandleFunc("POST /orders", s.changing(s.order))
	mux.HandleFunc("GET /cart", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		respond(w, http.StatusOK, map[string]any{"items": append([]string{}, s.carts[r.URL.Query().Get("session")]...)})
	})
	mux.HandleFunc("GET /orders", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		found := []shopOrder{}
		for _, o := range s.orders {
			if o.Session == r.URL.Query().Get("session") {
				found = append(found, o)
			}
		}
		respond(w, http.StatusOK, found)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// changing handles changing requests. Each takes as long as a change, and kills the process first if it is time.
func (s *plainShop) changing(do func(b map[string]string) (int, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var b map[string]string
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			respond(w, http.StatusBadRequest, err.Error())
			return
		}
		s.mu.Lock()
		s.posts++
		s.keys[r.Header.Get("Idempotency-Key")] = true
		kill := s.kill
		if s.fatal == 0 || s.posts < s.fatal {
			kill = nil
		} else {
			s.kill, s.fatal = nil, 0
		}
		s.mu.Unlock()
		if kill != nil {
			kill()
		}
		<-time.After(s.delay) // the change takes effect even if the client is gone
		s.mu.Lock()
		defer s.mu.Unlock()
		status, body := do(b)
		respond(w, status, body)
	}
}

func (s *plainShop) addToCart(b map[string]string) (int, any) {
	s.carts[b["session"]] = append(s.carts[b["session"]], b["item"])
	return http.StatusCreated, map[string]any{"items": s.carts[b["session"]]}
}

func (s *plainShop) order(b map[string]string) (int, any) {
	o := shopOrder{Session: b["session"], Buyer: b["buyer"], Items: 1}
	if cart, ok := s.carts[o.Session]; ok {
		o.Items = len(cart)
		delete(s.carts, o.Session)
	}
	o.Total = 7*o.Items + len(o.Buyer)
	s.orders = append(s.orders, o)
	return http.StatusCreated, o
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// killAt calls kill at the n-th POST from now.
func (s *plainShop) killAt(n int, kill func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fatal, s.kill = s.posts+n, kill
}

// ordered returns how often each buyer has ordered, and the total number of items.
func (s *plainShop) ordered() (by map[string]int, items int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by = map[string]int{}
	for _, o := range s.orders {
		by[o.Buyer]++
		items += o.Items
	}
	return by, items
}

// plainBuyers returns a scenario whose agents order once, at a shop without idempotency keys.
func plainBuyers(shop *plainShop, buyers int) string {
	return fmt.Sprintf(`title: Buyers at a plain shop
population: {count: %d, id: "buyer-${agent.index}"}
services:
  shop: {kind: http, url: %q}
chain buy:
  step order: {kind: http, service: shop, post: /orders, json: {buyer: "${agent.id}"}}
  step bought: {kind: emit, event: bought, data: {total: "${steps.order.total}"}}
`, buyers, shop.URL)
}

// cartBuyers returns a scenario whose agents put two items into a cart and order it, at a shop that can report whether a
// request took effect.
func cartBuyers(shop *plainShop, buyers int, verified bool) string {
	cart, order := "", ""
	if verified {
		cart = `
    verify: {get: /cart, query: {session: "${session.uuid}"}, done: "'%s' in body['items']", answer: "${body}", after: 400ms}`
		order = `
    verify: {get: /orders, query: {session: "${session.uuid}"}, done: len(body) > 0, answer: "${body[0]}", after: 400ms}`
	}
	add := func(name, item string) string {
		text := fmt.Sprintf("  step %s:\n    {kind: http, service: shop, post: /cart, json: {session: \"${session.uuid}\", item: %s}}\n", name, item)
		if verified {
			text = fmt.Sprintf("  step %s:\n    kind: http\n    service: shop\n    post: /cart\n    json: {session: \"${session.uuid}\", item: %s}\n    expect: 201%s\n",
				name, item, fmt.Sprintf(cart, item))
		}
		return text
	}
	return fmt.Sprintf(`title: Buyers with carts
population: {count: %d, id: "buyer-${agent.index}"}
services:
  shop: {kind: http, url: %q}
chain buy:
%s%s  step order:
    kind: http
    service: shop
    post: /orders
    json: {session: "${session.uuid}", buyer: "${agent.id}"}
    expect: 201%s
  step bought: {kind: emit, event: bought, data: {order: "${steps.order.body}", cart: "${steps.second['items']}"}}
`, buyers, shop.URL, add("first", "tea"), add("second", "milk"), order)
}
