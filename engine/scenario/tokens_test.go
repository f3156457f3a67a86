package scenario

import (
	"bytes"
	"strings"
	"testing"
)

// httpScenario returns a scenario with a service shop, whose further keys are given, and a step.
func httpScenario(service, step string) string {
	return "services: {shop: {kind: http, url: 'https://shop.example.com'" + service + "}}\nchain c:\n  step a: {kind: http, service: shop, " + step + "}\n"
}

// TestTokenServices checks that a token endpoint on another host is a service of its own, with the secrets that it gets.
func TestTokenServices(t *testing.T) {
	s, err := read(httpScenario(`, headers: {X-Key: secret:SHOP_KEY}, proxy: {url: 'http://proxy:3128', user: me, password: secret:PROXY}, auth: {oauth2: {grant: client_credentials, post: 'https://auth.example.com:8443/oauth/token?v=1', client: app, secret: secret:APP}}`, "get: /"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	of := s.Service("shop_token")
	if of == nil || of.URL != "https://auth.example.com:8443" || of.For != s.Service("shop") || strings.Join(of.Secrets(), " ") != "PROXY APP" {
		t.Fatalf("%+v", of)
	}
	if shop := s.Service("shop"); strings.Join(shop.Secrets(), " ") != "PROXY SHOP_KEY" || shop.Login.At != of || shop.Proxy.Address.Host != "proxy:3128" || shop.Login.Key() != "oauth2" {
		t.Errorf("%+v with secrets %v", shop, shop.Secrets())
	}
}

// TestHTTPMistakes checks errors about the keys of http services and steps.
func TestHTTPMistakes(t *testing.T) {
	oauth := func(keys string) string {
		return ", auth: {oauth2: {grant: client_credentials, post: /token" + keys + "}}"
	}
	for _, tt := range []struct{ service, step, want string }{
		{", cookies: yes", "get: /", "`cookies` cannot be `yes`"},
		{", redirects: none", "get: /", "`redirects` cannot be `none`"},
		{"", "get: /, redirects: no", "`redirects` cannot be `no`"},
		{"", "post: /, json: 1, multipart: {a: 1}", "cannot be combined"},
		{"", "post: /, multipart: {}", "a body without fields"},
		{"", "post: /, multipart: {a: {file: nothing.png}}", "there is no file nothing.png"},
		{"", "post: /, multipart: {a: {fil: nothing.png}}", "unknown key `fil`"},
		{"", "head: /, repeats: keyed", "a HEAD changes nothing"},
		{oauth(""), "get: /", "needs `client`"},
		{oauth(", client: a, secret: hunter2"), "get: /", "a secret must not be in the file"},
		{oauth(", client: a, secret: secret:A, user: me"), "get: /", "a user with client credentials"},
		{oauth(", client: a, secret: secret:A, client_auth: body"), "get: /", "`client_auth` cannot be `body`"},
		{", auth: {oauth2: {grant: implicit, post: /token}}", "get: /", "`grant` cannot be `implicit`"},
		{", auth: {oauth2: {grant: password, post: /token, secret: secret:A, user: a, password: b}}", "get: /", "the secret of a client without its ID"},
		{", auth: {oauth2: {grant: password, post: 'https://me:pw@auth.example.com/token', user: a, password: b}}", "get: /", "must not contain a password"},
		{", auth: {login: {post: /in, cookie: sid}}", "get: /", "the service keeps no cookies"},
		{", auth: {login: {post: /in}}", "get: /", "a login needs `token`"},
		{", proxy: 'proxy:3128'", "get: /", "does not begin with http"},
		{", proxy: 'http://me:pw@proxy:3128'", "get: /", "must not contain a password"},
		{", proxy: {url: 'http://proxy', user: me}", "get: /", "a user without a password"},
		{", proxy: {url: 'http://proxy', user: me, password: hunter2}", "get: /", "a secret must not be in the file"},
		{", limits: {response_size: 10}", "get: /", `"10" is not a size`},
		{", limits: {request_size: 1TB}", "get: /", "a size is from 1B to 64MB, not 1TB"},
		{"", `get: /, headers: {X-A: '${cookie("a")}'}`, "a cookie cannot be used here"},
		{", cookies: on", `get: /, when: cookie("a") == 1`, "expressions cannot use cookies"},
		{", cookies: on", `get: /, headers: {X-A: '${"x" + cookie("a")}'}`, "expressions cannot use cookies"},
		{", cookies: on", `get: /, headers: {X-A: '${cookie("a b")}'}`, `"a b" cannot be the name of a cookie`},
		{", cookies: on, auth: {oauth2: {grant: password, post: 'https://a.example.com/token', user: a, password: '${cookie(\"x\")}'}}", "get: /", "a cookie cannot be used here"},
	} {
		_, err := read(httpScenario(tt.service, tt.step), nil, nil)
		if err == nil || !strings.Contains(explained(err), tt.want) {
			t.Errorf("%s %s: got %v, want %s", tt.service, tt.step, explained(err), tt.want)
		}
	}
	for _, fine := range []struct{ service, step string }{
		{", cookies: on, redirects: follow, limits: {request_size: 1kB, response_size: 200 MB}, proxy: 'http://proxy:3128'", "options: /, redirects: manual"},
		{", cookies: on, auth: {login: {put: /in, form: {a: b}}}", `post: '/x/${cookie("a")}', json: {a: "${cookie('a')} and $${cookie('a')}"}`},
		{"", "post: /, json: {note: 'a cookie (sweet)'}"},
	} {
		if _, err := read(httpScenario(fine.service, fine.step), nil, nil); err != nil {
			t.Errorf("%s %s: %v", fine.service, fine.step, explained(err))
		}
	}
}

// explained returns the text of an error with all problems.
func explained(err error) string {
	m, ok := err.(*Mistakes) //nolint:errorlint // the reader returns it as it is
	if !ok {
		return "none"
	}
	var out bytes.Buffer
	for _, p := range m.report.Problems() {
		out.WriteString(p.Error() + "\n")
	}
	return out.String()
}

// TestUnresolved checks that each value which an import could not decide is a warning with its candidates.
func TestUnresolved(t *testing.T) {
	s, err := read(httpScenario("", `post: '/x/${unresolved("a", "steps.login.id", "a parameter")}', json: {b: '${unresolved(7)}', c: 'x ${ unresolved("(", agent.id) } y'}`), nil, nil)
	if err != nil {
		t.Fatal(explained(err))
	}
	var out bytes.Buffer
	if err := s.PrintWarnings(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"test.yaml:3:", "candidates: steps.login.id, a parameter", "candidates: agent.id", "replace unresolved(…)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "an import could not tell where this value comes from"); n != 3 {
		t.Errorf("%d warnings:\n%s", n, out.String())
	}
}
