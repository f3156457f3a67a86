package scenario

import (
	"net/url"
	"strings"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/credential"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/criteria"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/service"
)

// tokenService adds the service that issues the tokens of s, if the login is sent to a whole address. It is a service like any
// other, so the user is asked before anything is sent to it.
func (r serviceReader) tokenService(s *chain.Service) chain.Elsewhere {
	return func(post *doc.Node) (*chain.Service, *service.Target) {
		text := post.Text()
		if !strings.Contains(text, "://") {
			return nil, nil
		}
		of := &chain.Service{Name: s.Name + "_token", Kind: "http", User: r.agentID(), For: s, Proxy: s.Proxy}
		if s.Proxy != nil {
			of.Needs(s.Proxy.Secret)
		}
		u, err := url.Parse(text)
		if err != nil {
			post.Errorf("/token, or https://auth.example.com/token", "the address cannot be read")
			return of, nil
		}
		of.URL = (&url.URL{Scheme: u.Scheme, Host: u.Host, User: u.User}).String()
		if _, err := service.CheckAddress(of.URL); err != nil {
			post.Errorf("/token, or https://auth.example.com/token", "%v", err)
			return of, nil
		}
		target, err := service.ParseTarget((&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).RequestURI())
		if err != nil {
			post.Errorf("", "%v", err)
		}
		if r.chains.Services[of.Name] != nil {
			post.Errorf("rename the service "+of.Name, "the tokens of %s come from a service that is called %s, too", s.Name, of.Name)
			return of, &target
		}
		r.chains.Services[of.Name] = of
		r.s.Services = append(r.s.Services, of)
		return of, &target
	}
}

// proxy reads the proxy of a service: an address, or a map with a user and a password.
func (r serviceReader) proxy(s *chain.Service, n *doc.Node) {
	if n == nil {
		return
	}
	at := n
	if n.Kind() == doc.Map {
		n.Fields("url", "user", "password")
		n.Require("url")
		at = n.Get("url")
	}
	text, ok := r.constantText(at)
	if !ok || at == nil {
		return
	}
	p, err := credential.ParseProxy(text)
	if err != nil {
		at.Errorf("http://proxy.example.com:3128, with `user` and `password` as keys", "%v", err)
		return
	}
	s.Proxy = p
	if n.Kind() != doc.Map {
		return
	}
	user, password := n.Get("user"), n.Get("password")
	switch {
	case user == nil && password != nil:
		password.Errorf("add `user: NAME`", "a password without its user")
	case user != nil && password == nil:
		user.Errorf("add `password: secret:NAME`", "a user without a password")
	case user != nil:
		p.User, p.Secret = user.Text(), expr.SecretName(password)
		s.Needs(p.Secret)
	}
}

// size reads a size such as 10MB.
func size(n *doc.Node, most int64) int64 {
	if n == nil {
		return 0
	}
	text := strings.TrimSpace(n.Text())
	bytes, ok := criteria.ParseBytes(text)
	if !ok {
		if text != "" {
			n.Errorf("such as 10MB", "%q is not a size", text)
		}
		return 0
	}
	if !(bytes >= 1 && bytes <= float64(most)) {
		n.Errorf("", "a size is from 1B to %dMB, not %s", most/1_000_000, text)
		return 0
	}
	return int64(bytes)
}
