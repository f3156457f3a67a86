// Package browser keeps web pages away from servers on this machine: a page that a person has open can send requests to
// loopback (cross-site request forgery), and read the answers once its own name leads there (DNS rebinding).
package browser

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Refuse answers with 403 what a web page of another site sends; all else reaches next. Requests of programs pass: they
// name an address, localhost, a name without a dot or one of a private domain as the host, and no other origin.
func Refuse(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if problem := Problem(r); problem != "" {
			http.Error(w, problem, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Problem says why a request is not answered; "" is that it is.
func Problem(r *http.Request) string {
	if !private(r.Host) {
		return "this server is asked by its address, such as 127.0.0.1, or as localhost, not by a public name"
	}
	if origins, ok := r.Header["Origin"]; ok {
		for _, origin := range origins {
			if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
				return "web pages of other sites are not answered"
			}
		}
	}
	// Browsers say so of requests without an origin, too; where a person follows a link, the page does not see the answer.
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return "web pages of other sites are not answered"
	}
	return ""
}

// private reports whether nobody can have a Host header in a domain of their own: it is an address, a name without a dot,
// or in a domain that is not given to anybody (RFC 6761, RFC 6762, RFC 8375; internal by ICANN).
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
