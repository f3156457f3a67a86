package service

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
	"github.com/throng-sim/throng/engine/service/redact"
)

// Per is the scope of a service's rates and refusals.
type Per uint8

// By default the rates of an http service hold for all of its requests, and a 429 slows only the endpoint that sent it. The rates
// of a service of models hold for each endpoint.
const (
	PerDefault  Per = iota
	PerService      // everything holds for the whole service
	PerEndpoint     // everything holds for each endpoint
)

// PerNames are the names of PerService and PerEndpoint.
var PerNames = []string{"service", "endpoint"}

// BucketLimits are rates that some endpoints of a service share.
type BucketLimits struct {
	Name  string
	Match []string // see [Matches]
	Limits
}

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
	given  []BucketLimits
	all    []*bucket          // in order of first use, those of the scenario first
	by     map[string]*bucket // by endpoint
	byName map[string]*bucket // named by headers
}

func newBuckets(l Limits) *buckets {
	b := &buckets{
		one: l.Per == PerService && len(l.Buckets) == 0, within: l.Per != PerEndpoint && l.Rate > 0, rates: l.pace(), given: l.Buckets,
		by: map[string]*bucket{}, byName: map[string]*bucket{},
	}
	for _, g := range l.Buckets {
		b.all = append(b.all, &bucket{name: g.Name, named: true, rateLimiter: pace.New(g.pace())})
	}
	return b
}

// wholePace returns the limits of the service as a whole.
func (l Limits) wholePace() pace.Limits {
	if l.Per == PerEndpoint {
		return pace.Limits{}
	}
	return l.pace()
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
	if was == nil || was.named && b.byName[name] != was && slices.ContainsFunc(b.given, func(g BucketLimits) bool { return g.Name == was.name }) {
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
	if !slices.ContainsFunc(b.given, func(g BucketLimits) bool { return g.Name == was.name }) && was != now {
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

// endpointOf derives the endpoint of a request without a path template: segments that look like IDs are replaced by {}.
func endpointOf(method, path string) string {
	const longest = 24 // of a word
	segments := strings.Split(path, "/")
	for i, s := range segments {
		version := len(s) == 2 && s[0] == 'v'
		if !version && (len(s) > longest || strings.ContainsAny(s, "0123456789")) {
			segments[i] = "{}"
		}
	}
	return method + " " + strings.Join(segments, "/")
}

// bucketOf reads the bucket that a service counts a request in, and whether a refusal is for all requests. Discord names its
// buckets, GitHub its resources, and the IETF draft its policies; the policy "default" has no meaning.
func bucketOf(h http.Header) (name string, global bool) {
	global = strings.EqualFold(h.Get("X-Ratelimit-Global"), "true") || strings.EqualFold(h.Get("X-Ratelimit-Scope"), "global")
	for _, header := range []string{"X-Ratelimit-Bucket", "X-Ratelimit-Resource"} {
		if name = strings.TrimSpace(h.Get(header)); name != "" {
			return redact.Shorten(name, 100), global
		}
	}
	policy := strings.TrimSpace(h.Get("Ratelimit"))
	if quoted, ok := strings.CutPrefix(policy, `"`); ok {
		if name, _, ok = strings.Cut(quoted, `"`); ok && name != "default" {
			return redact.Shorten(name, 100), global
		}
	}
	return "", global
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

// fillPace adds the state of the rate limiters to the state of a service: of the only endpoint in use, or of all endpoints as a
// list and their sum.
func (t *transport) fillPace(s *engine.ServiceState, now time.Time) {
	whole := t.rateLimiter.State(now)
	s.Rate, s.MaxRate, s.RateWhy, s.Blocked = whole.Rate, whole.Limits.Ceiling, whole.Why, whole.Blocked
	s.Exhausted, s.Until, s.Said = whole.Exhausted, whole.Until, whole.Said
	s.Waiting += whole.Waiting
	used := t.buckets.inUse()
	if len(used) == 0 && !t.buckets.one && !t.buckets.within {
		l := t.buckets.limits()
		s.Rate, s.MaxRate = l.Start, max(l.Ceiling, l.Start)
	}
	sum, most := 0.0, 0.0
	paced := whole.Rate == 0
	for _, b := range used {
		p, state := b.rateLimiter.State(now), b.state(now)
		s.Waiting += p.Waiting
		sum, most, paced = sum+p.Rate, most+p.Limits.Ceiling, paced && p.Rate > 0
		if s.Exhausted == "" && p.Exhausted != "" {
			s.Exhausted, s.Until, s.Said = p.Exhausted, p.Until, p.Said
			if len(used) > 1 {
				s.Exhausted = b.name + ": " + p.Exhausted
			}
		}
		if len(used) > 1 || b.named {
			if worthShowing(&state) {
				s.Buckets = append(s.Buckets, state)
			}
			continue
		}
		if whole.Rate == 0 || p.Rate > 0 && p.Rate < whole.Rate {
			s.Rate, s.MaxRate, s.RateWhy = p.Rate, p.Limits.Ceiling, p.Why
		}
		if p.Blocked.After(s.Blocked) {
			s.Blocked = p.Blocked
		}
		return
	}
	if paced && len(used) > 0 {
		s.Rate, s.MaxRate, s.RateWhy = sum, most, ""
	}
}

// moves returns the changes of all rate limiters since the last call.
func (t *transport) moves() (all []engine.ChangeRow) {
	if t.buckets.one {
		for _, m := range t.rateLimiter.Moves() {
			all = append(all, rateMove(t.name, m))
		}
		return all
	}
	_ = t.rateLimiter.Moves() // the limiter of the whole only bounds those of the endpoints
	several := len(t.buckets.inUse()) > 1
	t.buckets.each(func(b *bucket) {
		what := t.name
		if several || b.named {
			what += " " + b.name
		}
		for _, m := range b.rateLimiter.Moves() {
			all = append(all, rateMove(what, m))
		}
	})
	return all
}
