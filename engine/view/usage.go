package view

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// CacheText describes the part of the input that the provider's cache had, such as "4,100 from the provider's cache, 62%, 300 written to
// it". It is "" if there is none.
func CacheText(u *engine.Usage) string {
	if u.Cached+u.Written == 0 {
		return ""
	}
	text := fmt.Sprintf("%s from the provider's cache, %.0f%%", engine.FormatCount(u.Cached), 100*float64(u.Cached)/float64(max(u.Input, 1)))
	if u.Written > 0 {
		text += ", " + engine.FormatCount(u.Written) + " written to it"
	}
	return text
}

// tokensText describes the tokens of calls.
func tokensText(u *engine.Usage) string {
	cached := ""
	if text := CacheText(u); text != "" {
		cached = " (" + text + ")"
	}
	return fmt.Sprintf("%s tokens in%s, %s out", engine.FormatCount(u.Input), cached, engine.FormatCount(u.Output))
}

// FormatUsage formats the use of model calls, such as "1,234, 56,000 tokens in, 12,000 out, $0.0123 · 300 answers from the cache".
func FormatUsage(u *engine.Usage) string {
	tokens := tokensText(u)
	if u.Estimated > 0 {
		tokens += " (estimated for " + engine.FormatCount(u.Estimated) + " calls)"
	}
	parts := []string{engine.FormatCount(u.Calls) + ", " + tokens + ", " + engine.FormatCost(u)}
	for _, more := range []struct {
		n    int64
		what string
	}{
		{u.Batched, "in batches"}, {u.Hits, "answers from the cache"}, {u.Doubtful, "with usage that contradicts itself"}, {u.Again, "sent again, perhaps paid twice"},
	} {
		if more.n > 0 {
			parts = append(parts, engine.FormatCount(more.n)+" "+more.what)
		}
	}
	return strings.Join(parts, " · ")
}
