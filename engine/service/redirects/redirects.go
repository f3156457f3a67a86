// Package redirects decides where a redirect leads, as browsers do (Fetch standard, HTTP-redirect fetch).
package redirects

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Most is how many redirects a request follows.
const Most = 10

// Next returns the method and the address that a response to a request at from asks for. moves is false for a response that is not
// a redirect. The error does not repeat the address.
func Next(method string, from *url.URL, status int, location string) (next string, to *url.URL, moves bool, err error) {
	if location == "" {
		return "", nil, false, nil
	}
	switch status {
	case http.StatusMovedPermanently, http.StatusFound:
		if method == http.MethodPost {
			method = http.MethodGet
		}
	case http.StatusSeeOther:
		if method != http.MethodHead {
			method = http.MethodGet
		}
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return "", nil, false, nil
	}
	if to, err = from.Parse(location); err != nil {
		return "", nil, true, errors.New("it redirects to an address that cannot be read")
	}
	return method, to, true, nil
}

// SameHost reports whether two addresses have the same scheme, host and port.
func SameHost(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(withPort(a), withPort(b))
}

func withPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return u.Host + ":" + map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// WithoutBody returns the headers of a request that a redirect sends without its body.
func WithoutBody(h http.Header) http.Header {
	h = h.Clone()
	for name := range h {
		if strings.HasPrefix(name, "Content-") {
			delete(h, name)
		}
	}
	return h
}
