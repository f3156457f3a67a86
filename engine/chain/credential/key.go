package credential

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
	User, Value *script.Template // user is for basic authentication only
	service     string
}

// ReadKey reads the key of a service; its texts may use secrets.
func ReadKey(in *expr.Compiler, kind string, n *doc.Node, service string) *Key {
	k := &Key{kind: kind, service: service}
	secret := "value"
	if kind == "basic" {
		secret = "password"
		n.Fields("user", "password")
		n.Require("user", "password")
		k.User = in.Text(n.Get("user"))
	} else {
		n.Fields("name", "value")
		n.Require("name", "value")
		k.name = keyName(kind, n.Get("name"))
	}
	at := n.Get(secret)
	if at == nil {
		return k
	}
	k.Value = in.Text(at)
	if !HasSecret(k.Value) {
		at.Errorf("`secret:NAME`, where NAME is an environment variable or an entry of the keychain (`throngctl secret set NAME`)",
			"a secret must not be in the file")
	}
	return k
}

// Basic returns a key for basic authentication with a user and a password, which may use secrets.
func Basic(user, password *script.Template, service string) *Key {
	return &Key{kind: "basic", User: user, Value: password, service: service}
}

// HasSecret reports whether a text uses a secret; true for nil, whose error is reported.
func HasSecret(text *script.Template) bool { return text == nil || redact.Marked(text.Source()) }

// IsBasic reports whether the key is for basic authentication, so that its header is base64.
func (k *Key) IsBasic() bool { return k != nil && k.kind == "basic" }

// keyName reads the name of a header, query parameter or cookie.
func keyName(kind string, n *doc.Node) string {
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
	case !Token(name):
		n.Errorf("letters, digits and -, such as X-Api-Key", "%q cannot be the name of a %s", name, kind)
	case kind == "header" && isOwn(name):
		n.Errorf("another one, such as X-Api-Key", "the header %s is set by Throng itself", name)
	}
	return name
}

// Sign adds the key to the headers of a request, with the secrets of its service; a key in the query is part of the target.
func (k *Key) Sign(t expr.Contexts, h http.Header, secrets redact.Secrets) error {
	if k.kind == "query" {
		return nil
	}
	value, err := k.text(t, k.Value, "value", secrets)
	if err != nil {
		return err
	}
	name := k.name
	switch k.kind {
	case "basic":
		user, err := k.text(t, k.User, "user", secrets)
		if err != nil {
			return err
		}
		if strings.Contains(user, ":") {
			return engine.Fail(engine.ConfigError, "the user of basic authentication must not contain a colon")
		}
		name, value = "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+value))
	case "cookie":
		if strings.ContainsAny(value, " \",;\\") {
			return engine.Fail(engine.ConfigError, "the value of the cookie %s contains a character that is not allowed in cookies", k.name)
		}
		name, value = "Cookie", k.name+"="+value
		if others := h.Get("Cookie"); others != "" {
			value = others + "; " + value
		}
	}
	if !ValidHeader(value) {
		return BadHeader(name)
	}
	h[name] = []string{value}
	return nil
}

// Query returns the key as a part of the query, with the marks of its secrets; "" if it is elsewhere.
func (k *Key) Query(t expr.Contexts) (string, error) {
	if k == nil || k.kind != "query" {
		return "", nil
	}
	value, err := expr.Text(t, k.Value, k.field("value"))
	return url.QueryEscape(k.name) + "=" + url.QueryEscape(value), err
}

// text evaluates one of the texts, with the values of its secrets.
func (k *Key) text(t expr.Contexts, of *script.Template, key string, secrets redact.Secrets) (string, error) {
	value, err := expr.Text(t, of, k.field(key))
	if err != nil {
		return "", err
	}
	return secrets.Reveal(value, nil)
}

func (k *Key) field(key string) string { return "service." + k.service + ".auth." + key }
