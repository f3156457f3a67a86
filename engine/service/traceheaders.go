package service

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/service/redact"
)

// ownHeaders are of the engine and the mock: nothing that an author wrote.
var ownHeaders = []string{"X-Throng-Request", "User-Agent", "Accept-Encoding"}

// headers are those of a request for people, a line each, its host first.
func (c *Call) headers(r *http.Request) string {
	all := []string{"Host: " + c.veiled(r.URL.Host)}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		value := redact.Shorten(c.veiled(strings.Join(r.Header[name], ", ")), mostShown)
		switch {
		case slices.Contains(ownHeaders, name):
			continue
		case redact.IsSecretHeader(name):
			value = redact.Mark
		case c.Private && name != "Content-Type":
			value = notShown
		}
		all = append(all, name+": "+value)
	}
	return strings.Join(all, "\n")
}
