package service

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/internal/pace"
)

var eight = time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"0": 0, "1": time.Second, "1.5": 1500 * time.Millisecond, "86400": 24 * time.Hour, "99999999999": 24 * time.Hour, "Inf": 24 * time.Hour,
		"Fri, 02 Jan 2026 08:00:30 GMT": 30 * time.Second,
		"Fri, 02 Jan 2026 07:00:00 GMT": 0,
		"Sat, 02 Jan 2027 07:00:00 GMT": 24 * time.Hour,
		"":                              -1, "-1": -1, "soon": -1, "NaN": -1,
	} {
		got, named := RetryAfter(value, eight)
		if !named {
			got = -1
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", value, got, want)
		}
	}
}

// headers reads lines of headers.
func headers(text string) http.Header {
	h := http.Header{}
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			h.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return h
}

// TestWhatIsWaited checks the wait after a 429, in milliseconds if given.
func TestWhatIsWaited(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"retry-after: 2":                       2 * time.Second,
		"retry-after: 2\nretry-after-ms: 1250": 1250 * time.Millisecond,
		"retry-after: 2\nretry-after-ms: soon": 2 * time.Second,
		"retry-after-ms: 9e99":                 24 * time.Hour,
		"x-ratelimit-reset: 3":                 -1,
	} {
		got, named := waitOf(headers(text), eight)
		if !named {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestQuotas checks the usual header names.
func TestQuotas(t *testing.T) {
	allows := func(limit, remaining float64, reset time.Duration) pace.Allowance {
		return pace.Allowance{Known: true, Limit: limit, Remaining: remaining, Reset: reset}
	}
	for text, want := range map[string]pace.Quota{
		"": {},
		`x-ratelimit-limit-requests: 60
		 x-ratelimit-remaining-requests: 59
		 x-ratelimit-reset-requests: 1s
		 x-ratelimit-limit-tokens: 150000
		 x-ratelimit-remaining-tokens: 149984
		 x-ratelimit-reset-tokens: 6m0s`: {Requests: allows(60, 59, time.Second), Tokens: allows(150_000, 149_984, 6*time.Minute)},
		`anthropic-ratelimit-requests-limit: 1000
		 anthropic-ratelimit-requests-remaining: 999
		 anthropic-ratelimit-requests-reset: 2026-01-02T08:00:07Z
		 anthropic-ratelimit-tokens-limit: 80000
		 anthropic-ratelimit-tokens-remaining: 0
		 anthropic-ratelimit-tokens-reset: 2026-01-02T09:01:00+01:00`: {Requests: allows(1000, 999, 7*time.Second), Tokens: allows(80_000, 0, time.Minute)},
		`anthropic-ratelimit-input-tokens-limit: 80000
		 anthropic-ratelimit-input-tokens-remaining: 79000
		 anthropic-ratelimit-input-tokens-reset: 2026-01-02T08:00:01Z
		 anthropic-ratelimit-output-tokens-limit: 16000
		 anthropic-ratelimit-output-tokens-remaining: 16000
		 anthropic-ratelimit-output-tokens-reset: 2026-01-02T08:00:00Z`: {Tokens: allows(80_000, 79_000, time.Second)},
		`anthropic-ratelimit-output-tokens-limit: 16000
		 anthropic-ratelimit-output-tokens-remaining: 12
		 anthropic-ratelimit-output-tokens-reset: 2026-01-02T08:00:30Z
		 anthropic-ratelimit-tokens-limit: 96000
		 anthropic-ratelimit-tokens-remaining: 90000
		 anthropic-ratelimit-tokens-reset: 2026-01-02T08:00:04Z`: {Tokens: allows(96_000, 90_000, 4*time.Second)},
		"x-ratelimit-limit: 5000\nx-ratelimit-remaining: 4987\nx-ratelimit-reset: 1767340830":           {Requests: allows(5000, 4987, 30*time.Second)},
		"x-rate-limit-limit: 900\nx-rate-limit-remaining: 3\nx-rate-limit-reset: 1767340830":            {Requests: allows(900, 3, 30*time.Second)},
		"x-ratelimit-remaining: 1\nx-ratelimit-reset: 1767340800250":                                    {Requests: allows(0, 1, 250*time.Millisecond)},
		"x-ratelimit-remaining: 1\nx-ratelimit-reset: Fri, 02 Jan 2026 08:00:30 GMT":                    {Requests: allows(0, 1, 30*time.Second)},
		"ratelimit-limit: 100, 100;w=60\nratelimit-remaining: 42\nratelimit-reset: 12.5":                {Requests: allows(100, 42, 12500*time.Millisecond)},
		"ratelimit: limit=100, remaining=50, reset=30":                                                  {Requests: allows(100, 50, 30*time.Second)},
		"ratelimit: \"burst\";r=50;t=30\nratelimit-policy: \"burst\";q=100;w=60,\"day\";q=1000;w=86400": {Requests: allows(100, 50, 30*time.Second)},
		"x-ratelimit-remaining-requests: 7\nx-ratelimit-reset-requests: 12ms\nx-ratelimit-remaining: 1\nx-ratelimit-reset: 1": {
			Requests: allows(0, 7, 12*time.Millisecond),
		},
		"x-ratelimit-remaining-requests: 7":                                     {},
		"x-ratelimit-reset-requests: 7":                                         {},
		"x-ratelimit-remaining: -1\nx-ratelimit-reset: 7":                       {},
		"x-ratelimit-limit: -1\nx-ratelimit-remaining: 5\nx-ratelimit-reset: 7": {Requests: allows(0, 5, 7*time.Second)},
		"x-ratelimit-remaining: many\nx-ratelimit-reset: 7":                     {},
		"x-ratelimit-remaining: 5\nx-ratelimit-reset: soon":                     {},
		"x-ratelimit-remaining: 5\nx-ratelimit-reset: -3s":                      {},
		"x-ratelimit-remaining: 5\nx-ratelimit-reset: 1000000000":               {Requests: allows(0, 5, 0)},
		"x-ratelimit-remaining: 5\nx-ratelimit-reset: 1e300":                    {Requests: allows(0, 5, maxReset)},
		"x-ratelimit-remaining-minute: 5\nx-ratelimit-reset-minute: 7":          {},
	} {
		if got := quotaOf(headers(text), eight); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", text, got, want)
		}
	}
}

// TestExhausted distinguishes a quota that is used up for long from a burst.
func TestExhausted(t *testing.T) {
	for _, c := range []struct {
		headers, body string
		says          string
		until         time.Duration // -1 if not known
	}{
		{"retry-after: 1", "slow down", "", -1},
		{"retry-after: 600", "", "", -1},
		{"", "Rate limit reached for requests per min (RPM). Limit 3 / min.", "", -1},
		{"", "a super day: tipped over", "", -1},
		{"retry-after: 601", "", "it asks to wait for 10 min 1 s", 601 * time.Second},
		{"", `{"error":{"code":"insufficient_quota"}}`, "nothing left to spend", -1},
		{"retry-after: 20", `{"error":{"code":"insufficient_quota"}}`, "nothing left to spend", -1},
		{"retry-after: 432", "Rate limit reached on requests per day (RPD): Limit 200", "daily quota", 432 * time.Second},
		{"", "on tokens per day (TPD)", "daily quota", -1},
		{"", "Rate limit exceeded: free-models-per-day", "daily quota", -1},
		{"", "You have reached your daily limit", "daily quota", -1},
		{"", "requests_per_day", "daily quota", -1},
		{"x-ratelimit-remaining: 0\nx-ratelimit-reset: 7200", "", "it asks to wait for 2 h", 2 * time.Hour},
		{"x-ratelimit-remaining: 0\nx-ratelimit-reset: 7200\nretry-after: 3", "", "", -1},
		{"x-ratelimit-remaining: 5\nx-ratelimit-reset: 7200", "", "", -1},
	} {
		a := newAnswer(&http.Response{StatusCode: 429, Header: func() http.Header {
			h := headers(c.headers)
			h.Set("Date", eight.Format(http.TimeFormat))
			return h
		}()}, []byte(c.body))
		why, until := a.exhausted(eight)
		want := time.Time{}
		if c.until >= 0 {
			want = eight.Add(c.until)
		}
		if (why == "") != (c.says == "") || !strings.Contains(why, c.says) || !until.Equal(want) {
			t.Errorf("%q %q: %q until %v, want %q until %v", c.headers, c.body, why, until, c.says, want)
		}
	}
}

// FuzzQuota parses arbitrary headers: nothing is negative, and no time is infinite.
func FuzzQuota(f *testing.F) {
	for _, s := range []string{"1", "59.5", "12ms", "6m0s", "2026-01-02T08:00:00Z", "1767340830", "1767340800250", "1e308", "-1", "NaN", "100;w=60", `"a";r=1;t=2`, "limit=1, remaining=2, reset=3"} {
		f.Add(s, s, s)
	}
	f.Add("-1", "0", "0") // Azure's form of no limit
	f.Fuzz(func(t *testing.T, limit, remaining, reset string) {
		h := http.Header{}
		for _, s := range spellings {
			h.Set(s.limit, limit)
			h.Set(s.remaining, remaining)
			h.Set(s.reset, reset)
		}
		h.Set("RateLimit", remaining)
		h.Set("RateLimit-Policy", limit)
		h.Set("Retry-After-Ms", reset)
		q := quotaOf(h, eight)
		for _, a := range []pace.Allowance{q.Requests, q.Tokens} {
			if a.Limit < 0 || !(a.Remaining >= 0) || a.Reset < 0 || a.Reset > maxReset || !a.Known && a != (pace.Allowance{}) {
				t.Errorf("%+v", a)
			}
		}
		if wait, _ := waitOf(h, eight); wait < 0 || wait > maxRetryAfter {
			t.Errorf("a wait of %v", wait)
		}
	})
}
