package service

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/service/redact"
)

// ownHeaders are headers of the engine and the mock, which no author wrote.
var ownHeaders = []string{"X-Throng-Request", "X-Throng-Seed", "User-Agent", "Accept-Encoding"}

// headers returns the headers of a request for display, one per line, its host first.
func (c display) headers(r *http.Request) string {
	all := []string{"Host: " + c.display().masked(r.URL.Host)}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		value := redact.Shorten(c.display().masked(strings.Join(r.Header[name], ", ")), mostShown)
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
