package journey

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
)

// credential is what a request has in its header Authorization.
type credential struct {
	scheme   string // Bearer, Basic, Token, …; "" if the header has one word
	token    string
	user     string // of Basic
	password string
	from     *source // where the token comes from; nil if no answer has it
	set      *importer.From
}

// signer decides how agents sign in.
type signer struct{ *builder }

// newCredential reads a header Authorization.
func newCredential(text string) *credential {
	scheme, token, ok := strings.Cut(strings.TrimSpace(text), " ")
	if !ok {
		scheme, token = "", scheme
	}
	c := &credential{scheme: scheme, token: strings.TrimSpace(token)}
	if strings.EqualFold(scheme, "Basic") {
		if plain, err := base64.StdEncoding.DecodeString(c.token); err == nil {
			c.user, c.password, _ = strings.Cut(string(plain), ":")
		}
	}
	return c
}

// authenticate decides how agents sign in to each service.
func (b signer) authenticate() {
	for i := range b.draft.Services {
		var signed, open []*call
		for _, c := range b.visits[0].calls {
			switch {
			case c.service != i:
			case c.bearer != nil:
				signed = append(signed, c)
			default:
				open = append(open, c)
			}
		}
		if len(signed) == 0 {
			b.sanitized(i)
			continue
		}
		b.sign(i, signed)
		if b.draft.Services[i].Auth.Kind != importer.NoAuth {
			for _, c := range open {
				c.step.Public = true
			}
		}
	}
}

// sign decides about the requests of a service that have the header Authorization.
func (b signer) sign(service int, signed []*call) {
	v := b.visits[0]
	sourced := 0
	for _, c := range signed {
		token := c.bearer
		if v.recording.Templates {
			if m := variable.FindStringSubmatch(token.token); m != nil && m[0] == token.token {
				token.set = b.set(c, strings.TrimSpace(m[1]))
			}
		} else {
			token.from = b.best(v, c, &slot{place: inHeader, name: "access_token"}, token.token)
		}
		if token.from != nil || token.set != nil {
			sourced++
		}
	}
	first := signed[0]
	s := &b.draft.Services[service]
	switch {
	case sourced == len(signed) && b.login(service, signed):
	case sourced == 0 && strings.EqualFold(first.bearer.scheme, "Basic") && alike(signed):
		s.Auth = importer.Auth{Kind: importer.Basic, User: first.bearer.user, Secret: b.vault.name(s.Name, "password", first.bearer.password, "password of "+s.Name)}
		if variable.MatchString(first.bearer.user) || first.bearer.user == "" {
			s.Auth.User, s.Auth.Note = "", "fill in the user"
		}
		if m := variable.FindStringSubmatch(first.bearer.password); m != nil {
			b.forget(first.bearer.password)
			s.Auth.Secret = b.vault.named(m[1], "password of "+s.Name)
		}
	case sourced == 0 && alike(signed):
		s.Auth = importer.Auth{Kind: importer.Bearer, Secret: b.tokenSecret(s.Name, first.bearer)}
		if !strings.EqualFold(first.bearer.scheme, "Bearer") {
			s.Auth = importer.Auth{Kind: importer.Header, Name: "Authorization", Secret: b.headerSecret(s.Name, first.bearer)}
		}
		s.Auth.Note = "the recording does not show where the token comes from; it may expire"
	default:
		for _, c := range signed {
			b.header(s.Name, c)
		}
	}
}

// alike reports whether all requests have the same credential.
func alike(signed []*call) bool {
	for _, c := range signed {
		if c.bearer.token != signed[0].bearer.token || c.bearer.scheme != signed[0].bearer.scheme {
			return false
		}
	}
	return true
}

// forget removes a secret that is only the name of a variable.
func (b signer) forget(value string) {
	name := b.vault.names[value]
	delete(b.vault.names, value)
	b.draft.Secrets = slices.DeleteFunc(b.draft.Secrets, func(s importer.Secret) bool { return s.Name == name })
}

func (b signer) tokenSecret(service string, c *credential) string {
	if m := variable.FindStringSubmatch(c.token); m != nil {
		return b.vault.named(m[1], "token of "+service)
	}
	return b.vault.name(service, "token", c.token, "token of "+service)
}

// headerSecret names the whole value of the header Authorization.
func (b signer) headerSecret(service string, c *credential) string {
	if variable.MatchString(c.token) {
		return b.tokenSecret(service, c)
	}
	b.vault.name(service, "token", c.token, "token of "+service)
	if c.scheme == "" {
		return b.vault.names[c.token]
	}
	b.forget(c.token)
	name := b.vault.name(service, "authorization", c.scheme+" "+c.token, "header Authorization of "+service)
	b.vault.names[c.token] = name
	return name
}

// header writes the header Authorization into a step.
func (b signer) header(service string, c *call) {
	var value importer.Value
	switch t := c.bearer; {
	case t.from != nil:
		value = b.from(c, &slot{place: inHeader, name: "token", text: t.token, value: &importer.Value{}}, t.from)
	case t.set != nil:
		value = importer.Value{From: t.set}
	case strings.EqualFold(t.scheme, "Basic"):
		c.step.Headers = append(c.step.Headers, importer.Pair{Name: "Authorization", Value: importer.Value{Secret: b.headerSecret(service, t)}})
		return
	default:
		value = importer.Value{Secret: b.tokenSecret(service, t)}
	}
	if c.bearer.scheme != "" {
		value = importer.Value{Parts: []importer.Value{{Literal: c.bearer.scheme + " "}, value}}
	}
	c.step.Headers = append(c.step.Headers, importer.Pair{Name: "Authorization", Value: value})
}

// login makes a login of the request whose answer has the token, if that request needs nothing from the journey and the journey
// nothing else from it. Then Throng signs in each agent, and again when the token expires, so renewals are left out.
func (b signer) login(service int, signed []*call) bool {
	v := b.visits[0]
	var at, renewals []*call
	for _, c := range signed {
		if !strings.EqualFold(c.bearer.scheme, "Bearer") {
			return false
		}
		by := v.issuer(c.bearer)
		switch {
		case by == nil:
			return false
		case v.renews(by):
			if !slices.Contains(renewals, by) {
				renewals = append(renewals, by)
			}
		case !slices.Contains(at, by):
			at = append(at, by)
		}
	}
	if len(at) != 1 || at[0].service != service {
		return false
	}
	l := at[0]
	token := ""
	for _, c := range signed {
		if v.issuer(c.bearer) == l {
			token = tokenPath(c.bearer)
			break
		}
	}
	if token == "" || l.Method != http.MethodPost && l.Method != http.MethodPut || depends(l) || l.final != nil || !b.aloneFor(l, renewals) {
		return false
	}
	if l.bearer != nil {
		b.header(b.draft.Services[service].Name, l)
	}
	request := l.step
	request.Think, request.Expect, request.Public, request.Follow = importer.Think{}, nil, false, false
	b.draft.Services[service].Auth = importer.Auth{Kind: importer.Login, Request: &request, Token: token}
	l.dropped = true
	b.passPause(l)
	for _, r := range renewals {
		r.dropped = true
		b.draft.Dropped = append(b.draft.Dropped, importer.Dropped{What: r.step.ID, Reason: "token renewal: agents sign in again when a token expires", Count: 1})
	}
	return true
}

// passPause moves the pause before a step that is left out to the next step.
func (b signer) passPause(l *call) {
	for _, c := range b.visits[0].calls[l.index+1:] {
		if !c.dropped {
			if c.step.Think.Median == 0 && l.index > 0 {
				c.step.Think = l.step.Think
			}
			return
		}
	}
}

// issuer returns the call whose answer has the token.
func (v *visit) issuer(t *credential) *call {
	if t.from != nil {
		return v.calls[t.from.call]
	}
	if t.set != nil {
		for _, c := range v.calls {
			if c.step.ID == t.set.Step {
				return c
			}
		}
	}
	return nil
}

var renewalPath = regexp.MustCompile(`(?i)(?:refresh|renew)[_-]?(?:token)?/?$`)

// renews reports whether a request exchanges a token for a newer one.
func (v *visit) renews(c *call) bool {
	return renewalPath.MatchString(c.url.Path) || strings.Contains(c.Request.Body, "grant_type=refresh_token") || strings.Contains(c.Request.Body, `"refresh_token"`) && c.Method == http.MethodPost
}

// tokenPath returns where the answer of a login has its token, in the words of a scenario, or "".
func tokenPath(t *credential) string {
	if t.set != nil {
		if names := strings.TrimPrefix(t.set.Path, "."); names != "" && !strings.ContainsAny(names, `[]"'$`) {
			return "body." + names
		}
		return ""
	}
	switch {
	case t.from.origin == fromHeader && t.from.wrap == "":
		return "headers." + t.from.key
	case t.from.origin != fromJSON || t.from.wrap != "" || t.from.lists > 0:
		return ""
	}
	names := make([]string, 0, len(t.from.way))
	for _, st := range t.from.way {
		if st.name == "" || strings.Contains(st.name, ".") {
			return ""
		}
		names = append(names, st.name)
	}
	return "body." + strings.Join(names, ".")
}

// depends reports whether a step needs an answer or a decision.
func depends(c *call) bool {
	found := false
	for _, s := range c.slots {
		eachValue(s.value, func(v *importer.Value) {
			found = found || v.From != nil || v.Open != nil || strings.Contains(v.Expr, "cookie(") || strings.Contains(v.Expr, "session.")
		})
	}
	return found
}

// eachValue visits a value and its parts.
func eachValue(v *importer.Value, do func(*importer.Value)) {
	do(v)
	for i := range v.Parts {
		eachValue(&v.Parts[i], do)
	}
}

// aloneFor reports whether no other step uses the answer of a login or its cookies. Renewals may.
func (b signer) aloneFor(l *call, renewals []*call) bool {
	v := b.visits[0]
	set := make(map[string]bool)
	for e := range l.hops() {
		for name := range setCookies(&e.Response) {
			set[name] = true
		}
	}
	alone := true
	for _, c := range v.calls[l.index+1:] {
		if slices.Contains(renewals, c) {
			continue
		}
		for name := range sentCookies(c) {
			alone = alone && !set[name]
		}
		for _, s := range c.slots {
			eachValue(s.value, func(v *importer.Value) { alone = alone && (v.From == nil || v.From.Step != l.step.ID) })
		}
	}
	for _, c := range v.calls[:l.index] {
		alone = alone && c.service == l.service // nothing before it goes elsewhere
	}
	return alone
}

// sentCookies yields the cookies of a request.
func sentCookies(c *call) func(func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		for part := range strings.SplitSeq(c.Request.Header("Cookie"), ";") {
			name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
			if ok && name != "" && !yield(name, value) {
				return
			}
		}
	}
}

// sanitized fills in what Chrome leaves out of recordings unless asked: the headers Authorization and Cookie.
func (b signer) sanitized(service int) {
	v := b.visits[0]
	if !v.recording.Sanitized {
		return
	}
	const hint = "Chrome left cookies and credentials out of the recording. "
	for _, c := range v.calls {
		if c.service != service || c.Method != http.MethodPost || !slices.ContainsFunc(c.slots, isLoginPassword) {
			continue
		}
		var answer map[string]any
		token := ""
		if json.Unmarshal([]byte(c.answer().Response.Body), &answer) == nil {
			for _, name := range []string{"access_token", "accessToken", "token", "jwt", "id_token", "idToken"} {
				if text, ok := answer[name].(string); ok && text != "" && token == "" {
					token = name
				}
			}
		}
		if token != "" && !depends(c) && b.aloneFor(c, nil) {
			request := c.step
			request.Think = importer.Think{}
			b.draft.Services[service].Auth = importer.Auth{Kind: importer.Login, Request: &request, Token: "body." + token, Note: hint + "The token of the login is sent with every request."}
			c.dropped = true
			for _, before := range v.calls[:c.index] {
				before.step.Public = true
			}
			return
		}
		b.draft.Services[service].Cookies = true
	}
	note := hint + "Allow them in the settings of its developer tools (Network, sensitive data), and record again if the requests are refused."
	if !slices.Contains(b.draft.Notes, note) {
		b.draft.Notes = append(b.draft.Notes, note)
	}
}

// harmless are beginnings of cookies that do not sign anybody in.
var harmless = regexp.MustCompile(`(?i)^(?:_ga|_gid|_gat|_gcl|_fbp|_hj|_uet|amp_|ajs_|intercom|hubspot|__hs|_clck|_clsk|optimizely|consent|cookie_?consent|optanon|lang|locale|theme|i18n|tz|timezone|` +
	`next_locale|_pk_|mp_|ph_|datadog|dd_|_dd|rl_|__cf|cf_|ab_|utm|currency|viewed|country)`)

// rememberCookies turns on the cookies of services whose requests send what their answers set. Cookies from before the recording
// are secrets, if they look like those of a session. After a login without a recorded answer, cookies are taken to be those that it sets.
func (b signer) rememberCookies() {
	set := make([]map[string]bool, len(b.draft.Services))
	later := make([]map[string]bool, len(b.draft.Services))
	for i := range set {
		set[i], later[i] = make(map[string]bool), make(map[string]bool)
	}
	v := b.visits[0]
	for _, c := range v.calls {
		for e := range c.hops() {
			for name := range setCookies(&e.Response) {
				later[c.service][name] = true
			}
		}
	}
	var ignored []string
	signedIn := make([]bool, len(b.draft.Services))
	for _, c := range v.calls {
		s := &b.draft.Services[c.service]
		s.Cookies = s.Cookies || c.Jar
		signedIn[c.service] = signedIn[c.service] || c.answer().Status == 0 && signsIn(c.request)
		for name, value := range sentCookies(c) {
			switch {
			case signedIn[c.service]:
				s.Cookies = true
			case set[c.service][name]:
				s.Cookies = true
			case later[c.service][name] || contains(ignored, name):
			case harmless.MatchString(name) || weigh(value) != specific:
				ignored = append(ignored, name)
			default:
				ignored = append(ignored, name)
				b.oldCookie(s, name, value)
			}
		}
		for e := range c.hops() {
			for name := range setCookies(&e.Response) {
				set[c.service][name] = true
			}
		}
		if c.final != nil && len(set[c.service]) > 0 {
			s.Cookies = true
		}
		for _, slot := range c.slots {
			eachValue(slot.value, func(v *importer.Value) { s.Cookies = s.Cookies || strings.HasPrefix(v.Expr, "cookie(") })
		}
	}
}

// oldCookie makes a secret of a cookie that was set before the recording began.
func (b signer) oldCookie(s *importer.Service, name, value string) {
	secret := b.vault.name(s.Name, name, value, "cookie "+shorten(name)+" of "+s.Name)
	note := "the recording began signed in: the cookie will expire. Record the login too"
	if s.Auth.Kind == importer.NoAuth {
		s.Auth = importer.Auth{Kind: importer.Cookie, Name: name, Secret: secret, Note: note}
		return
	}
	i := slices.IndexFunc(s.Headers, func(p importer.Pair) bool { return p.Name == "Cookie" })
	if i < 0 {
		s.Headers = append(s.Headers, importer.Pair{Name: "Cookie", Value: importer.Value{Note: note}})
		i = len(s.Headers) - 1
	} else {
		s.Headers[i].Value.Parts = append(s.Headers[i].Value.Parts, importer.Value{Literal: "; "})
	}
	s.Headers[i].Value.Parts = append(s.Headers[i].Value.Parts, importer.Value{Literal: name + "="}, importer.Value{Secret: secret})
}
