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
	// Without a rate limit, a 429 without a time is waited out for unnamedWait at first, doubling up to maxWait. A 429 with a very
	// short time is waited out for leastWait, to avoid a tight loop.
	unnamedWait = time.Second
	maxWait     = time.Minute
	leastWait   = 50 * time.Millisecond

	// maxRetryAfter limits the waits that a service can ask for, and maxReset the time until its quota is restored.
	maxRetryAfter = 24 * time.Hour
	maxReset      = 366 * 24 * time.Hour
)

// RetryAfter parses a Retry-After header: seconds, or an HTTP date (RFC 9110, section 10.2.3). The result is at most a day.
func RetryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, ok := amount(value); ok {
		return bounded(seconds, time.Second, maxRetryAfter), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter), true
	}
	return 0, false
}

// waitOf returns how long a service asks to wait, if it does. Some services also send milliseconds, which are more exact.
func waitOf(h http.Header, now time.Time) (wait time.Duration, named bool) {
	if ms, ok := amount(h.Get("Retry-After-Ms")); ok {
		return bounded(ms, time.Millisecond, maxRetryAfter), true
	}
	if after := h.Get("Retry-After"); after != "" {
		return RetryAfter(after, now)
	}
	return 0, false
}

// spelling is the names of the headers of one budget.
type spelling struct {
	limit, remaining, reset string
	tokens                  bool
}

// spellings are the usual names; the first that is present counts for each budget. OpenAI and compatible services use the suffixes,
// Anthropic its own names, with the tighter of its budgets for input and output first, GitHub and many others no suffix. The last is that of
// an IETF draft (draft-ietf-httpapi-ratelimit-headers-07).
var spellings = []spelling{
	{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests", false},
	{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens", true},
	{"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset", false},
	{"Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset", true},
	{"Anthropic-Ratelimit-Input-Tokens-Limit", "Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset", true},
	{"Anthropic-Ratelimit-Output-Tokens-Limit", "Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset", true},
	{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", false},
	{"X-Rate-Limit-Limit", "X-Rate-Limit-Remaining", "X-Rate-Limit-Reset", false},
	{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", false},
}

// ofRateLimits reports whether a header, by its canonical name, is about a quota.
func ofRateLimits(name string) bool {
	for _, prefix := range [...]string{"X-Ratelimit-", "X-Rate-Limit-", "Anthropic-Ratelimit-", "Ratelimit-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "Ratelimit"
}

// quotaOf reads what a service says is left of its quotas. Values that cannot be parsed are ignored.
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

// allowance returns a budget if both the remainder and the time of its reset are known.
func allowance(limit, remaining, reset string, now time.Time) pace.Allowance {
	left, ok := amount(remaining)
	in, named := resetIn(reset, now)
	if !ok || !named {
		return pace.Allowance{}
	}
	of, _ := amount(limit)
	return pace.Allowance{Known: true, Limit: of, Remaining: left, Reset: in}
}

// structured parses the single header of later IETF drafts: limit=100, remaining=50, reset=30, or "name";r=50;t=30 with the limit
// in the policy, "name";q=100;w=60. Of several budgets the first counts.
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

// first returns the first of several values in a header, without parameters if it is a number: 100, 100;w=60.
func first(value string) string {
	if at, err := http.ParseTime(value); err == nil { // a date contains a comma
		return at.Format(time.RFC3339)
	}
	value, _, _ = strings.Cut(value, ",")
	if number, _, ok := strings.Cut(value, ";"); ok && !strings.HasPrefix(value, `"`) {
		value = number
	}
	return strings.TrimSpace(value)
}

// resetIn parses the time until a budget is restored: 1.5 (seconds), 12ms, 6m0s, the time 2026-01-02T08:00:00Z, or Unix time in
// seconds or milliseconds. The result is never negative.
func resetIn(value string, now time.Time) (time.Duration, bool) {
	const unixSeconds, unixMillis = 1e9, 1e12 // larger numbers are points in time: as durations they would be over 31 years
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
	at, err := time.Parse(time.RFC3339, value)
	return within(at.Sub(now)), err == nil
}

func within(d time.Duration) time.Duration { return min(max(d, 0), maxReset) }

// amount parses a number that is not negative.
func amount(value string) (float64, bool) {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(n >= 0) { // false for NaN
		return 0, false
	}
	return n, true
}

func bounded(n float64, unit, most time.Duration) time.Duration {
	return time.Duration(min(n*float64(unit), float64(most)))
}

// ofTheDay matches refusals that are about a daily quota.
var ofTheDay = regexp.MustCompile(`(?i:(^|[^a-z])per[ _-]day\b|\bdaily (request |token )?(limit|quota)|\b[RT]PD\b)|PerDay`)

// exhausted returns why a 429 means that a quota is used up for long, rather than for a burst, and when it is restored; until is
// zero if that is not known. why is "" for other 429s.
func (a *Answer) exhausted(now time.Time) (why string, until time.Time) {
	body := a.Body[:min(len(a.Body), 64<<10)]
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
		return "its daily quota is used up", until
	case wait > pace.Long:
		return "its quota is used up: it asks to wait for " + engine.FormatDuration(wait), now.Add(wait)
	}
	return "", time.Time{}
}

// empty returns how long it takes until a used-up budget is restored: the longer of two.
func (a *Answer) empty() (wait time.Duration, named bool) {
	for _, b := range [...]pace.Allowance{a.quota.Requests, a.quota.Tokens} {
		if b.Known && b.Remaining < 1 {
			wait, named = max(wait, b.Reset), true
		}
	}
	return wait, named
}

// refusals computes how long the 429s of one call are waited out.
type refusals struct{ unnamed time.Duration }

// next returns the wait after an answer: the time that it names, or the time of its quota headers. If it says nothing, a call with
// a rate limit waits for the limiter's default, and any other call longer each time.
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
