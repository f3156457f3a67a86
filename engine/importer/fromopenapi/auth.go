package fromopenapi

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/openapi"
)

// signIn is how agents sign in.
type signIn struct {
	kind            importer.AuthKind
	scheme          string     // of the document; "" if it says nothing
	request         *operation // the login
	what            string     // the login for messages
	cookies         bool       // a login of the journey sets a session cookie
	self            bool       // agents register, so that credentials are made up
	email, password string     // expressions of these
}

// Lengths of made-up credentials.
const (
	longestEmail    = 36 + len("@example.com")
	longestPassword = 4 + 36
)

// Names of properties, without case and separators, the best first.
var (
	tokenNames    = []string{"accesstoken", "token", "jwt", "idtoken", "authtoken", "sessiontoken", "bearer", "apitoken"}
	passwordNames = []string{"password", "passwd", "pass", "pwd", "secret", "pin"}
	userNames     = []string{"username", "user", "login", "email", "mail", "emailaddress", "userid", "name", "id"}
	emailNames    = []string{"email", "mail", "emailaddress", "useremail"}
)

// property returns the name of the first property that is called one of some names, or "".
func property(s *openapi.Schema, names []string) string {
	all := s.Properties()
	for _, want := range names {
		for _, p := range all {
			if plain(p.Name) == want {
				return p.Name
			}
		}
	}
	return ""
}

// tokenOf returns where the answer of a login has its token: "body.access_token"; "" if it has none.
func tokenOf(o *operation) string {
	if name := property(o.answer, tokenNames); name != "" && isName(name) {
		return "body." + name
	}
	for _, p := range o.answer.Properties() {
		if name := property(p.Schema, tokenNames); name != "" && isName(name) && isName(p.Name) && p.Schema.Type() == "object" {
			return "body." + p.Name + "." + name
		}
	}
	for _, r := range o.Responses {
		for _, h := range r.Headers {
			if slices.Contains([]string{"X-Auth-Token", "X-Access-Token", "Authorization", "X-Token"}, h) && r.Good() {
				return "headers." + strings.ToLower(h)
			}
		}
	}
	return ""
}

// signer finds out how agents sign in, and signs steps.
type signer struct{ *builder }

// credentials finds out how agents sign in.
func (b signer) credentials() {
	s := &b.draft.Services[0]
	registration := b.first(register)
	b.signs.self = registration != nil && b.options.People == ""
	b.signs.email, b.signs.password = uniqueEmail, ownPassword
	if registration != nil && registration.body != nil {
		if _, most := registration.body.Schema.Property(property(registration.body.Schema, emailNames)).Length(); most > len("@example.com") && most < longestEmail {
			b.signs.email = fmt.Sprintf(`session.uuid[:%d] + "@example.com"`, most-len("@example.com"))
		}
		if _, most := registration.body.Schema.Property(property(registration.body.Schema, passwordNames)).Length(); most > 0 && most < longestPassword {
			b.signs.password = fmt.Sprintf("(%s)[:%d]", ownPassword, most)
		}
	}
	scheme := b.mainScheme()
	if scheme != nil {
		b.signs.scheme = scheme.Name
	}
	request := b.loginRequest(scheme)
	switch {
	case scheme != nil && scheme.Type == "http" && scheme.Scheme == "basic":
		s.Auth = b.basic()
	case scheme != nil && scheme.Type == "apiKey" && (scheme.In != "cookie" || b.first(login) == nil) && request == nil:
		s.Auth = b.key(scheme)
	case request != nil:
		s.Auth = b.login(request)
	case scheme == nil || scheme.Type == "apiKey":
		if o := b.first(login); o != nil && o.Method == "POST" {
			s.Cookies, b.signs.cookies = true, true
		}
	case scheme.Type == "oauth2":
		s.Auth = b.oauth(scheme)
	case scheme.Type == "mutualTLS":
		s.Auth.Note = "The document wants a client certificate: add tls: {cert: FILE, key: secret:NAME}."
	default:
		s.Auth = b.bearer("")
		if scheme.Type == "openIdConnect" {
			s.Auth.Note = "Tokens come from " + cmp.Or(scheme.URL, "an OpenID Connect provider") + ": store one as the secret " + s.Auth.Secret + "."
		}
	}
	b.signs.kind = s.Auth.Kind
}

// first returns the first operation with a role, or nil.
func (b *builder) first(r role) *operation {
	i := slices.IndexFunc(b.ops, func(o *operation) bool { return o.role == r })
	if i < 0 {
		return nil
	}
	return b.ops[i]
}

// mainScheme returns the scheme that most operations want, or nil. One that a scenario can use by itself is preferred.
func (b signer) mainScheme() *openapi.Scheme {
	counts := map[string]int{}
	for _, o := range b.ops {
		for _, names := range o.Security {
			if len(names) == 1 {
				counts[names[0]]++
			}
		}
	}
	var best *openapi.Scheme
	for i := range b.document.Schemes {
		if s := &b.document.Schemes[i]; counts[s.Name] > 0 && (best == nil || counts[s.Name] > counts[best.Name]) {
			best = s
		}
	}
	return best
}

// loginRequest returns the operation that agents log in with, or nil.
func (b signer) loginRequest(scheme *openapi.Scheme) *operation {
	if scheme != nil && scheme.Type == "oauth2" {
		for _, f := range scheme.Flows {
			if o := b.at(f.TokenURL); o != nil && f.Kind == "password" {
				return o
			}
		}
	}
	var best *operation
	most := 0
	for _, o := range b.ops {
		if o.Method != "POST" || o.role != login && o.role != register || o.body == nil || tokenOf(o) == "" {
			continue
		}
		score := 1
		if o.role == login {
			score += 10
		}
		if property(o.body.Schema, passwordNames) != "" {
			score += 5
		}
		if openapi.IsJSON(o.body.Type) {
			score++
		}
		if score > most {
			best, most = o, score
		}
	}
	return best
}

// at returns the POST operation of a token URL, or nil if the document lacks it.
func (b signer) at(tokenURL string) *operation {
	u, err := url.Parse(tokenURL)
	if err != nil || tokenURL == "" {
		return nil
	}
	if base, err := url.Parse(b.draft.Services[0].URL); err == nil && u.Host != "" && u.Host != base.Host {
		return nil
	}
	m, _ := b.document.Find("POST", "/"+strings.TrimPrefix(strings.TrimPrefix(u.Path, "."), "/"))
	if m == nil {
		return nil
	}
	return b.byKey[m.Operation.Key()]
}

// secret adds a secret and returns its name.
func (b *builder) secret(what, use string) string {
	name := strings.ToUpper(b.draft.Services[0].Name + "_" + what)
	if !slices.ContainsFunc(b.draft.Secrets, func(s importer.Secret) bool { return s.Name == name }) {
		b.draft.Secrets = append(b.draft.Secrets, importer.Secret{Name: name, Use: use})
	}
	return name
}

// host names the backend in the use of a secret.
func (b *builder) host() string {
	if u, err := url.Parse(b.draft.Services[0].URL); err == nil && u.Host != "" {
		return u.Host
	}
	return b.document.Title
}

func (b signer) bearer(note string) importer.Auth {
	return importer.Auth{Kind: importer.Bearer, Secret: b.secret("TOKEN", "bearer token of "+b.host()), Note: note}
}

func (b signer) basic() importer.Auth {
	a := importer.Auth{Kind: importer.Basic, User: "user", Secret: b.secret("PASSWORD", "password of "+b.host())}
	a.Note = "Replace the user."
	if column := b.column(userNames); column != "" {
		a.User, a.Note = "${agent."+column+"}", "All agents have the same password."
	}
	return a
}

func (b signer) key(s *openapi.Scheme) importer.Auth {
	kind := map[string]importer.AuthKind{"header": importer.Header, "query": importer.Query, "cookie": importer.Cookie}[s.In]
	return importer.Auth{Kind: kind, Name: s.Key, Secret: b.secret(keyName(s), "API key of "+b.host())}
}

// keyName is the name of the secret of an API key, without the name of the service.
func keyName(s *openapi.Scheme) string {
	name := strings.ToUpper(importer.Identifier(s.Name))
	if name == "" || !strings.Contains(name, "KEY") && !strings.Contains(name, "TOKEN") {
		return "API_KEY"
	}
	return name
}

// login makes a login of an operation.
func (b signer) login(o *operation) importer.Auth {
	b.signs.request, b.signs.what = o, o.Key()
	a := importer.Auth{Kind: importer.Login, Token: cmp.Or(tokenOf(o), "body.access_token")}
	step := b.request(o, &values{builder: b.builder, of: o, signing: true})
	step.Expect, step.Check = nil, false
	a.Request = &step
	if !b.signs.self && b.column(userNames) == "" {
		a.Note = importer.OneAccount
	}
	return a
}

// oauth makes the request for a token that the document does not list as an operation.
func (b signer) oauth(s *openapi.Scheme) importer.Auth {
	for _, f := range s.Flows {
		u, err := url.Parse(f.TokenURL)
		base, berr := url.Parse(b.draft.Services[0].URL)
		if err != nil || berr != nil || u.Host != "" && u.Host != base.Host || f.TokenURL == "" {
			continue
		}
		path := "/" + strings.TrimPrefix(strings.TrimPrefix(u.Path, "."), "/")
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(base.Path, "/")+"/"); ok && base.Path != "" {
			path = "/" + rest
		}
		step := importer.Step{ID: "POST " + path, Name: "login", Method: "POST", Path: text(path), Body: &importer.Body{Kind: importer.Form}}
		v := &values{builder: b.builder, signing: true}
		switch f.Kind {
		case "password":
			step.Body.Pairs = []importer.Pair{{Name: "grant_type", Value: text("password")}, {Name: "username", Value: v.user("username")}, {Name: "password", Value: v.password()}}
		case "clientCredentials":
			step.Body.Pairs = []importer.Pair{
				{Name: "grant_type", Value: text("client_credentials")},
				{Name: "client_id", Value: importer.Value{Secret: b.secret("CLIENT_ID", "client ID at "+b.host())}},
				{Name: "client_secret", Value: importer.Value{Secret: b.secret("CLIENT_SECRET", "client secret at "+b.host())}},
			}
		default:
			continue
		}
		b.signs.what = step.ID
		return importer.Auth{Kind: importer.Login, Request: &step, Token: "body.access_token"}
	}
	a := b.bearer("")
	a.Note = "Tokens come from OAuth 2, which needs a browser or another host: store one as the secret " + a.Secret + "."
	return a
}

// column returns the column of the people that is called one of some names, or "".
func (b *builder) column(names []string) string {
	for _, want := range names {
		for _, c := range b.options.Columns {
			if plain(c) == want && isName(c) && c != "id" && c != "index" {
				return c
			}
		}
	}
	return ""
}

// sign sets how a step signs in: with the service, not at all, or with keys of its own.
func (b signer) sign(o *operation, s *importer.Step) {
	kind := b.signs.kind
	switch {
	case kind == importer.NoAuth:
	case o.role == register || o.role == login || b.described && o.Public():
		s.Public = true
		return
	case !b.described:
		return
	}
	if len(o.Security) == 0 || slices.ContainsFunc(o.Security, func(names []string) bool {
		return len(names) == 0 || len(names) == 1 && names[0] == b.signs.scheme
	}) {
		return
	}
	names := o.Security[0]
	for _, alternative := range o.Security {
		if slices.Contains(alternative, b.signs.scheme) {
			names = alternative
			break
		}
	}
	s.Public = kind != importer.NoAuth && !slices.Contains(names, b.signs.scheme)
	for _, name := range names {
		scheme := b.document.Scheme(name)
		if scheme == nil || name == b.signs.scheme {
			continue
		}
		b.signWith(scheme, s)
	}
}

// signWith adds the credentials of one scheme to a step.
func (b signer) signWith(scheme *openapi.Scheme, s *importer.Step) {
	if scheme.Type != "apiKey" {
		s.Public = s.Public && scheme.Type == "mutualTLS" // the token of the service may do
		s.Notes = append(s.Notes, "The document wants the sign-in "+scheme.Name+" here.")
		return
	}
	pair := importer.Pair{Name: scheme.Key, Value: importer.Value{Secret: b.secret(keyName(scheme), "API key of "+b.host())}}
	switch scheme.In {
	case "header":
		s.Headers = append(s.Headers, pair)
	case "query":
		s.Query = append(s.Query, pair)
	default:
		s.Headers = append(s.Headers, importer.Pair{Name: "Cookie", Value: importer.Value{Parts: []importer.Value{text(scheme.Key + "="), pair.Value}}})
	}
}

func text(s string) importer.Value { return importer.Value{Literal: s} }
