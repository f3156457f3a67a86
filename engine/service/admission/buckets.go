package admission

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/pace"
)

// bucket is a part of a service with a rate limiter of its own: an endpoint, or a bucket named by the scenario or by the service's
// headers.
type bucket struct {
	name        string
	named       bool // by the scenario or the headers; otherwise it is an endpoint
	rateLimiter *pace.Limiter
	used        atomic.Bool
	refused     atomic.Int64 // 429s
}

// mostBuckets is the number of endpoints with a rate limiter of their own. The others share one.
const (
	mostBuckets = 500
	otherBucket = "other endpoints"
)

// buckets are the buckets of a service. They are safe for concurrent use.
type buckets struct {
	one    bool // there are no buckets: the service is limited as a whole
	within bool // the service as a whole has a rate too

	mu     sync.Mutex
	rates  pace.Limits // of each endpoint
	given  []Bucket
	all    []*bucket          // in order of first use, those of the scenario first
	by     map[string]*bucket // by endpoint
	byName map[string]*bucket // named by headers
}

func newBuckets(l Limits) *buckets {
	b := &buckets{
		one: l.Undivided, within: l.Whole.Start > 0, rates: l.Each, given: l.Buckets,
		by: map[string]*bucket{}, byName: map[string]*bucket{},
	}
	for _, g := range l.Buckets {
		b.all = append(b.all, &bucket{name: g.Name, named: true, rateLimiter: pace.New(g.Rates)})
	}
	return b
}

// of returns the bucket of an endpoint, or nil if the service is limited as a whole.
func (b *buckets) of(endpoint string) *bucket {
	if b.one {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.by[endpoint]
	if found == nil {
		found = b.find(endpoint)
		b.by[endpoint] = found
	}
	found.used.Store(true)
	return found
}

// find returns the bucket that the scenario names for an endpoint, or a new one. b.mu is held.
func (b *buckets) find(endpoint string) *bucket {
	for i, g := range b.given {
		if slices.ContainsFunc(g.Match, func(pattern string) bool { return Matches(pattern, endpoint) }) {
			return b.all[i]
		}
	}
	if len(b.all) < mostBuckets {
		return b.add(endpoint, false)
	}
	if b.byName[""] == nil {
		b.byName[""] = b.add(otherBucket, true)
	}
	return b.byName[""]
}

func (b *buckets) add(name string, named bool) *bucket {
	one := &bucket{name: name, named: named, rateLimiter: pace.New(b.rates)}
	b.all = append(b.all, one)
	return one
}

// rename moves an endpoint to the bucket that the service's headers name, and returns that bucket. It returns nil if the scenario
// names the endpoint's bucket, or if there is no name.
func (b *buckets) rename(endpoint, name string) *bucket {
	if b.one || name == "" {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.by[endpoint]
	if was == nil || was.named && b.byName[name] != was && slices.ContainsFunc(b.given, func(g Bucket) bool { return g.Name == was.name }) {
		return nil
	}
	now := b.byName[name]
	if now == nil {
		if len(b.all) >= 2*mostBuckets {
			return nil
		}
		now = b.add(name, true)
		b.byName[name] = now
	}
	now.used.Store(true)
	b.by[endpoint] = now
	if !slices.ContainsFunc(b.given, func(g Bucket) bool { return g.Name == was.name }) && was != now {
		was.used.Store(false) // no more requests use it
	}
	return now
}

// inUse returns the buckets that requests used.
func (b *buckets) inUse() (all []*bucket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.all {
		if one.used.Load() {
			all = append(all, one)
		}
	}
	return all
}

// each calls f for all buckets.
func (b *buckets) each(f func(*bucket)) {
	b.mu.Lock()
	all := slices.Clone(b.all)
	b.mu.Unlock()
	for _, one := range all {
		f(one)
	}
}

// limits returns the rates of each endpoint.
func (b *buckets) limits() pace.Limits {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rates
}

func (b *buckets) setLimits(now time.Time, l pace.Limits) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rates = l
	for _, one := range b.all[len(b.given):] {
		one.rateLimiter.SetLimits(now, l)
	}
}

// CheckPattern returns an error if a pattern is not valid for [Matches].
func CheckPattern(pattern string) error {
	method, path, named := strings.Cut(strings.TrimSpace(pattern), " ")
	if !named {
		path = method
	}
	methods := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	switch {
	case named && !slices.Contains(methods, strings.ToUpper(method)):
		return fmt.Errorf("%q does not begin with a method, one of %s", pattern, strings.Join(methods, ", "))
	case !strings.HasPrefix(strings.TrimSpace(path), "/"):
		return fmt.Errorf("the path of %q does not begin with a slash", pattern)
	case strings.ContainsAny(path, "?#"):
		return fmt.Errorf("%q has more than a path", pattern)
	}
	return nil
}

// Matches reports whether an endpoint, such as "GET /api/products/{}", matches a pattern: an optional method and a path. In the
// path, * matches any segment, and a final ** all remaining segments.
func Matches(pattern, endpoint string) bool {
	method, path, ok := strings.Cut(endpoint, " ")
	want, at, named := strings.Cut(strings.TrimSpace(pattern), " ")
	if !named {
		want, at = method, want
	}
	if !ok || !strings.EqualFold(want, method) {
		return false
	}
	segments := strings.Split(strings.Trim(path, "/"), "/")
	parts := strings.Split(strings.Trim(strings.TrimSpace(at), "/"), "/")
	for i, part := range parts {
		if part == "**" && i == len(parts)-1 {
			return true
		}
		if i >= len(segments) || part != "*" && part != segments[i] {
			return false
		}
	}
	return len(parts) == len(segments)
}

// state returns the state of the bucket.
func (b *bucket) state(now time.Time) engine.BucketState {
	p := b.rateLimiter.State(now)
	return engine.BucketState{
		Name: b.name,
		LimiterState: engine.LimiterState{
			Rate: p.Rate, MaxRate: p.Limits.Ceiling, RateWhy: p.Why, Blocked: p.Blocked, Waiting: p.Waiting, Refused: b.refused.Load(), Exhausted: p.Exhausted,
		},
	}
}

// worthShowing reports whether the state of a bucket has anything to show.
func worthShowing(s *engine.BucketState) bool {
	return s.Rate > 0 || s.Refused > 0 || s.Waiting > 0 || !s.Blocked.IsZero() || s.Exhausted != ""
}
