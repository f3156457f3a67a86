package chain

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/credential"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

// JWT configures sign-in with tokens that Throng creates, one for each agent.
type JWT struct {
	secret string // its name
	method string
	claims expr.Value
	ttl    time.Duration
	header
}

// Login configures sign-in with tokens that the service issues, one for each agent.
type Login struct {
	request *request
	token   service.TokenPath
	header
}

// header is where a token is sent.
type header struct{ name, scheme string }

// authHeader is the default header of a token.
const authHeader, authScheme = "Authorization", "Bearer"

func (r *reader) header(n *doc.Node) header {
	h := header{authHeader, authScheme}
	if to := n.Get("header"); to != nil {
		h = header{name: http.CanonicalHeaderKey(to.Text())}
		switch {
		case to.Kind() != doc.Scalar: // reported
		case !credential.Token(h.name):
			to.Errorf("letters, digits and -, such as X-Auth", "%q cannot be the name of a header", h.name)
		case slices.Contains(credential.OwnHeaders, h.name):
			to.Errorf("another one, such as X-Auth", "the header %s is set by Throng itself", h.name)
		}
	}
	if s := n.Get("scheme"); s != nil {
		h.scheme = s.Text()
		if h.scheme != "" && !credential.Token(h.scheme) {
			s.Errorf("one word, such as Token", "%q cannot stand before a token", h.scheme)
		}
	}
	return h
}

// JWT reads how tokens for a service are created; its expressions may use names.
func (r *Reader) JWT(s *Service, n *doc.Node, names []string) {
	in := r.in(names, nil)
	n.Fields("secret", "alg", "claims", "ttl", "header", "scheme")
	n.Require("secret")
	j := &JWT{method: service.JWTMethods[0], ttl: service.DefaultTTL, header: in.header(n)}
	if secret := n.Get("secret"); secret != nil {
		j.secret = expr.SecretName(secret)
		s.Needs(j.secret)
	}
	if alg := n.Get("alg"); alg != nil {
		j.method = alg.OneOf(service.JWTMethods...)
	}
	if ttl := n.Get("ttl"); ttl != nil {
		j.ttl = ttl.Duration(time.Second, 0)
	}
	claims := n.Get("claims")
	for _, e := range claims.Entries() {
		if name := e.Key.Text(); name == "iat" || name == "exp" {
			e.Key.Errorf("remove it; `ttl` says how long a token holds", "the claim %s is set by Throng itself", name)
		}
	}
	if claims.Kind() == doc.Map {
		j.claims = in.Data(claims, "claims")
	}
	s.JWT = j
}

// Login reads the request that gets a token from a service. Its expressions may use names, and the values of its json
// and form may be secrets.
func (r *Reader) Login(s *Service, n *doc.Node, names []string) {
	in := r.in(names, s)
	n.Fields("post", "put", "json", "form", "headers", "expect", "token", "header", "scheme")
	n.Require("token")
	q := &request{service: s, expect: readExpect(n.Get("expect")), headers: in.headers(n.Get("headers"), "headers.")}
	which := n.Only("post", "put")
	switch {
	case n.Kind() != doc.Map: // reported
	case which.Key == nil:
		n.Errorf("`post: /auth/login`, or put", "a login without a request")
	default:
		q.method, q.target = strings.ToUpper(which.Key.Text()), in.Target(which.Value)
	}
	in.readBody(n, q)
	l := &Login{request: q, header: in.header(n)}
	if at := n.Get("token"); at != nil && at.Text() != "" {
		var err error
		if l.token, err = service.ParseTokenPath(at.Text()); err != nil {
			at.Errorf("such as body.access_token, or headers.x-token", "%v", err)
		}
	}
	s.Login = l
}

// auth returns how a request is signed in with a token of the agent, or nil if the service has none. The file's
// expressions are evaluated for every request, whether or not a new token is needed, so that an error in them does not
// depend on timing.
func (s *Service) auth(t *turn, h http.Header) (*service.Auth, error) {
	if s.JWT == nil && s.Login == nil {
		return nil, nil //nolint:nilnil // a missing token is not an error
	}
	at := turn{
		x: t.x, step: t.step, frame: t.frame, path: "service." + s.Name + ".auth", keyed: true,
		key: engine.AgentKey(t.x.s.Settings().Seed, t.x.s.Agent).Text("auth").Text(s.Name), timed: timed{up: &t.timed},
	}
	switch {
	case s.Login != nil:
		return s.Login.auth(&at, s, h)
	case s.HTTP.Mocks():
		return nil, nil //nolint:nilnil // signed already: the mock knows no other tokens
	default:
		return s.JWT.auth(&at, s)
	}
}

func (j *JWT) auth(t *turn, s *Service) (*service.Auth, error) {
	claims := []byte("{}")
	if j.claims != nil {
		v, err := j.claims.Eval(t)
		if err != nil {
			return nil, err
		}
		if claims, err = value.AppendJSON(nil, v); err != nil {
			return nil, err
		}
	}
	issuer := &service.JWT{Method: j.method, Secret: s.Secret(j.secret), Claims: claims, TTL: j.ttl}
	return &service.Auth{Tokens: s.tokens, Issuer: issuer, Header: j.name, Scheme: j.scheme}, nil
}

// auth sends the headers of the service with the login.
func (l *Login) auth(t *turn, s *Service, h http.Header) (*service.Auth, error) {
	issuer := &service.Login{
		Client: s.HTTP, Request: service.Request{Header: h.Clone()}, Expect: l.request.expect, Token: l.token,
	}
	if err := l.request.fill(t, &issuer.Request); err != nil {
		return nil, err
	}
	return &service.Auth{Tokens: s.tokens, Issuer: issuer, Header: l.name, Scheme: l.scheme}, nil
}
