package mock

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfigValidate(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string // in the error; "" for success
	}{
		{Config{}, ""},
		{Config{Addr: "127.0.0.1:0"}, ""},
		{Config{Addr: "localhost:0"}, ""},
		{Config{Addr: "[::1]:0"}, ""},
		{Config{Addr: "127.1.2.3:80"}, ""},
		{Config{Addr: ":8080"}, "loopback"},
		{Config{Addr: "0.0.0.0:8080"}, "loopback"},
		{Config{Addr: "[::]:8080"}, "loopback"},
		{Config{Addr: "192.168.1.2:8080"}, "loopback"},
		{Config{Addr: "example.com:8080"}, "loopback"},
		{Config{Addr: "127.0.0.1"}, "HOST:PORT"},
		{Config{Secret: "has space"}, "secret"},
		{Config{Secret: "line\n"}, "secret"},
		{Config{Profile: 9}, "profile"},
		{Config{Faults: Faults{Hang: 2}}, "hang"},
	} {
		err := c.cfg.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
		if err != nil {
			if _, err := Start(c.cfg); err == nil {
				t.Errorf("%+v started", c.cfg)
			}
		}
	}
}

func TestStartListensOnLoopback(t *testing.T) {
	v := visit(t, Config{Secret: "s.with.dots"})
	if !strings.HasPrefix(v.shop.URL(), "http://127.0.0.1:") {
		t.Errorf("URL = %s", v.shop.URL())
	}
	v.must(t, ask{user: "user.with.dots", method: "GET", path: "/api/cart"}, nil)
	other := visit(t, Config{})
	if a := other.shop.Secret(); len(a) < 20 || a == visit(t, Config{}).shop.Secret() {
		t.Errorf("secret %q", a)
	}
	taken := strings.TrimPrefix(v.shop.URL(), "http://")
	log := filepath.Join(t.TempDir(), "shop.log")
	if s, err := Start(Config{Addr: taken, Log: log}); err == nil {
		t.Errorf("two shops on %s", s.URL())
	}
}

// TestMutationsAreWrittenBeforeTheirAnswer reads the log in the hook, as a kill at this point would leave it.
func TestMutationsAreWrittenBeforeTheirAnswer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.log")
	var sizes []int
	v := visit(t, Config{Seed: 2, Log: path, OnMutation: func(n int64) {
		if sizes = append(sizes, len(readFile(t, path))); int(n) != len(sizes) {
			t.Errorf("mutation %d has number %d", len(sizes), n)
		}
	}})
	for _, c := range []struct {
		ask
		writes bool
	}{
		{ask{method: "POST", path: "/api/cart/items", body: v.shop.productJSON(1, 1), key: "a"}, true},
		{ask{method: "POST", path: "/api/cart/items", body: v.shop.productJSON(1, 1), key: "a"}, false},
		{ask{method: "POST", path: "/api/cart/items", body: "x", key: "b"}, true},
		{ask{method: "POST", path: "/api/cart/items", body: "x"}, false},
		{ask{method: "POST", path: "/api/cart/items", body: "x", session: someID(2)}, true},
		{ask{method: "GET", path: "/api/cart", session: someID(1)}, true},
		{ask{method: "GET", path: "/api/cart", session: someID(1)}, false},
		{ask{method: "POST", path: "/api/orders", session: someID(1)}, true},
	} {
		before := len(sizes)
		c.user = "ann"
		v.do(t, c.ask)
		if wrote := len(sizes) > before; wrote != c.writes {
			t.Errorf("%s %s with key %q and session %q: written %v, want %v", c.method, c.path, c.key, c.session, wrote, c.writes)
		}
	}
	for i := 1; i < len(sizes); i++ {
		if sizes[i] <= sizes[i-1] {
			t.Errorf("the log had %d bytes at mutation %d, then %d", sizes[i-1], i, sizes[i])
		}
	}
	if err := v.shop.Sync(); err != nil {
		t.Error(err)
	}
	if got := v.shop.Stats().Mutations; int(got) != len(sizes) {
		t.Errorf("%d mutations counted, want %d", got, len(sizes))
	}
}

// TestHookDelaysTheAnswer checks that OnRequest may block, and that the answer waits for it.
func TestHookDelaysTheAnswer(t *testing.T) {
	heard, release := make(chan Request), make(chan struct{})
	v := visit(t, Config{OnRequest: func(r Request) { heard <- r; <-release }})
	answered := make(chan got)
	go func() { answered <- v.do(t, ask{user: "ann", method: "GET", path: "/api/cart"}) }()
	if r := <-heard; r.N != 1 || r.Status != 200 || r.Path != "/api/cart" || r.User != "ann" {
		t.Errorf("received %+v", r)
	}
	select {
	case g := <-answered:
		t.Errorf("answered %d before the hook returned", g.status)
	default:
	}
	release <- struct{}{}
	if g := <-answered; g.status != 200 {
		t.Errorf("got %d %v", g.status, g.err)
	}
}

// TestCloseEndsEverything closes a shop with requests that hang, wait for their latency, or are half sent.
func TestCloseEndsEverything(t *testing.T) {
	hanging := make(chan Request)
	s, err := Start(Config{Faults: Faults{Hang: 1}, OnRequest: func(r Request) { hanging <- r }, Log: filepath.Join(t.TempDir(), "shop.log")})
	if err != nil {
		t.Fatal(err)
	}
	v := visitor{s, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	half, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = half.Close() }()
	if _, err := io.WriteString(half, "POST /api/orders HTTP/1.1\r\nHost: x\r\n"); err != nil {
		t.Fatal(err)
	}
	answers := make(chan got)
	const n = 5
	for range n {
		go func() { answers <- v.do(t, ask{user: "ann", method: "POST", path: "/api/orders"}) }()
	}
	for range n {
		<-hanging
	}
	s.SetProfile(ProfileSlow)
	s.SetFaults(Faults{})
	go func() { answers <- v.do(t, ask{user: "slow", method: "GET", path: "/api/cart"}) }()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for range n + 1 {
		if g := <-answers; g.err == nil {
			t.Errorf("answered %d %s", g.status, g.body)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("a second close: %v", err)
	}
	if err := s.Sync(); err == nil {
		t.Error("a closed log was synced")
	}
}

// FuzzRequest sends any request: every answer is JSON and not a 5xx.
func FuzzRequest(f *testing.F) {
	s := indoors(f, Config{Seed: 4})
	f.Add("POST", "/api/cart/items", s.productJSON(1, 2), "k", someID(1), stamp(1, "x", 1))
	f.Add("POST", "/api/cart/coupons", s.couponJSON(1), "", "", "")
	f.Add("GET", "/api/products/search?query=milk&limit=3", "", "", "", "")
	f.Add("GET", "/api/orders?limit=1&offset=9", "", "", "", "")
	f.Add("POST", "/api/orders", "", "k2", "", "")
	f.Add("DELETE", "/api/cart", "", "k3", "", "")
	f.Add("GET", "/api/products/x", "", "", "", "")
	f.Add("POST", "/api/shopping/session", `{"store_id":null}`, "", "", "")
	f.Fuzz(func(t *testing.T, method, path, body, key, session, tag string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://shop"+path, strings.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set("Authorization", "Bearer secret.ann")
		r.Header.Set("X-Simulation-Mode", "true")
		r.Header.Set("Idempotency-Key", key)
		r.Header.Set("X-Shopping-Session-Id", session)
		r.Header.Set("X-Throng-Request", tag)
		w := httptest.NewRecorder()
		s.serve(w, r)
		if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	})
}

func TestStatsAddUp(t *testing.T) {
	s := indoors(t, Config{Seed: 4, Faults: Faults{ServerError: 0.3}})
	for i := range 100 {
		s.ask(ask{user: "ann", method: "GET", path: []string{"/api/cart", "/nope"}[i%2]})
	}
	stats := s.Stats()
	var answers int64
	for _, n := range stats.Statuses {
		answers += n
	}
	if stats.Requests != 100 || answers != 100 || stats.Statuses[404] != 50 || stats.Statuses[500] != stats.Faults[FaultServerError] || stats.Statuses[500] == 0 {
		t.Errorf("stats %+v", stats)
	}
}
