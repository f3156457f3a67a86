package chain

import (
	"net/http"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/service/redact"
)

// ownHeaders are set by the client; a file must not set them.
var ownHeaders = []string{
	"Connection", "Content-Length", "Host", "Idempotency-Key", "Keep-Alive", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "X-Throng-Request",
}

func isOwn(name string) bool { return slices.Contains(ownHeaders, name) }

// maxHeaders is how many headers a file may have, and maxHeader the maximum length of a value, in bytes.
const (
	maxHeaders = 100
	maxHeader  = 64 << 10
)

// secretHeaders carry credentials, which must not be in a file.
var secretHeaders = []string{"Authorization", "Proxy-Authorization"}

// Headers reads the headers of a service, whose values may use names and secrets.
func (r *Reader) Headers(s *Service, n *doc.Node, names []string) []Named {
	return r.in(names, s).writing(true).headers(n, "service."+s.Name+".headers.")
}

func (r *reader) headers(n *doc.Node, field string) []Named {
	var all []Named
	if entries := n.Entries(); len(entries) > maxHeaders {
		n.Errorf("", "%d headers, more than %d", len(entries), maxHeaders)
		return nil
	}
	for _, e := range n.Entries() {
		name := http.CanonicalHeaderKey(e.Key.Text())
		h := Named{name, field + e.Key.Text(), r.Text(e.Value), r.holder}
		if h.value == nil {
			continue
		}
		switch {
		case !token(name):
			e.Key.Errorf("letters, digits and -", "%q cannot be the name of a header", name)
		case slices.Contains(ownHeaders, name):
			e.Key.Errorf("remove it", "the header %s is set by Throng itself", name)
		case slices.ContainsFunc(all, func(other Named) bool { return other.name == name }):
			e.Key.Errorf("upper and lower case make no difference", "the header %s is set twice", name)
		}
		all = append(all, h)
		v := expr.Fixed(h.value)
		if v == nil {
			continue
		}
		if value, err := script.Text(v); err != nil {
			e.Value.Errorf("", "%v", err)
		} else if !validHeader(value) {
			e.Value.Errorf("", "%v", badHeader(name))
		} else if value != "" && slices.Contains(secretHeaders, name) && !redact.Marked(value) {
			e.Value.Errorf("`Bearer ${secret:NAME}`, or `auth: {bearer: secret:NAME}` of the service", "a secret must not be in the file")
		}
	}
	return all
}

// token reports whether a text can be the name of a header (RFC 9110, section 5.6.2).
func token(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}
