package service

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// secretHeader are the names of headers whose values are not shown.
var secretHeader = regexp.MustCompile(`(?i)auth|cookie|session|signature|passw|secret|token|api-?key|credential`)

// isSecretHeader reports whether the value of a header is not shown. Those of CORS say what is allowed, and no secret.
func isSecretHeader(name string) bool {
	return secretHeader.MatchString(name) && !strings.HasPrefix(name, "Access-Control-")
}

// ownHeaders are of the engine and the mock: nothing that an author wrote.
var ownHeaders = []string{"X-Throng-Request", "User-Agent", "Accept-Encoding"}

// headers are those of a request for people, a line each, its host first.
func (c *Call) headers(r *http.Request) string {
	all := []string{"Host: " + c.veiled(r.URL.Host)}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		value := shortened(c.veiled(strings.Join(r.Header[name], ", ")), mostShown)
		switch {
		case slices.Contains(ownHeaders, name):
			continue
		case isSecretHeader(name):
			value = blackedOut
		case c.Private && name != "Content-Type":
			value = notShown
		}
		all = append(all, name+": "+value)
	}
	return strings.Join(all, "\n")
}
