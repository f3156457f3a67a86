package chain

import (
	"net/http"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/content"
	"github.com/throng-sim/throng/engine/chain/credential"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/tokenpath"
)

// JWT configures sign-in with tokens that Throng creates, one for each agent.
type JWT struct {
	secret string // its name
	method string
	claims expr.Value
	ttl    time.Duration
	credential.TokenHeader
}

// Login configures sign-in with tokens or cookies that a service issues, to each agent its own.
type Login struct {
	At *Service // where the login is sent; nil is the service itself

	request *request
	token   tokenpath.Path
	cookie  string          // one that the answer must set; "" is any
	oauth2  bool            // the answer says when the token expires; mocks need none
	client  *credential.Key // basic authentication of the client; nil for none
	credential.TokenHeader
}

// JWT reads how tokens for a service are created; its expressions may use names.
func (r *Reader) JWT(s *Service, n *doc.Node, names []string) {
	in := r.in(names, nil)
	n.Fields("secret", "alg", "claims", "ttl", "header", "scheme")
	n.Require("secret")
	j := &JWT{method: service.JWTMethods[0], ttl: service.DefaultTTL, TokenHeader: credential.ReadTokenHeader(n)}
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

// Key returns the key of the scenario that configures the login.
func (l *Login) Key() string {
	if l.oauth2 {
		return "oauth2"
	}
	return "login"
}

// Elsewhere returns the service and the target of a login that is sent to a whole address instead of a path; nil for a path.
type Elsewhere func(post *doc.Node) (*Service, *service.Target)

// Login reads the request that gets a token from a service, or cookies. Its expressions may use names, and the values of its json
// and form may be secrets.
func (r *Reader) Login(s *Service, n *doc.Node, names []string, elsewhere Elsewhere) {
	n.Fields("post", "put", "json", "form", "multipart", "headers", "expect", "token", "cookie", "header", "scheme")
	l := &Login{request: &request{expect: readExpect(n.Get("expect"))}, TokenHeader: credential.ReadTokenHeader(n)}
	which := n.Only("post", "put")
	in := r.loginTo(l, s, which.Value, names, elsewhere)
	switch {
	case n.Kind() != doc.Map: // reported
	case which.Key == nil:
		n.Errorf("`post: /auth/login`, or put", "a login without a request")
	default:
		l.request.method = strings.ToUpper(which.Key.Text())
	}
	l.request.headers, l.request.body = in.headers(n.Get("headers"), "headers."), content.Read(&in.Compiler, n, r.open)
	switch at, cookie := n.Get("token"), n.Get("cookie"); {
	case cookie != nil && !s.Cookies:
		cookie.Errorf("add `cookies: on` to the service", "a login by cookie, and the service keeps no cookies")
	case cookie != nil && !credential.Token(cookie.Text()) && cookie.Text() != "":
		cookie.Errorf("such as sessionid", "%q cannot be the name of a cookie", cookie.Text())
	case at == nil && !s.Cookies && n.Kind() == doc.Map:
		n.Errorf("`token: body.access_token`, or `cookies: on` of the service if the answer sets a session cookie", "a login needs `token`")
	case at != nil && at.Text() != "":
		var err error
		if l.token, err = tokenpath.Parse(at.Text()); err != nil {
			at.Errorf("such as body.access_token, or headers.x-token", "%v", err)
		}
	}
	l.cookie = n.Get("cookie").Text()
	s.Login = l
}

// loginTo reads where a login is sent, and returns the reader of its values.
func (r *Reader) loginTo(l *Login, s *Service, post *doc.Node, names []string, elsewhere Elsewhere) *reader {
	l.request.service = s
	if elsewhere != nil {
		if of, target := elsewhere(post); of != nil {
			l.At, l.request.service = of, of
			if target != nil {
				l.request.target = expr.Target{Fixed: target}
			}
			return r.in(names, of)
		}
	}
	in := r.in(names, s)
	if post != nil {
		l.request.target = in.Target(post)
	}
	return in
}

// grants are the ways to get a token with OAuth 2.0 without a browser (RFC 6749, sections 4.3 and 4.4).
var grants = []string{"client_credentials", "password"}

// OAuth2 reads a login by OAuth 2.0. It is a form, and the token expires when the answer says.
func (r *Reader) OAuth2(s *Service, n *doc.Node, names []string, elsewhere Elsewhere) {
	n.Fields("grant", "post", "client", "secret", "client_auth", "user", "password", "scope", "form", "headers", "header", "scheme")
	n.Require("grant", "post")
	l := &Login{request: &request{method: http.MethodPost}, oauth2: true, TokenHeader: credential.ReadTokenHeader(n)}
	in := r.loginTo(l, s, n.Get("post"), names, elsewhere)
	grant := n.Get("grant").OneOf(grants...)
	data := func(key string) expr.Value { return in.Data(n.Get(key), key) }
	pairs := expr.Pairs(nil).With("grant_type", expr.Const{V: starlark.String(grant)})
	switch grant {
	case "password":
		n.Require("user", "password")
		pairs = pairs.With("username", data("user")).With("password", data("password"))
	case "client_credentials":
		n.Require("client", "secret")
		n.Get("user").Errorf("`grant: password`, or remove it", "a user with client credentials")
		n.Get("password").Errorf("`grant: password`, or remove it", "a password of a user with client credentials")
	}
	client, secret := n.Get("client"), n.Get("secret")
	if client == nil && secret != nil {
		secret.Errorf("add `client: ID`", "the secret of a client without its ID")
	}
	if secret != nil && !credential.HasSecret(in.Text(secret)) {
		secret.Errorf("`secret:NAME`, where NAME is an environment variable or an entry of the keychain (`throngctl secret set NAME`)", "a secret must not be in the file")
	}
	if byForm := n.Get("client_auth").OneOf("header", "form") == "form"; byForm || secret == nil {
		pairs = pairs.With("client_id", data("client")).With("client_secret", data("secret"))
	} else {
		l.client = credential.Basic(in.Text(client), in.Text(secret), s.Name)
		l.request.service.Encoded = true
	}
	pairs = pairs.With("scope", data("scope"))
	l.request.body.Form(append(pairs, in.Pairs(n.Get("form"), "form")...))
	l.request.headers = in.headers(n.Get("headers"), "headers.")
	var err error
	if l.token, err = tokenpath.Parse("body.access_token"); err != nil {
		panic(err) // it is a path
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
	case s.Login != nil && (!s.Login.oauth2 || !s.HTTP.Mocks()):
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
	return &service.Auth{Tokens: s.tokens, Issuer: issuer, Header: j.Name, Scheme: j.Scheme}, nil
}

// auth sends the headers of the service with the login; to another service, those of that one.
func (l *Login) auth(t *turn, s *Service, h http.Header) (*service.Auth, error) {
	of := s
	if h = h.Clone(); l.At != nil {
		of, h = t.bound(l.At), http.Header{}
		if err := of.ownHeaders(t, h); err != nil {
			return nil, err
		}
	}
	if l.client != nil {
		if err := l.client.Sign(t, h, of.Values); err != nil {
			return nil, err
		}
	}
	issuer := &service.Login{
		Client: of.HTTP, Request: service.Request{Header: h}, Secrets: of.Concealed, Expect: l.request.expect,
		Token: l.token, Cookies: s.Cookies && !l.oauth2, Cookie: l.cookie, Expires: l.oauth2,
	}
	if err := l.request.fill(t, &issuer.Request); err != nil {
		return nil, err
	}
	auth := &service.Auth{Tokens: s.tokens, Issuer: issuer, Header: l.Name, Scheme: l.Scheme}
	if issuer.Cookies {
		auth.Path = service.LoginPath(s.Name)
	}
	return auth, nil
}
