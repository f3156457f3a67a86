package credential

import (
	"net/http"
	"slices"

	"github.com/throng-sim/throng/engine/internal/doc"
)

// TokenHeader is where a token is sent.
type TokenHeader struct{ Name, Scheme string }

// ReadTokenHeader reads the keys `header` and `scheme`.
func ReadTokenHeader(n *doc.Node) TokenHeader {
	h := TokenHeader{"Authorization", "Bearer"}
	if to := n.Get("header"); to != nil {
		h = TokenHeader{Name: http.CanonicalHeaderKey(to.Text())}
		switch {
		case to.Kind() != doc.Scalar: // reported
		case !Token(h.Name):
			to.Errorf("letters, digits and -, such as X-Auth", "%q cannot be the name of a header", h.Name)
		case slices.Contains(OwnHeaders, h.Name):
			to.Errorf("another one, such as X-Auth", "the header %s is set by Throng itself", h.Name)
		}
	}
	if s := n.Get("scheme"); s != nil {
		h.Scheme = s.Text()
		if h.Scheme != "" && !Token(h.Scheme) {
			s.Errorf("one word, such as Token", "%q cannot stand before a token", h.Scheme)
		}
	}
	return h
}
