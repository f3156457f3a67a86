package messages

import (
	"net/http"
	"strconv"
	"time"
)

// SetLimit sets the headers of a quota of requests or tokens: how much it is, what is left, and when it is full again, in whole seconds,
// rounded up.
func SetLimit(h http.Header, name string, limit, left int, full time.Time) {
	if whole := full.Truncate(time.Second); whole.Before(full) {
		full = whole.Add(time.Second)
	}
	name = "Anthropic-Ratelimit-" + name
	h.Set(name+"-Limit", strconv.Itoa(limit))
	h.Set(name+"-Remaining", strconv.Itoa(left))
	h.Set(name+"-Reset", full.UTC().Format(time.RFC3339))
}
