package health

import (
	"fmt"
	"math"

	"github.com/throng-sim/throng/engine"
)

// leastCacheable is the number of tokens from which the share of cached prompts is judged.
const leastCacheable = 50_000

// CacheAdvice is the advice if a provider's cache has few of the prompts.
const CacheAdvice = "let prompts begin with what is the same for all agents: instructions in `system`, the persona in `prompt`"

// CachedShare returns the share of the tokens of long prompts that the provider's cache had, and whether that is too little. It is NaN if
// there are too few such tokens, or a cache saves nothing.
func CachedShare(u *engine.Usage) (share float64, low bool) {
	if u.Cacheable < leastCacheable {
		return math.NaN(), false
	}
	share = min(float64(u.Cached)/float64(u.Cacheable), 1)
	return share, share <= 0.5
}

// uncached grows as the share of cached prompts shrinks, and is 1 if it is too low.
func (f *sessionFigures) uncached() float64 {
	share, low := CachedShare(&f.s.Usage)
	if low {
		return 1
	}
	return min(1-share, 0.5)
}

func (f *sessionFigures) cachedText() string {
	share, _ := CachedShare(&f.s.Usage)
	return fmt.Sprintf("%.0f%%", 100*share)
}

func (f *sessionFigures) wellCached() string {
	if f.uncached() > 0.2 {
		return ""
	}
	return "the provider's cache has most of long prompts"
}
