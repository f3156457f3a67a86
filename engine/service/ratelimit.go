package service

import (
	"bytes"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/pace"
)

const (
	// Where nothing is paced, a 429 without a time is waited out for unnamedWait at first, doubling up to maxWait; one
	// that names no time to speak of for leastWait, so that nothing is asked in a tight loop.
	unnamedWait = time.Second
	maxWait     = time.Minute
	leastWait   = 50 * time.Millisecond

	// maxRetryAfter bounds what a service can ask for, and maxReset what it can say of its quota.
	maxRetryAfter = 24 * time.Hour
	maxReset      = 366 * 24 * time.Hour
)

// RetryAfter reads a Retry-After header: seconds, or an HTTP date (RFC 9110, section 10.2.3). It never gives more
// than a day.
func RetryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, ok := amount(value); ok {
		return bounded(seconds, time.Second, maxRetryAfter), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter), true
	}
	return 0, false
}

// waitOf is how long a service asks to be left alone, and whether it does. Some say it in milliseconds too, which is
// more exact.
func waitOf(h http.Header, now time.Time) (wait time.Duration, named bool) {
	if ms, ok := amount(h.Get("Retry-After-Ms")); ok {
		return bounded(ms, time.Millisecond, maxRetryAfter), true
	}
	if after := h.Get("Retry-After"); after != "" {
		return RetryAfter(after, now)
	}
	return 0, false
}

// spelling is what the headers of a budget are called, and which it is.
type spelling struct {
	limit, remaining, reset string
	tokens                  bool
}

// spellings are the usual ones; of two for one budget the first that is there counts. OpenAI's and those who follow it
// have the suffixes, Anthropic its own, GitHub and many more none; the last is that of an IETF draft
// (draft-ietf-httpapi-ratelimit-headers-07).
var spellings = []spelling{
	{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests", false},
	{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens", true},
	{"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset", false},
	{"Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset", true},
	{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", false},
	{"X-Rate-Limit-Limit", "X-Rate-Limit-Remaining", "X-Rate-Limit-Reset", false},
	{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", false},
}

// ofRateLimits reports whether a header, by its canonical name, is one of those that tell of a quota.
func ofRateLimits(name string) bool {
	for _, prefix := range [...]string{"X-Ratelimit-", "X-Rate-Limit-", "Anthropic-Ratelimit-", "Ratelimit-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "Ratelimit"
}

// quotaOf reads what a service says that it has left. What cannot be read says nothing.
func quotaOf(h http.Header, now time.Time) (q pace.Quota) {
	any := false
	for name := range h {
		any = any || ofRateLimits(name)
	}
	if !any {
		return q
	}
	for _, s := range spellings {
		to := &q.Requests
		if s.tokens {
			to = &q.Tokens
		}
		if !to.Known {
			*to = allowance(first(h.Get(s.limit)), first(h.Get(s.remaining)), first(h.Get(s.reset)), now)
		}
	}
	if !q.Requests.Known {
		q.Requests = structured(h.Get("Ratelimit"), h.Get("Ratelimit-Policy"), now)
	}
	return q
}

// allowance is a budget of which it is known what remains and when it is whole again.
func allowance(limit, remaining, reset string, now time.Time) pace.Allowance {
	left, ok := amount(remaining)
	in, named := resetIn(reset, now)
	if !ok || !named {
		return pace.Allowance{}
	}
	of, _ := amount(limit)
	return pace.Allowance{Known: true, Limit: of, Remaining: left, Reset: in}
}

// structured reads the one header that later drafts of the IETF have: limit=100, remaining=50, reset=30, or
// "name";r=50;t=30 with the limit in the policy, "name";q=100;w=60. Of several budgets the first counts.
func structured(value, policy string, now time.Time) pace.Allowance {
	said := map[string]string{}
	read := func(text, between string) {
		for part := range strings.SplitSeq(text, between) {
			if key, value, ok := strings.Cut(strings.TrimSpace(part), "="); ok {
				said[key] = value
			}
		}
	}
	if strings.Contains(value, "remaining=") {
		read(value, ",")
		return allowance(said["limit"], said["remaining"], said["reset"], now)
	}
	read(first(policy), ";")
	read(first(value), ";")
	return allowance(said["q"], said["r"], said["t"], now)
}

// first is the first of several values in a header, without its parameters where it is a number: 100, 100;w=60.
func first(value string) string {
	if at, err := http.ParseTime(value); err == nil { // it has a comma
		return at.Format(time.RFC3339)
	}
	value, _, _ = strings.Cut(value, ",")
	if number, _, ok := strings.Cut(value, ";"); ok && !strings.HasPrefix(value, `"`) {
		value = number
	}
	return strings.TrimSpace(value)
}

// resetIn reads when a budget is whole again: in 1.5 (seconds), 12ms, 6m0s, at 2026-01-02T08:00:00Z, or at a time in
// seconds or milliseconds of Unix. It is never less than 0.
func resetIn(value string, now time.Time) (time.Duration, bool) {
	const unixSeconds, unixMillis = 1e9, 1e12 // nobody says so of a time to come otherwise: it would be 31 years
	if n, ok := amount(value); ok {
		switch {
		case n >= unixMillis:
			return within(time.UnixMilli(int64(min(n, math.MaxInt64/4))).Sub(now)), true
		case n >= unixSeconds:
			return within(time.UnixMilli(int64(n * 1000)).Sub(now)), true
		}
		return bounded(n, time.Second, maxReset), true
	}
	if d, err := time.ParseDuration(value); err == nil && d >= 0 {
		return within(d), true
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return within(at.Sub(now)), true
	}
	return 0, false
}

func within(d time.Duration) time.Duration { return min(max(d, 0), maxReset) }

// amount reads a number that is not below 0; any other is 0 and none.
func amount(value string) (float64, bool) {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(n >= 0) { // NaN is not
		return 0, false
	}
	return n, true
}

func bounded(n float64, unit, most time.Duration) time.Duration {
	return time.Duration(min(n*float64(unit), float64(most)))
}

// ofTheDay is what the refusals of services say whose quota is one of the day.
var ofTheDay = regexp.MustCompile(`(?i:(^|[^a-z])per[ _-]day\b|\bdaily (request |token )?(limit|quota)|\b[RT]PD\b)|PerDay`)

// exhausted says of a 429 in words that the quota is gone for long, rather than for a burst, and when it is there again;
// zero is that nobody knows. "" is that it is not.
func (a *Answer) exhausted(now time.Time) (why string, until time.Time) {
	const scanned = 64 << 10
	body := a.Body[:min(len(a.Body), scanned)]
	if bytes.Contains(body, []byte(`"insufficient_quota"`)) {
		return "the account has nothing left to spend (insufficient_quota)", time.Time{}
	}
	wait, named := a.wait, a.named
	if !named {
		wait, named = a.empty()
	}
	switch {
	case ofTheDay.Match(body):
		if named {
			until = now.Add(wait)
		}
		return "its quota of the day is used up", until
	case wait > pace.Long:
		return "its quota is used up: it asks to wait for " + engine.FormatDuration(wait), now.Add(wait)
	}
	return "", time.Time{}
}

// empty is how long a budget of which nothing is left takes until it is whole again, the longer of two.
func (a *Answer) empty() (wait time.Duration, named bool) {
	for _, b := range [...]pace.Allowance{a.quota.Requests, a.quota.Tokens} {
		if b.Known && b.Remaining < 1 {
			wait, named = max(wait, b.Reset), true
		}
	}
	return wait, named
}

// refusals says how long the 429s of one call are waited out.
type refusals struct{ unnamed time.Duration }

// next is what the answer names, or what its headers do. Where nothing is said, who is paced waits for the time that
// rateLimiters have for it, and who is not for longer each time.
func (r *refusals) next(a *Answer, paced bool) time.Duration {
	wait, named := a.wait, a.named
	if !named {
		wait, named = a.empty()
	}
	switch {
	case named:
		return max(wait, leastWait)
	case paced:
		return pace.Unnamed
	}
	r.unnamed = min(max(2*r.unnamed, unnamedWait), maxWait)
	return r.unnamed/2 + rand.N(r.unnamed/2)
}
