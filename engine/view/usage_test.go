package view

import (
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestFormatUsage(t *testing.T) {
	for _, c := range []struct {
		usage engine.Usage
		want  string
	}{
		{engine.Usage{Calls: 1, Input: 2, Output: 3}, "1, 2 tokens in, 3 out, $0"},
		{
			engine.Usage{Calls: 1234, Input: 56_000, Output: 12_000, Cost: 12_300_000, Hits: 300},
			"1,234, 56,000 tokens in, 12,000 out, $0.0123 · 300 answers from the cache",
		},
		{
			engine.Usage{Calls: 4, Input: 1000, Output: 9, Cached: 620, Written: 30, Doubtful: 1, Again: 2},
			"4, 1,000 tokens in (620 from the provider's cache, 62%, 30 written to it), 9 out, $0 · 1 with usage that contradicts itself · 2 sent again, perhaps paid twice",
		},
		{engine.Usage{Calls: 2, Input: 9, Unpriced: 2, Estimated: 1}, "2, 9 tokens in, 0 out (estimated for 1 calls), cost unknown for 2 calls"},
		{engine.Usage{Calls: 3, Input: 9, Cost: 2e9, Unpriced: 1}, "3, 9 tokens in, 0 out, $2.00 and cost unknown for 1 calls"},
	} {
		if got := FormatUsage(&c.usage); got != c.want {
			t.Errorf("%+v: %q, want %q", c.usage, got, c.want)
		}
	}
}
