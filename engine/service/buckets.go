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

// Per says what a service's rates, and what it refuses, hold for.
type Per uint8

// By default the rates of an http service bound all of its requests, while a 429 slows only the endpoint that it came
// from; those of a service of models hold for each endpoint.
const (
	PerDefault  Per = iota
	PerService      // everything holds for the whole service
	PerEndpoint     // everything holds for each endpoint
)

// PerNames are the names of the last two, in their order.
var PerNames = []string{"service", "endpoint"}

// BucketLimits are rates of their own for some endpoints of a service together.
type BucketLimits struct {
	Name  string
	Match []string // see Matches
	Limits
}

// bucket is a part of a service with a rate limiter of its own: an endpoint, one that the scenario names, or one that the
// service's headers name.
type bucket struct {
	name        string
	named       bool // by the scenario or the headers; else it is an endpoint
	rateLimiter *pace.Limiter
	used        atomic.Bool
	refused     atomic.Int64 // 429s
}

// mostBuckets is how many endpoints have a rate limiter of their own; the others share one.
const (
	mostBuckets = 500
	otherBucket = "other endpoints"
)

// buckets are those of a service. It is safe for concurrent use.
type buckets struct {
	one    bool // there are none: the service is limited as a whole
	within bool // the whole is paced, too

	mu     sync.Mutex
	rates  pace.Limits // of each endpoint
	given  []BucketLimits
	all    []*bucket          // in the order of their first use, those of the scenario first
	by     map[string]*bucket // by endpoint
	byName map[string]*bucket // of headers
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

// wholePace are the limits of the service as a whole.
func (l Limits) wholePace() pace.Limits {
	if l.Per == PerEndpoint {
		return pace.Limits{}
	}
	return l.pace()
}

// of is the bucket of an endpoint; nil is that it is limited with the whole.
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

// find is the bucket that the scenario names for an endpoint, or else one of its own. b.mu is held.
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

// rename has an endpoint belong to the bucket that the service's headers name, and returns that. What the scenario names
// stays, and so does an endpoint without a bucket.
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
		was.used.Store(false) // nothing comes to it any more
	}
	return now
}

// inUse are the buckets that requests went to.
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

// each calls f for all of them.
func (b *buckets) each(f func(*bucket)) {
	b.mu.Lock()
	all := slices.Clone(b.all)
	b.mu.Unlock()
	for _, one := range all {
		f(one)
	}
}

// limits are the rates of each endpoint, and setLimits changes them by hand.
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

// CheckPattern says what is wrong with a pattern of [Matches].
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

// Matches reports whether an endpoint, such as "GET /api/products/{}", fits a pattern: a method, which may be left out, and a
// path in which * stands for any segment, and ** at its end for all that follow.
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

// endpointOf is the endpoint of a request whose path nobody gave as a template: segments that look like the id of something
// are left out.
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

// bucketOf reads which bucket a service says that a request belongs to, and whether it speaks of all requests. Discord names
// its buckets, GitHub its resources, and the IETF's draft its policies, of which "default" says nothing.
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

// state is how the bucket is doing.
func (b *bucket) state(now time.Time) engine.BucketState {
	p := b.rateLimiter.State(now)
	return engine.BucketState{
		Name: b.name,
		LimiterState: engine.LimiterState{
			Rate: p.Rate, MaxRate: p.Limits.Ceiling, RateWhy: p.Why, Blocked: p.Blocked, Waiting: p.Waiting, Refused: b.refused.Load(), Exhausted: p.Exhausted,
		},
	}
}

// telling reports whether there is something to say of a bucket.
func telling(s *engine.BucketState) bool {
	return s.Rate > 0 || s.Refused > 0 || s.Waiting > 0 || !s.Blocked.IsZero() || s.Exhausted != ""
}

// fillPace writes into a service's state what its rate limiters do: that of the only endpoint in use, or those of all in a
// list, and what they come to together.
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
			if telling(&state) {
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

// moves are the changes of all rate limiters since they were asked last.
func (t *transport) moves() (all []engine.ChangeRow) {
	if t.buckets.one {
		for _, m := range t.rateLimiter.Moves() {
			all = append(all, rateMove(t.name, m))
		}
		return all
	}
	_ = t.rateLimiter.Moves() // it only bounds what those of the endpoints do
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
