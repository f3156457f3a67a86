// Package browser protects servers on this machine from web pages: a page in the user's browser can send requests to loopback (cross-site
// request forgery), and read the answers once its own name resolves to loopback (DNS rebinding).
package browser

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Refuse answers requests of other sites' web pages with 403, and passes all others to next. Requests of programs pass: their host is an
// address, localhost, a name without a dot or one in a private domain, and they have no other origin.
func Refuse(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if problem := Problem(r); problem != "" {
			http.Error(w, problem, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Problem explains why a request is rejected, or returns "".
func Problem(r *http.Request) string {
	if !private(r.Host) {
		return "use the server's address, such as 127.0.0.1, or localhost, instead of a public name"
	}
	if origins, ok := r.Header["Origin"]; ok {
		for _, origin := range origins {
			if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
				return "requests of other sites' web pages are rejected"
			}
		}
	}
	// Browsers send Sec-Fetch-Site also without an origin. If a user follows a link, the page cannot see the answer.
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return "requests of other sites' web pages are rejected"
	}
	return ""
}

// private reports whether no one can own the domain of a Host header: it is an address, a name without a dot, or in a reserved domain
// (RFC 6761, RFC 6762, RFC 8375; internal by ICANN).
func private(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if address, _, _ := strings.Cut(name, "%"); net.ParseIP(address) != nil {
		return true
	}
	if name == "" || strings.ContainsAny(name, "/@ ") {
		return false
	}
	if !strings.Contains(name, ".") {
		return true
	}
	for _, domain := range []string{".localhost", ".local", ".internal", ".home.arpa"} {
		if strings.HasSuffix(name, domain) {
			return true
		}
	}
	return false
}
