package service

import (
	"net/http"
	"strings"

	"github.com/throng-sim/throng/engine/service/redact"
)

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
