package mock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine/mock/wire"
)

func TestFaultsValidate(t *testing.T) {
	for _, c := range []struct {
		faults Faults
		ok     bool
	}{
		{Faults{}, true},
		{Faults{RateLimited: 0.2, ServerError: 0.2, Hang: 0.2, Cut: 0.2, BadBody: 0.2}, true},
		{Faults{Hang: 1}, true},
		{Faults{RateLimited: 0.6, BadBody: 0.6}, false},
		{Faults{Cut: -0.1}, false},
		{Faults{Cut: 1.1}, false},
		{Faults{Hang: nan()}, false},
		{Faults{OutageFrom: time.Second, OutageFor: time.Second}, true},
		{Faults{OutageFor: -1}, false},
		{Faults{TokenRequests: 3}, true},
		{Faults{TokenRequests: -1}, false},
		{Faults{Quota: 0.5, Capacity: 40}, true},
		{Faults{Quota: -1}, false},
		{Faults{Quota: nan()}, false},
		{Faults{Quota: wire.MostQuota + 1}, false},
		{Faults{Capacity: -1}, false},
	} {
		if err := c.faults.Validate(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.faults, err)
		}
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

// TestFaultsKeepTheirShares draws the faults of many requests.
func TestFaultsKeepTheirShares(t *testing.T) {
	f := Faults{RateLimited: 0.05, ServerError: 0.1, Hang: 0.15, Cut: 0.2, BadBody: 0.25}
	const n = 100_000
	counts := map[Fault]int{}
	after := 0
	for i := range n {
		fault, late := f.Pick(testRoot(uint64(i)))
		counts[fault]++
		if fault == FaultCut && late {
			after++
		}
	}
	for _, share := range f.Shares() {
		if got := float64(counts[share.Fault]) / n; got < share.Size-0.01 || got > share.Size+0.01 {
			t.Errorf("%s: %v of the requests, want %v", share.Fault, got, share.Size)
		}
	}
	if got := float64(after) / float64(counts[FaultCut]); got < 0.48 || got > 0.52 {
		t.Errorf("%v of the cuts come after the change, want half", got)
	}
}

// TestFaultsDependOnTheHeaderAlone sends the same requests to two shops, in different orders and with other requests in between.
func TestFaultsDependOnTheHeaderAlone(t *testing.T) {
	f := Faults{RateLimited: 0.3, ServerError: 0.3}
	one, two := indoors(t, Config{Seed: 3, Faults: f}), indoors(t, Config{Seed: 3, Faults: f})
	other := indoors(t, Config{Seed: 4, Faults: f})
	a := func(i int) ask {
		return ask{user: fmt.Sprint(i % 5), method: "GET", path: "/api/cart", tag: stamp(i/50, fmt.Sprint("step[", i%10, "]"), i/5%3)}
	}
	const n = 200
	first, differ := map[int]int{}, 0
	for i := range n {
		first[i] = one.ask(a(i)).status
		two.ask(ask{user: fmt.Sprint(i % 5), method: "GET", path: "/api/stores"})
		if other.ask(a(i)).status != first[i] {
			differ++
		}
	}
	for i := n - 1; i >= 0; i-- {
		if got := two.ask(a(i)).status; got != first[i] {
			t.Errorf("request %d: %d and %d", i, first[i], got)
		}
	}
	if differ < n/10 {
		t.Errorf("another seed differs in %d of %d", differ, n)
	}
}

// tagged finds an attempt of a step that gets the fault, before or after the change.
func (v visitor) tagged(user string, f Faults, fault Fault, after bool) string {
	u := v.shop.users.of(user)
	for attempt := 1; ; attempt++ {
		x := &exchange{user: u, call: call{tagged: true, tag: tag{cycle: 1, path: "step", attempt: attempt}}}
		if got, late := f.Pick(x.chance()); got == fault && (fault != FaultCut || late == after) {
			return stamp(1, "step", attempt)
		}
	}
}

// TestEveryFault injects each fault into an order, then repeats it with its key.
func TestEveryFault(t *testing.T) {
	f := Faults{RateLimited: 0.15, ServerError: 0.15, Hang: 0.15, Cut: 0.15, BadBody: 0.15}
	for _, c := range []struct {
		fault Fault
		after bool
		made  bool // the order is made despite the fault
		check func(got) error
	}{
		{FaultRateLimited, false, false, func(g got) error {
			if g.status != 429 || g.header.Get("Retry-After") != "1" || !json.Valid([]byte(g.body)) {
				return errors.New("want 429 with Retry-After: 1")
			}
			return nil
		}},
		{FaultServerError, false, false, func(g got) error {
			if g.status != 500 || !json.Valid([]byte(g.body)) {
				return errors.New("want 500")
			}
			return nil
		}},
		{FaultHang, false, false, func(g got) error {
			if !errors.Is(g.err, context.Canceled) {
				return errors.New("want nothing until the client leaves")
			}
			return nil
		}},
		{FaultCut, false, false, wantCut},
		{FaultCut, true, true, wantCut},
		{FaultBadBody, false, true, func(g got) error {
			if g.status != 200 || len(g.body) == 0 || json.Valid([]byte(g.body)) {
				return errors.New("want 200 and invalid JSON")
			}
			return nil
		}},
	} {
		t.Run(fmt.Sprint(c.fault, " after ", c.after), func(t *testing.T) {
			heard := make(chan Request, 10)
			v := visit(t, Config{Seed: 3, Log: filepath.Join(t.TempDir(), "shop.log"), OnRequest: func(r Request) { heard <- r }})
			v.must(t, ask{user: "ann", method: "POST", path: "/api/cart/items", body: v.shop.productJSON(1, 1)}, nil)
			<-heard
			order := ask{user: "ann", method: "POST", path: "/api/orders", key: "order", tag: v.tagged("ann", f, c.fault, c.after)}
			v.shop.SetFaults(f)
			ctx, leave := context.WithCancel(t.Context())
			answered := make(chan got)
			go func() {
				response, err := v.client.Do(order.request(ctx, v.shop, v.shop.URL()))
				if err != nil {
					answered <- got{err: err}
					return
				}
				defer response.Body.Close()
				body, err := io.ReadAll(response.Body)
				answered <- got{response.StatusCode, response.Header, string(body), err}
			}()
			r := <-heard
			if c.fault == FaultHang {
				select {
				case g := <-answered:
					t.Fatalf("answered %+v", g)
				default:
				}
				leave()
			}
			g := <-answered
			leave()
			if err := c.check(g); err != nil {
				t.Errorf("%v: got %d %s %q %v", err, g.status, g.body, g.header, g.err)
			}
			if r.Fault != c.fault || r.Status != g.status || r.User != "ann" || r.Cycle != 1 || r.Step != "step" || r.N != 2 {
				t.Errorf("the hook received %+v", r)
			}
			made := int64(0)
			if c.made {
				made = 1
			}
			if got := v.shop.OrderCount("ann"); got != made {
				t.Errorf("%d orders after the fault, want %d", got, made)
			}
			if got := v.shop.Stats().Faults[c.fault]; got != 1 {
				t.Errorf("%d faults counted", got)
			}
			v.shop.SetFaults(Faults{})
			again := v.do(t, order)
			if again.status != 201 || (again.header.Get("Idempotency-Replayed") == "true") != c.made {
				t.Errorf("sent again: %d %s, replayed %q", again.status, again.body, again.header.Get("Idempotency-Replayed"))
			}
			if o := v.shop.Orders(); o.Total != 1 || o.DoubledKeys != 0 {
				t.Errorf("orders %+v, want one", o)
			}
		})
	}
}

func wantCut(g got) error {
	if g.err == nil || !errors.Is(g.err, io.EOF) && !strings.Contains(g.err.Error(), "reset") {
		return errors.New("want a connection that ends")
	}
	return nil
}

// TestRetriedOrdersAreMadeOnce retries each order through all faults until it is answered.
func TestRetriedOrdersAreMadeOnce(t *testing.T) {
	v := visit(t, Config{Seed: 3, Faults: Faults{RateLimited: 0.2, ServerError: 0.2, Cut: 0.3, BadBody: 0.2}})
	const users, cycles = 5, 4
	for u := range users {
		for cycle := range cycles {
			for i, a := range []ask{
				{method: "POST", path: "/api/cart/items", body: v.shop.productJSON(u, 1)},
				{method: "POST", path: "/api/orders"},
			} {
				a.user, a.key = fmt.Sprint(u), fmt.Sprint(cycle, i)
				for attempt, ok := 1, false; !ok; attempt++ {
					a.tag = stamp(cycle, a.path[len("/api/"):len("/api/")+4], attempt)
					g := v.do(t, a)
					ok = g.err == nil && g.status < 300 && json.Valid([]byte(g.body))
					if attempt > 200 {
						t.Fatalf("%+v is never answered", a)
					}
				}
			}
		}
	}
	o := v.shop.Orders()
	if o.Total != users*cycles || o.DoubledKeys != 0 {
		t.Errorf("orders %+v, want %d", o, users*cycles)
	}
	if s := v.shop.Stats(); s.Replays == 0 || s.Faults[FaultCut] == 0 || s.Faults[FaultBadBody] == 0 {
		t.Errorf("too few faults or replays: %+v", s)
	}
}

func TestOutage(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := build(Config{Secret: "secret", Faults: Faults{OutageFrom: time.Minute, OutageFor: time.Minute, ServerError: 1}}, testClock(&now))
	for _, c := range []struct {
		after  time.Duration
		status int
	}{{0, 200}, {59 * time.Second, 200}, {time.Second, 503}, {59 * time.Second, 503}, {time.Second, 200}} {
		now = now.Add(c.after)
		if g := s.ask(ask{method: "GET", path: "/healthz"}); g.status != c.status {
			t.Errorf("at %v: %d, want %d", now, g.status, c.status)
		}
	}
	if got := s.Stats(); got.Faults[FaultOutage] != 2 || got.Statuses[503] != 2 || got.Requests != 5 {
		t.Errorf("stats %+v", got)
	}
}

func TestProfiles(t *testing.T) {
	for name, bounds := range map[string][2]time.Duration{
		"none": {0, 0}, "local": {time.Millisecond, 5 * time.Millisecond},
		"remote": {50 * time.Millisecond, 150 * time.Millisecond}, "slow": {500 * time.Millisecond, 2 * time.Second},
	} {
		p, err := ParseProfile(name)
		if err != nil || p.String() != name {
			t.Fatalf("%s: %v %v", name, p, err)
		}
		if least, most, token := p.Times(); least != bounds[0] || most != bounds[1] || token != p.PerToken() {
			t.Errorf("%s takes %v to %v and %v a token", name, least, most, token)
		}
		rapid.Check(t, func(t *rapid.T) {
			key := testRoot(rapid.Uint64().Draw(t, "key"))
			if d := p.Delay(key); d < bounds[0] || d > bounds[1] || d != p.Delay(key) {
				t.Fatalf("%s takes %v, then %v", name, d, p.Delay(key))
			}
		})
	}
	if _, err := ParseProfile("fast"); err == nil || !strings.Contains(err.Error(), "remote") {
		t.Errorf("fast: %v", err)
	}
	if got := Profile(9).String(); got != "profile 9" {
		t.Errorf("profile 9 is called %q", got)
	}
}

// TestLatencyIsWaited compares the time of one answer with its drawn latency, which is the minimum.
func TestLatencyIsWaited(t *testing.T) {
	v := visit(t, Config{Seed: 3})
	v.shop.SetProfile(ProfileLocal)
	a := ask{user: "ann", method: "GET", path: "/api/cart", tag: stamp(1, "step", 1)}
	x := &exchange{user: v.shop.users.of("ann"), call: call{tagged: true, tag: tag{cycle: 1, path: "step", attempt: 1}}}
	want := ProfileLocal.Delay(x.chance())
	from := time.Now()
	v.must(t, a, nil)
	if took := time.Since(from); took < want {
		t.Errorf("took %v, want at least %v", took, want)
	}
}

func TestFaultsNeedNoTag(t *testing.T) {
	statuses := func() (all []int) {
		s := indoors(t, Config{Seed: 3, Faults: Faults{ServerError: 0.5}})
		for range 40 {
			all = append(all, s.ask(ask{user: "ann", method: "GET", path: "/api/cart"}).status)
		}
		return all
	}
	one := fmt.Sprint(statuses())
	if two := fmt.Sprint(statuses()); one != two || !strings.Contains(one, "200") || !strings.Contains(one, "500") {
		t.Errorf("%s, then %s", one, two)
	}
}
