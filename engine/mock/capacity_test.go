package mock

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestQuotaOfAFault checks a quota per second for all callers of the shop: no header lifts it, every answer reports it, and it can change
// while the shop runs.
func TestQuotaOfAFault(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := build(Config{Secret: "secret", Faults: Faults{Quota: 5}}, testClock(&now))
	call := func() got { return s.ask(ask{user: "ann", method: "GET", path: "/api/cart"}) }
	says := func(g got) string {
		h := g.header
		return strings.Join([]string{
			fmt.Sprint(g.status), h.Get("Retry-After"), h.Get("X-Ratelimit-Limit-Requests"), h.Get("X-Ratelimit-Remaining-Requests"),
			h.Get("X-Ratelimit-Reset-Requests"), h.Get("X-Ratelimit-Limit-Tokens"),
		}, "|")
	}
	for i, want := range []string{"200||5|4|200ms|", "200||5|3|400ms|", "200||5|2|600ms|", "200||5|1|800ms|", "200||5|0|1s|", "429|1|5|0|1s|", "429|1|5|0|1s|"} {
		if got := says(call()); got != want {
			t.Errorf("call %d: %s, want %s", i+1, got, want)
		}
	}
	for range 10 {
		if g := s.ask(ask{user: "ann", method: "GET", path: "/healthz"}); g.status != 200 {
			t.Errorf("/healthz: %d", g.status)
		}
	}
	now = now.Add(200 * time.Millisecond)
	if got := says(call()); got != "200||5|0|1s|" {
		t.Errorf("a fifth of a second later: %s", got)
	}
	s.SetFaults(Faults{Quota: 2.5})
	now = now.Add(time.Hour)
	for i, want := range []int{200, 200, 429} {
		if got := call().status; got != want {
			t.Errorf("call %d of 2.5 per second: %d, want %d", i+1, got, want)
		}
	}
	s.SetFaults(Faults{})
	for range 100 {
		if got := says(call()); got != "200|||||" {
			t.Fatalf("without a quota: %s", got)
		}
	}
}

// TestModelWithTheQuotaOfAFault checks that the quota of a fault replaces the model's own quota of requests while it is set.
func TestModelWithTheQuotaOfAFault(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := indoorModel(ModelConfig{RequestsPerMinute: 100, TokensPerMinute: 10_000, Faults: Faults{Quota: 2}}, &now)
	var got []string
	for range 3 {
		g := m.post(embedPath, `{"model":"mock-1","input":"a"}`)
		got = append(got, fmt.Sprint(g.status, " ", g.header.Get("X-Ratelimit-Limit-Requests"), " ", g.header.Get("X-Ratelimit-Remaining-Requests"),
			" ", g.header.Get("X-Ratelimit-Limit-Tokens"), " ", g.header.Get("Retry-After")))
		if g.status == 429 && !strings.Contains(g.body, "requests per second") {
			t.Errorf("the error is %s", g.body)
		}
	}
	if want := "200 2 1 10000 , 200 2 0 10000 , 429 2 0 10000 1"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	m.SetFaults(Faults{})
	if g := m.post(embedPath, `{"model":"mock-1","input":"a"}`); g.header.Get("X-Ratelimit-Limit-Requests") != "100" {
		t.Errorf("after it: %v", g.header)
	}
}

// TestCapacity checks that latency grows in proportion to the requests in flight beyond the capacity, and that finished requests no
// longer count.
func TestCapacity(t *testing.T) {
	m := indoorModel(ModelConfig{Profile: ProfileSlow, Faults: Faults{Capacity: 2}}, nil)
	began, release := make(chan time.Duration), make(chan struct{})
	m.wait = func(_ *call, d time.Duration) {
		began <- d
		<-release
	}
	request := func() got {
		return m.post(embedPath, `{"model":"mock-1","input":"a"}`, "X-Throng-Request", stamp(1, "step", 1))
	}
	done := make(chan got)
	var took []time.Duration
	for range 6 {
		go func() { done <- request() }()
		took = append(took, <-began)
	}
	for i, d := range took {
		want := time.Duration(float64(took[0]) * max(1, float64(i+1)/2))
		if d != want {
			t.Errorf("with %d in flight a request takes %v, want %v", i+1, d, want)
		}
	}
	close(release)
	go func() {
		for range began { // of the tokens
		}
	}()
	for range 6 {
		if g := <-done; g.status != 200 {
			t.Errorf("%d %s", g.status, g.body)
		}
	}
	close(began)
	if n := m.inFlight.Load(); n != 0 {
		t.Errorf("%d requests are still in flight", n)
	}
}

// TestFailedRequestsLeaveInFlight checks that cut and refused requests no longer count as in flight.
func TestFailedRequestsLeaveInFlight(t *testing.T) {
	v := visit(t, Config{Faults: Faults{Cut: 0.5, ServerError: 0.3, Capacity: 1}})
	for range 40 {
		v.do(t, ask{user: "ann", method: "GET", path: "/api/cart"})
	}
	v.do(t, ask{user: "ann", method: "GET", path: "/api/cart", bearer: "-"})
	if err := v.shop.Close(); err != nil {
		t.Fatal(err)
	}
	if n := v.shop.inFlight.Load(); n != 0 {
		t.Errorf("%d requests are still in flight", n)
	}
}
