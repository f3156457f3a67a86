package credential

import (
	"net/http"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/redact"
)

// OwnHeaders are set by the client; a file must not set them.
var OwnHeaders = []string{
	"Connection", "Content-Length", "Host", "Idempotency-Key", "Keep-Alive", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "X-Throng-Request",
}

func isOwn(name string) bool { return slices.Contains(OwnHeaders, name) }

// maxHeaders is how many headers a file may have, and maxHeader the maximum length of a value, in bytes.
const (
	maxHeaders = 100
	maxHeader  = 64 << 10
)

// secretHeaders carry credentials, which must not be in a file.
var secretHeaders = []string{"Authorization", "Proxy-Authorization"}

// Header is a header: its name in canonical form, and its value.
type Header struct {
	Name   string
	Field  string // field of its draws
	Value  *script.Template
	secret bool // it may contain secrets
}

// ReadHeaders reads headers whose values may use secrets if secret is set.
func ReadHeaders(r *expr.Compiler, n *doc.Node, field string, secret bool) []Header {
	var all []Header
	if entries := n.Entries(); len(entries) > maxHeaders {
		n.Errorf("", "%d headers, more than %d", len(entries), maxHeaders)
		return nil
	}
	for _, e := range n.Entries() {
		name := http.CanonicalHeaderKey(e.Key.Text())
		h := Header{name, field + e.Key.Text(), r.Text(e.Value), secret}
		if h.Value == nil {
			continue
		}
		switch {
		case !Token(name):
			e.Key.Errorf("letters, digits and -", "%q cannot be the name of a header", name)
		case slices.Contains(OwnHeaders, name):
			e.Key.Errorf("remove it", "the header %s is set by Throng itself", name)
		case slices.ContainsFunc(all, func(other Header) bool { return other.Name == name }):
			e.Key.Errorf("upper and lower case make no difference", "the header %s is set twice", name)
		}
		all = append(all, h)
		v := expr.Fixed(h.Value)
		if v == nil {
			continue
		}
		if value, err := value.Text(v); err != nil {
			e.Value.Errorf("", "%v", err)
		} else if !ValidHeader(value) {
			e.Value.Errorf("", "%v", BadHeader(name))
		} else if value != "" && slices.Contains(secretHeaders, name) && !redact.Marked(value) {
			e.Value.Errorf("`Bearer ${secret:NAME}`, or `auth: {bearer: secret:NAME}` of the service", "a secret must not be in the file")
		}
	}
	return all
}

// Token reports whether a text can be the name of a header (RFC 9110, section 5.6.2).
func Token(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}

// Set evaluates a header with the secrets of its service.
func (n Header) Set(t expr.Contexts, h http.Header, secrets redact.Secrets) error {
	value, err := expr.Text(t, n.Value, n.Field)
	if err != nil {
		return err
	}
	if n.secret {
		if value, err = secrets.Reveal(value, nil); err != nil {
			return err
		}
	}
	if !ValidHeader(value) {
		return BadHeader(n.Name)
	}
	if len(value) > maxHeader {
		return engine.Fail(engine.Script, "the header %s has %s, more than %d kB", n.Name, engine.FormatBytes(int64(len(value))), maxHeader>>10)
	}
	h[n.Name] = []string{value}
	return nil
}

// BadHeader does not include the value: it may be a secret, and the invalid character is invisible.
func BadHeader(name string) error {
	return engine.Fail(engine.Script, "the header %s has a line break or another control character in it", name)
}

// ValidHeader reports whether a value is valid in a header (RFC 9110, section 5.5).
func ValidHeader(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
