package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
)

// gateway is a backend with logins. It records its requests.
type gateway struct {
	mu    sync.Mutex
	asked []string
}

// took returns the requests since the last call.
func (g *gateway) took() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer func() { g.asked = nil }()
	return g.asked
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.mu.Lock()
	g.asked = append(g.asked, fmt.Sprintf("%s %s [%s] %s", r.Method, r.URL.RequestURI(), r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"), body))
	g.mu.Unlock()
	say := func(status int, text string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
	switch {
	case r.URL.Path == "/busy":
		w.Header().Set("Retry-After", "3600")
		say(http.StatusTooManyRequests, `{}`)
	case r.URL.Path == "/broken":
		say(http.StatusInternalServerError, `{"detail": "no database"}`)
	case r.URL.Path == "/moved":
		w.Header().Set("Location", "/elsewhere?ticket=hunter2")
		say(http.StatusFound, ``)
	case r.URL.Path == "/other":
		say(http.StatusOK, `{"jwt": "tok-1", "expires": 60}`)
	case r.URL.Path != "/login" && r.URL.Path != "/":
		say(http.StatusNotFound, `{"detail": "Not Found"}`)
	case r.URL.Path == "/login" && strings.Contains(string(body), "email"):
		say(http.StatusUnprocessableEntity, `{"detail": "username: field required"}`)
	case r.URL.Path == "/login" && !strings.Contains(string(body), "hunter2"):
		say(http.StatusUnauthorized, `{"detail": "wrong password: `+strings.Trim(string(body), `{}"`)+`"}`)
	case r.URL.Path == "/login":
		say(http.StatusOK, `{"access": {"token": "tok-1"}}`)
	case r.Header.Get("Authorization") == "Bearer tok-1", r.Header.Get("X-Api-Key") == "hunter2", r.Header.Get("Authorization") == "Basic c2hvcDpodW50ZXIy":
		say(http.StatusNotFound, `{}`)
	default:
		say(http.StatusUnauthorized, `{}`)
	}
}

// TestChecksSignIn checks that a check that the user starts signs in as a run does, and explains a refusal without showing
// the secret. An automatic check does not sign in.
func TestChecksSignIn(t *testing.T) {
	keyring.MockInit()
	shop := &gateway{}
	server := httptest.NewServer(shop)
	defer server.Close()
	check := func(auth, secret string, automatic bool) engine.Check {
		t.Helper()
		l := app.Launch{Services: app.Services{Scenario: staging(t, server.URL, ", auth: "+auth), Settings: engine.DefaultSettings(), Data: t.TempDir()}, Trusted: true}
		l.Secrets.Env = func(string) string { return secret }
		var list app.Preflight
		return named(t, list.Run(t.Context(), l, config.Database{}, automatic, nil), "Service shop")
	}
	const login = `{login: {post: /login, json: {username: "${agent.id}", password: "secret:SHOP_PASSWORD"}, token: body.access.token}}`
	at := func(path string) string { return strings.Replace(login, "/login", path, 1) }
	for _, c := range []struct {
		name, auth, secret string
		grade              engine.Grade
		says, hint         string
		sent               string // among the requests
	}{
		{"a login", login, "hunter2", engine.GradeOK, "logged in as agent-1 (POST /login: 200 OK in ", "", `POST /login [] {"username":"agent-1","password":"hunter2"}`},
		{"its token is sent", login, "hunter2", engine.GradeOK, "answered 404 Not Found", "", "GET / [Bearer tok-1]"},
		{"a wrong password", login, "stale-7712", engine.GradeProblem, "the login of agent-1 failed: status 401: ", "check the secret SHOP_PASSWORD and the user in `login`", ""},
		{"wrong fields", strings.Replace(login, "username", "email", 1), "hunter2", engine.GradeProblem, "username: field required", "check the fields in `login`", ""},
		{"a wrong path", at("/auth/token"), "hunter2", engine.GradeProblem, "failed: status 404", "check the method and the path of `login`", ""},
		{"a redirect", at("/moved"), "hunter2", engine.GradeProblem, "redirects are not followed", "use the address of the redirect", ""},
		{"a token elsewhere", at("/other"), "hunter2", engine.GradeProblem, "its answer has no token at body.access.token; it has expires, jwt", "set `token` of `login`", ""},
		{"too many logins", at("/busy"), "hunter2", engine.GradeProblem, "failed: status 429", "wait before you check again", ""},
		{"broken", at("/broken"), "hunter2", engine.GradeProblem, "failed: status 500", "see the log of the service", ""},
		{"another scheme", strings.Replace(login, "token: ", "scheme: Token, token: ", 1), "hunter2", engine.GradeWarning, " rejects the token of the login", "`scheme` of `login`", "GET / [Token tok-1]"},
		{"a mistake", strings.Replace(login, "agent.id", "[][agent.index]", 1), "hunter2", engine.GradeProblem, "index", "", ""},
		{"a JWT", `{jwt: {secret: "secret:SHOP_PASSWORD"}}`, "hunter2", engine.GradeProblem, "rejects the token made for agent-1 with SHOP_PASSWORD (401)", "`claims`", "GET / [Bearer ey"},
		{"an API key", `{header: {name: X-Api-Key, value: "secret:SHOP_PASSWORD"}}`, "hunter2", engine.GradeOK, "answered 404 Not Found", "", "GET / [hunter2]"},
		{"a wrong API key", `{header: {name: X-Api-Key, value: "secret:SHOP_PASSWORD"}}`, "stale-7712", engine.GradeProblem, "rejects the key SHOP_PASSWORD (401)", "", "GET / [stale-7712]"},
		{"basic", `{basic: {user: shop, password: "secret:SHOP_PASSWORD"}}`, "hunter2", engine.GradeOK, "answered 404 Not Found", "", "GET / [Basic c2hvcDpodW50ZXIy]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			quiet := check(c.auth, c.secret, true)
			for _, one := range shop.took() {
				if one != "GET / [] " {
					t.Errorf("an automatic check sent %s", one)
				}
			}
			if quiet.Grade != engine.GradeOK || !strings.Contains(quiet.Text, "automatic checks ") {
				t.Errorf("an automatic check says %s: %s", quiet.Grade, quiet.Text)
			}
			got := check(c.auth, c.secret, false)
			if got.Grade != c.grade || !strings.Contains(got.Text, c.says) || !strings.Contains(got.Hint, c.hint) {
				t.Errorf("got %s: %s > %s; want %s with %q and %q", got.Grade, got.Text, got.Hint, c.grade, c.says, c.hint)
			}
			if strings.Contains(got.Text+got.Hint, c.secret) || strings.Contains(got.Text+got.Hint, "tok-1") {
				t.Errorf("the result contains a secret: %s > %s", got.Text, got.Hint)
			}
			if failed := strings.Contains(got.Text, "the login of agent-1 failed"); failed && (!strings.Contains(got.Text, "\nsent to 127.0.0.1:") || !strings.Contains(got.Text, "with the secret SHOP_PASSWORD")) {
				t.Errorf("the text does not name the request and its address: %s", got.Text)
			}
			sent := shop.took()
			if c.sent != "" && !slices.ContainsFunc(sent, func(one string) bool { return strings.HasPrefix(one, c.sent) }) {
				t.Errorf("sent %q, want %s", sent, c.sent)
			}
			if len(sent) > 6 {
				t.Errorf("got %d requests: %q", len(sent), sent)
			}
		})
	}
}

// TestChecksOfLoginsArePaid checks that a login counts in the budget of the checks.
func TestChecksOfLoginsArePaid(t *testing.T) {
	keyring.MockInit()
	shop := &gateway{}
	server := httptest.NewServer(shop)
	defer server.Close()
	l := app.Launch{
		Services: app.Services{
			Scenario: staging(t, server.URL, `, auth: {login: {post: /login, json: {username: a, password: hunter2}, token: body.access.token}}`),
			Settings: engine.DefaultSettings(),
			Data:     t.TempDir(),
		},
		Trusted: true,
	}
	l.Settings.Simulation = false
	l.Settings.Budget.Requests = 1
	var list app.Preflight
	all := list.Run(t.Context(), l, config.Database{}, false, nil)
	if c := named(t, all, "Service shop"); len(shop.took()) != 1 || c.Grade == engine.GradeOK {
		t.Errorf("%s: %s", c.Grade, c.Text)
	}
}
