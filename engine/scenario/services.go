package scenario

import (
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/service"
)

// Rehearsal is the scheme of services that Throng brings along: rehearsal:shop.
const Rehearsal = "rehearsal:"

func (r *reader) services(n *doc.Node) {
	r.chains.Services = map[string]*chain.Service{}
	for _, e := range n.Entries() {
		name := e.Key.Text()
		chain.CheckName(e.Key, name, "a service")
		s := r.service(name, e.Value)
		r.chains.Services[name] = s
		r.s.Services = append(r.s.Services, s)
	}
}

func (r *reader) service(name string, n *doc.Node) *chain.Service {
	s := &chain.Service{Name: name}
	if n.Get("kind").Kind() == doc.Scalar && n.Get("kind").Text() == "postgres" {
		r.postgres(s, n)
		return s
	}
	n.Fields("kind", "url", "headers", "auth", "limits")
	n.Require("kind", "url")
	if k := n.Get("kind"); k != nil {
		s.Kind = k.OneOf("http", "postgres")
	}
	if u := n.Get("url"); u != nil && s.Kind != "" {
		s.URL = r.url(u)
	}
	s.Headers = r.chains.Headers(name, n.Get("headers"), outside)
	r.auth(s, n.Get("auth"))
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

// outside is what the headers and the user of a service can see.
var outside = []string{"agent", "session", "now"}

// auth reads how a service is signed in to. The rehearsal is by the user's name, which is the agent's id where nobody
// says otherwise, or by a login; whatever else stands in its place is by a token.
func (r *reader) auth(s *chain.Service, n *doc.Node) {
	var err error
	if s.User, err = r.env.Template("${agent.id}", outside); err != nil {
		panic(err) // it compiles
	}
	ways := []string{"user", "bearer", "jwt", "login"}
	n.Fields(ways...)
	rehearses := strings.HasPrefix(s.URL, Rehearsal)
	switch which := n.Only(ways...); {
	case which.Key == nil:
	case which.Key.Text() == "jwt":
		r.chains.JWT(s, which.Value, outside)
	case which.Key.Text() == "login":
		r.chains.Login(s, which.Value, outside)
	case which.Key.Text() == "user":
		if user := r.chains.Template(which.Value, outside); user != nil {
			s.User = user
		}
		if !rehearses && s.URL != "" {
			n.Warnf("other backends: `auth: {bearer: secret:NAME}`", "auth.user is how the rehearsal signs in")
		}
	default:
		s.Bearer = chain.SecretName(which.Value)
	}
}

// rehearsals are the services that Throng brings along.
var rehearsals = []string{"shop"}

func (r *reader) url(n *doc.Node) string {
	v, ok := r.constant(n)
	if !ok {
		return ""
	}
	text, err := script.Text(v)
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
	if _, err := service.CheckAddress(text); err != nil {
		n.Errorf("rehearsal:shop, or https://staging.example.com; for a token use `auth`", "%v", err)
	}
	return text
}
