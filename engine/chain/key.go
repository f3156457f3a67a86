package chain

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/service/redact"
)

// KeyKinds are the ways to sign in with a fixed key: HTTP basic authentication (RFC 7617), or an API key in a header,
// the query or a cookie.
var KeyKinds = []string{"basic", "header", "query", "cookie"}

// Key configures sign-in to a service with a fixed key.
type Key struct {
	kind, name  string
	user, value *script.Template // user is for basic authentication only
	of          *Service
}

// Key reads a service's key; its texts may use names and secrets.
func (r *Reader) Key(s *Service, kind string, n *doc.Node, names []string) {
	in := r.in(names, s)
	k := &Key{kind: kind, of: s}
	s.Key = k
	secret := "value"
	if kind == "basic" {
		secret = "password"
		n.Fields("user", "password")
		n.Require("user", "password")
		k.user = in.Text(n.Get("user"))
	} else {
		n.Fields("name", "value")
		n.Require("name", "value")
		k.name = in.keyName(kind, n.Get("name"))
	}
	at := n.Get(secret)
	if at == nil {
		return
	}
	k.value = in.Text(at)
	if k.value != nil && !redact.Marked(k.value.Source()) {
		at.Errorf("`secret:NAME`, where NAME is an environment variable or an entry of the keychain (`throngctl secret set NAME`)",
			"a secret must not be in the file")
	}
}

// keyName reads the name of a header, query parameter or cookie.
func (r *reader) keyName(kind string, n *doc.Node) string {
	if n == nil {
		return ""
	}
	name := n.Text()
	if kind == "query" {
		if name == "" && n.Kind() == doc.Scalar {
			n.Errorf("such as api_key", "a parameter without a name")
		}
		return name
	}
	if kind == "header" {
		name = http.CanonicalHeaderKey(name)
	}
	switch {
	case n.Kind() != doc.Scalar: // reported
	case !token(name):
		n.Errorf("letters, digits and -, such as X-Api-Key", "%q cannot be the name of a %s", name, kind)
	case kind == "header" && isOwn(name):
		n.Errorf("another one, such as X-Api-Key", "the header %s is set by Throng itself", name)
	}
	return name
}

// sign adds the key to the headers of a request; a key in the query is part of the target.
func (k *Key) sign(t expr.Contexts, h http.Header) error {
	if k.kind == "query" {
		return nil
	}
	value, err := k.text(t, k.value, "value")
	if err != nil {
		return err
	}
	name := k.name
	switch k.kind {
	case "basic":
		user, err := k.text(t, k.user, "user")
		if err != nil {
			return err
		}
		if strings.Contains(user, ":") {
			return engine.Fail(engine.ConfigError, "the user of basic authentication cannot have a colon in it")
		}
		name, value = authHeader, "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+value))
	case "cookie":
		if strings.ContainsAny(value, " \",;\\") {
			return engine.Fail(engine.ConfigError, "the value of the cookie %s has a character that cookies cannot have", k.name)
		}
		name, value = "Cookie", k.name+"="+value
		if others := h.Get("Cookie"); others != "" {
			value = others + "; " + value
		}
	}
	if !validHeader(value) {
		return badHeader(name)
	}
	h[name] = []string{value}
	return nil
}

// query returns the key as a part of the query, with the marks of its secrets; "" if it is elsewhere.
func (k *Key) query(t expr.Contexts) (string, error) {
	if k == nil || k.kind != "query" || k.of.HTTP.Mocks() {
		return "", nil
	}
	value, err := expr.Text(t, k.value, k.field("value"))
	return url.QueryEscape(k.name) + "=" + url.QueryEscape(value), err
}

// text evaluates one of the texts, with the values of its secrets.
func (k *Key) text(t expr.Contexts, of *script.Template, key string) (string, error) {
	value, err := expr.Text(t, of, k.field(key))
	if err != nil {
		return "", err
	}
	return k.of.values.Reveal(value, nil)
}

func (k *Key) field(key string) string { return "service." + k.of.Name + ".auth." + key }
