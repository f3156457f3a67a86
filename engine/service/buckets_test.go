package service

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/service/openai"
)

// limited is a backend with a limit for each endpoint or bucket: so many requests per window, then 429.
type limited struct {
	most    map[string]int    // by bucket
	buckets map[string]string // by endpoint; the default is the endpoint itself
	header  string            // that names the bucket; "" if none does
	window  time.Duration

	mu      sync.Mutex
	began   map[string]time.Time
	used    map[string]int
	refused map[string]int
	done    map[string][]time.Duration // since the start, by endpoint
	start   time.Time
}

func (l *limited) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	endpoint := r.Method + " " + strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/base"), "/v1")
	bucket := endpoint
	if b := l.buckets[endpoint]; b != "" {
		bucket = b
	}
	now := time.Now()
	if now.Sub(l.began[bucket]) >= l.window {
		l.began[bucket], l.used[bucket] = now, 0
	}
	answer := ok200(`{"data":[{"embedding":[1]}],"choices":[{"message":{"content":"x"}}]}`)
	answer.header = map[string]string{}
	if l.header != "" {
		answer.header[l.header] = bucket
	}
	if l.used[bucket]++; l.most[bucket] > 0 && l.used[bucket] > l.most[bucket] {
		l.refused[endpoint]++
		answer.status = http.StatusTooManyRequests
		answer.header["Retry-After"] = "10"
	} else {
		l.done[endpoint] = append(l.done[endpoint], now.Sub(l.start))
	}
	return (&script{answers: []reply{answer}}).RoundTrip(r)
}

func newLimited(most map[string]int) *limited {
	return &limited{
		most: most, window: 10 * time.Second, start: time.Now(),
		began: map[string]time.Time{}, used: map[string]int{}, refused: map[string]int{}, done: map[string][]time.Duration{},
	}
}

// last returns when the last request to an endpoint succeeded.
func (l *limited) last(endpoint string) time.Duration {
	if all := l.done[endpoint]; len(all) > 0 {
		return all[len(all)-1]
	}
	return -1
}

// sends makes n concurrent calls at each endpoint and waits for them.
func sends(t *testing.T, h *HTTP, n int, endpoints ...string) {
	t.Helper()
	var calls sync.WaitGroup
	for range n {
		for _, e := range endpoints {
			method, path, _ := strings.Cut(e, " ")
			calls.Go(func() {
				timer := clock.New(t.Context(), time.Hour, errAttemptTimeout)
				defer timer.Stop()
				call := &Call{Clock: timer, Retry: engine.Retry{Attempts: 1}, Keyless: true}
				if _, err := h.Do(call, Request{Method: method, Target: must(t, path), Header: http.Header{}}); err != nil {
					t.Errorf("%s: %v", e, err)
				}
			})
		}
	}
	calls.Wait()
}

const (
	browse = "GET /products"
	order  = "POST /orders"
	cart   = "POST /cart"
)

// TestA429SlowsItsEndpoint uses a backend with a limit for orders. Everything else continues as before, even with fewer slots than
// waiting orders.
func TestA429SlowsItsEndpoint(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limits Limits
		header string
		cart   time.Duration // about when the last cart is done
		browse time.Duration
	}{
		{"nothing is said", Limits{Connections: 3}, "", 0, 0},
		{"each endpoint has a rate", Limits{Connections: 3, Rate: 1000, Per: PerEndpoint}, "", 0, 0},
		{"the service has a rate", Limits{Connections: 3, Rate: 1000, MaxRate: 1000}, "", 0, 0},
		{"the whole service", Limits{Connections: 3, Per: PerService}, "", 26 * time.Second, 26 * time.Second},
		{"a bucket of its headers", Limits{Connections: 3}, "X-RateLimit-Bucket", 30 * time.Second, 0},
		{"a bucket of the scenario", Limits{Connections: 3, Buckets: []BucketLimits{{Name: "writes", Match: []string{"POST /*"}}}}, "", 20 * time.Second, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				backend := newLimited(map[string]int{order: 5, "writes": 10})
				if backend.header = tt.header; tt.header != "" {
					backend.buckets = map[string]string{order: "writes", cart: "writes"}
				}
				h := client(t, backend, tt.limits)
				sends(t, h, 5, order, cart, browse) // uses up the limit and learns the buckets
				var late sync.WaitGroup
				late.Go(func() { sends(t, h, 10, order) })
				time.Sleep(time.Second) // in virtual time: the orders are refused, and wait
				state := h.State(time.Now())
				sends(t, h, 10, cart, browse)
				late.Wait()
				near := func(what string, want time.Duration) {
					if got := backend.last(what); got < want/4 || got > max(want, 0)+3*time.Second {
						t.Errorf("the last %s is done after %v, want about %v", what, got, want)
					}
				}
				near(cart, tt.cart)
				near(browse, tt.browse)
				if backend.last(order) < 10*time.Second || backend.refused[order] == 0 {
					t.Errorf("the orders were not limited: %v", backend.done[order])
				}
				if state.Refused == 0 || state.Waiting == 0 || tt.limits.Per != PerService && (len(state.Buckets) == 0 || state.InFlight > 0) {
					t.Errorf("state %+v", state)
				}
			})
		})
	}
}

// TestRatesOfBuckets checks the rate of each bucket, and that the rest keeps to the service's.
func TestRatesOfBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newLimited(nil)
		h := client(t, backend, Limits{Rate: 10, Pace: pace.Fixed, Per: PerEndpoint, Buckets: []BucketLimits{
			{Name: "orders", Match: []string{"POST /orders", "POST /orders/**"}, Limits: Limits{Rate: 2, Pace: pace.Fixed}},
		}})
		sends(t, h, 21, order, browse, "POST /orders/7/items")
		for what, want := range map[string]time.Duration{browse: 2 * time.Second, order: 20 * time.Second, "POST /orders/7/items": 20 * time.Second} {
			if got := backend.last(what); got < want-time.Second || got > want+time.Second {
				t.Errorf("the last %s after %v, want %v", what, got, want)
			}
		}
		state := h.State(time.Now())
		if len(state.Buckets) != 2 || state.Buckets[0].Name != "orders" || state.Buckets[0].Rate != 2 || state.Buckets[1].Name != browse || state.Rate != 12 {
			t.Errorf("state %+v", state)
		}
	})
}

// TestEmbeddingsApartFromChat checks that a 429 for embeddings or for chat does not throttle the other.
func TestEmbeddingsApartFromChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newLimited(map[string]int{"POST /embeddings": 1})
		l := models(t, backend, LLMConfig{Limits: Limits{Rate: 10, MaxRate: 50}})
		embed := func() {
			timer := clock.New(t.Context(), time.Hour, errAttemptTimeout)
			defer timer.Stop()
			if _, err := l.Embed(&Call{Clock: timer}, openai.Embedding{Header: http.Header{}, Model: "e", Texts: []string{"x"}}); err != nil {
				t.Error(err)
			}
		}
		embed()
		var late sync.WaitGroup
		late.Go(embed)
		synctest.Wait()
		for range 5 {
			timer := clock.New(t.Context(), time.Hour, errAttemptTimeout)
			if _, err := l.Chat(&Call{Clock: timer}, hello()); err != nil {
				t.Error(err)
			}
			timer.Stop()
		}
		state := l.State(time.Now())
		late.Wait()
		if got := backend.last("POST /chat/completions"); got > time.Second {
			t.Errorf("the chat was done after %v", got)
		}
		if got := backend.last("POST /embeddings"); got < 10*time.Second {
			t.Errorf("the embedding was done after %v", got)
		}
		if len(state.Buckets) != 2 || state.Buckets[0].Name != "POST /embeddings" || state.Buckets[0].Blocked.IsZero() || !state.Buckets[1].Blocked.IsZero() {
			t.Errorf("state %+v", state.Buckets)
		}
	})
}

// TestEndpointOf checks that IDs in a path are replaced.
func TestEndpointOf(t *testing.T) {
	for path, want := range map[string]string{
		"/api/v1/products/17": "GET /api/v1/products/{}", "/orders/6f1c2a9e-0b1d-4c55-9a67-0f4be5b1a001/items": "GET /orders/{}/items", "/": "GET /",
	} {
		if got := endpointOf("GET", path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestBucketsOfHeaders reads the bucket that a service names.
func TestBucketsOfHeaders(t *testing.T) {
	for _, tt := range []struct {
		name, value, bucket string
		global              bool
	}{
		{"X-RateLimit-Bucket", "abcd1234", "abcd1234", false},
		{"X-RateLimit-Resource", "search", "search", false},
		{"RateLimit", `"search";r=0;t=30`, "search", false},
		{"RateLimit", `"default";r=0;t=30`, "", false},
		{"RateLimit", "limit=10, remaining=0, reset=3", "", false},
		{"X-RateLimit-Global", "true", "", true},
		{"X-RateLimit-Scope", "global", "", true},
	} {
		h := http.Header{}
		h.Set(tt.name, tt.value)
		if bucket, global := bucketOf(h); bucket != tt.bucket || global != tt.global {
			t.Errorf("%s: %s: %q, %v", tt.name, tt.value, bucket, global)
		}
	}
}
