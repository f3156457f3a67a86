package mock

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine/internal/draw"
)

func TestMain(m *testing.M) {
	if os.Getenv(envLog) != "" {
		fmt.Fprintln(os.Stderr, mortalShop())
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// ask is a test request.
type ask struct {
	user, method, path, body string
	key, tag, session        string
	limited                  bool   // without X-Simulation-Mode
	bearer                   string // instead of the user's token; "-" sends none
}

// got is its answer.
type got struct {
	status int
	header http.Header
	body   string
	err    error
}

func (a ask) request(ctx context.Context, s *Shop, base string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, a.method, base+a.path, strings.NewReader(a.body))
	r.RequestURI = ""
	for name, value := range map[string]string{
		"Authorization": "Bearer " + s.Secret() + "." + a.user, "Idempotency-Key": a.key,
		"X-Throng-Request": a.tag, "X-Shopping-Session-Id": a.session,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if a.bearer == "-" {
		r.Header.Del("Authorization")
	} else if a.bearer != "" {
		r.Header.Set("Authorization", a.bearer)
	}
	if !a.limited {
		r.Header.Set("X-Simulation-Mode", "true")
	}
	return r
}

// visitor sends requests to a running shop, each on its own connection, so that net/http does not retry.
type visitor struct {
	shop   *Shop
	client *http.Client
}

func visit(t testing.TB, cfg Config) visitor {
	t.Helper()
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return visitor{s, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

func (v visitor) do(t testing.TB, a ask) got {
	t.Helper()
	response, err := v.client.Do(a.request(t.Context(), v.shop, v.shop.URL()))
	if err != nil {
		return got{err: err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return got{response.StatusCode, response.Header, string(body), err}
}

// must is do for a request that succeeds. It decodes the answer into into.
func (v visitor) must(t testing.TB, a ask, into any) got {
	t.Helper()
	g := v.do(t, a)
	if g.err != nil || g.status > 299 {
		t.Fatalf("%s %s: %d %s %v", a.method, a.path, g.status, g.body, g.err)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(g.body), into); err != nil {
			t.Fatalf("%s %s: %v in %s", a.method, a.path, err, g.body)
		}
	}
	return g
}

// indoors returns a shop without a listener: it answers through serve, and may have a log.
func indoors(t testing.TB, cfg Config) *Shop {
	t.Helper()
	cfg.Secret = "secret"
	s := build(cfg, time.Now)
	if cfg.Log != "" {
		log, err := openLog(cfg.Log, cfg.Seed, s.redo)
		if err != nil {
			t.Fatal(err)
		}
		s.log = log
	}
	return s
}

func (s *Shop) ask(a ask) got {
	w := httptest.NewRecorder()
	s.serve(w, a.request(context.Background(), s, ""))
	return got{status: w.Code, header: w.Header(), body: w.Body.String()}
}

// state returns everything that decides answers, as text.
func (s *Shop) state() string {
	var users []string
	s.users.all(func(u *user) {
		unchanged := newUser(u.id, u.key)
		if u.store == unchanged.store && u.carts == 0 && u.opened == 0 && u.cycle == 0 && u.swept == 0 &&
			len(u.cart)+len(u.answered)+len(u.seen)+u.selected.len() == 0 {
			return // seen only in calls that changed nothing
		}
		var b bytes.Buffer
		fmt.Fprintf(&b, "%s store %d carts %d opened %d orders %d cycle %d swept %d selected %b\n cart %v\n bought %v\n",
			u.id, u.store, u.carts, u.opened, u.orders, u.cycle, u.swept, u.selected, u.cart, u.bought)
		for _, o := range u.last {
			fmt.Fprintf(&b, " %s\n", s.appendOrder(nil, u, o))
		}
		var keys []string
		for key, k := range u.answered {
			status, body := k.write(s, u, nil)
			keys = append(keys, fmt.Sprintf(" %x %v %d %s\n", key, k.era, status, body))
		}
		slices.Sort(keys)
		fmt.Fprint(&b, keys)
		for _, session := range u.seen {
			shard := &s.sessions.shards[session.id[15]%64]
			fmt.Fprintf(&b, " session %v %v %v\n", session.id, session.era, shard.owner[session.id] == u)
		}
		users = append(users, b.String())
	})
	sort.Strings(users)
	for n := range s.sold {
		if sold := s.sold[n].Load(); sold > 0 {
			users = append(users, fmt.Sprintf("sold %d %d\n", n, sold))
		}
	}
	return strings.Join(users, "")
}

// stamp returns the tag of a cycle, at the simulated time of that cycle.
func stamp(cycle int, step string, attempt int) string {
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC).Add(time.Duration(cycle) * time.Hour)
	return fmt.Sprintf("%d/%s/%d %s", cycle, step, attempt, at.Format(time.RFC3339))
}

func (s *Shop) productJSON(n, quantity int) string {
	return fmt.Sprintf(`{"product_id":%q,"quantity":%d}`, s.goods.products[n].id, quantity)
}

func (s *Shop) couponJSON(n int) string {
	return fmt.Sprintf(`{"coupon_id":%q}`, s.goods.coupons[n].id)
}

// firstCoupon returns a coupon of the user's wallet.
func (s *Shop) firstCoupon(user string) int {
	for n := range s.users.of(user).wallet.all() {
		return n
	}
	return -1
}

func someID(n byte) string { return uuid.UUID{0: n, 6: 0x40, 8: 0x80, 15: n}.String() }

func testRoot(seed uint64) draw.Key { return draw.Key{}.Text("test").Int(seed) }

// testClock returns a clock that shows *now; nil is a constant clock.
func testClock(now *time.Time) func() time.Time {
	if now == nil {
		now = new(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	}
	return func() time.Time { return *now }
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
