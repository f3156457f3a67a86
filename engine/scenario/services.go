package scenario

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
)

// Rehearsal is the scheme of services that Throng brings along: rehearsal:shop.
const Rehearsal = "rehearsal:"

func (r *reader) services(n *doc.Node) {
	r.chains.Services = map[string]*chain.Service{}
	for _, e := range n.Entries() {
		name := e.Key.Text()
		if !chain.Identifier.MatchString(name) {
			e.Key.Errorf("letters, digits and _", "%q cannot be the name of a service", name)
		}
		s := r.service(name, e.Value)
		r.chains.Services[name] = s
		r.s.Services = append(r.s.Services, s)
	}
}

func (r *reader) service(name string, n *doc.Node) *chain.Service {
	s := &chain.Service{Name: name}
	n.Fields("kind", "url", "headers", "auth", "limits")
	n.Require("kind", "url")
	if k := n.Get("kind"); k != nil {
		s.Kind = k.OneOf("http")
	}
	if u := n.Get("url"); u != nil {
		s.URL = r.url(u)
	}
	names := []string{"agent", "session", "now"}
	s.Headers = r.chains.Templates(n.Get("headers"), names)
	auth := n.Get("auth")
	auth.Fields("user", "bearer")
	switch which := auth.Only("user", "bearer"); {
	case which.Key == nil:
	case which.Key.Text() == "user":
		s.User = r.chains.Template(which.Value, names)
		if !strings.HasPrefix(s.URL, Rehearsal) && s.URL != "" {
			auth.Warnf("other backends: `auth: {bearer: secret:NAME}`", "auth.user is how the rehearsal signs in")
		}
	default:
		secret, ok := strings.CutPrefix(which.Value.Text(), "secret:")
		if !ok || secret == "" {
			which.Value.Errorf("`bearer: secret:NAME`, where NAME is an environment variable", "a token does not belong into the file")
		}
		s.Bearer = secret
	}
	l := n.Get("limits")
	l.Fields("connections", "keepalive", "idle", "timeout")
	if c := l.Get("connections"); c != nil {
		s.Limits.Connections = c.Int(1, 100_000)
	}
	if k := l.Get("keepalive"); k != nil {
		s.Limits.Keepalive = k.Int(1, 100_000)
	}
	if i := l.Get("idle"); i != nil {
		s.Limits.Idle = i.Duration(time.Millisecond, 0)
	}
	if t := l.Get("timeout"); t != nil {
		s.Limits.Timeout = t.Duration(time.Millisecond, 0)
	}
	return s
}

// rehearsals are the services that Throng brings along.
var rehearsals = []string{"shop"}

func (r *reader) url(n *doc.Node) string {
	text := n.Text()
	t, err := r.env.Template(text, nil)
	if err != nil {
		chain.ReportScript(n, text, err)
		return ""
	}
	v, err := t.Eval(&script.Context{})
	if err == nil {
		text, err = script.Text(v)
	}
	if err != nil {
		n.Errorf("", "%v", err)
		return ""
	}
	if name, ok := strings.CutPrefix(text, Rehearsal); ok {
		if !slices.Contains(rehearsals, name) {
			n.Errorf("there is "+Rehearsal+strings.Join(rehearsals, ", "), "there is no rehearsal %q", name)
		}
		return text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		n.Errorf("rehearsal:shop, or https://staging.example.com", "%q is no address of a service", text)
	} else if u.User != nil {
		n.Errorf("use `auth`", "a password does not belong into an address")
	}
	return text
}
