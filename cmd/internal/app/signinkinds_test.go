package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
)

// portal is a backend with a login form and session cookies, and an OAuth 2.0 token endpoint.
type portal struct {
	mu    sync.Mutex
	asked []string
}

func (p *portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.URL.Path)
	p.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	sid, _ := r.Cookie("sid")
	switch {
	case r.URL.Path == "/login" && r.FormValue("password") != "hunter2":
		http.SetCookie(w, &http.Cookie{Name: "csrftoken", Value: "x", Path: "/"})
		w.WriteHeader(http.StatusOK) // the form again
	case r.URL.Path == "/login":
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "tok-1", Path: "/"})
		http.Redirect(w, r, "/home", http.StatusFound)
	case r.URL.Path == "/silent":
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Path == "/token" && (id != "shop" || secret != "hunter2"):
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error": "invalid_client"}`)
	case r.URL.Path == "/token":
		fmt.Fprint(w, `{"access_token": "tok-1", "expires_in": 60}`)
	case r.URL.Path == "/page":
		fmt.Fprint(w, `{"title": "not a token"}`)
	case sid != nil && sid.Value == "tok-1", r.Header.Get("Authorization") == "Bearer tok-1":
		w.WriteHeader(http.StatusOK)
	default:
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// TestChecksSignInKinds is TestChecksSignIn for logins with cookies and for OAuth 2.0.
func TestChecksSignInKinds(t *testing.T) {
	keyring.MockInit()
	shop, other := &portal{}, &portal{}
	server, auth := httptest.NewServer(shop), httptest.NewServer(other)
	defer server.Close()
	defer auth.Close()
	const form = `, cookies: on, auth: {login: {post: /login, form: {user: "${agent.id}", password: "secret:SHOP_PASSWORD"}}}`
	named1 := strings.Replace(form, "{post", "{cookie: sid, post", 1)
	const oauth = `, auth: {oauth2: {grant: client_credentials, post: /token, client: shop, secret: "secret:SHOP_PASSWORD"}}`
	for _, c := range []struct {
		name, service, secret string
		trusted               bool
		grade                 engine.Grade
		says, hint            string
		elsewhere             int // requests to the other host
	}{
		{"cookies", form, "hunter2", true, engine.GradeOK, "logged in as agent-1 (POST /login: 302 Found in ", "", 0},
		{"cookies", form, "hunter2", true, engine.GradeOK, "answered 200 OK", "", 0},
		{"a wrong password", form, "stale-7712", true, engine.GradeWarning, "rejects the cookies of the login", "name the session cookie in its key `cookie`", 0},
		{"a wrong password, seen", named1, "stale-7712", true, engine.GradeProblem, "its answer does not set the cookie sid: its answer sets csrftoken", "check the user and the password in `login`", 0},
		{"no cookie", strings.Replace(form, "/login", "/silent", 1), "hunter2", true, engine.GradeProblem, "its answer sets no cookie", "check the user and the password", 0},
		{"OAuth", oauth, "hunter2", true, engine.GradeOK, "logged in as agent-1 (POST /token: 200 OK in ", "", 0},
		{"a wrong secret", oauth, "stale-7712", true, engine.GradeProblem, "invalid_client", "check the secret SHOP_PASSWORD and the user in `oauth2`", 0},
		{"no token", strings.Replace(oauth, "/token", "/page", 1), "hunter2", true, engine.GradeProblem, "its answer has no token at body.access_token; it has title", "check the address in `post`", 0},
		{"another host", strings.Replace(oauth, "/token", `"`+auth.URL+`/token"`, 1), "hunter2", true, engine.GradeOK, "logged in as agent-1 (POST /token: 200 OK in ", "", 1},
		{"another host, refused", strings.Replace(oauth, "/token", `"`+auth.URL+`/token"`, 1), "stale-7712", true, engine.GradeProblem, "sent to " + auth.Listener.Addr().String() + ": POST /token", "check the secret SHOP_PASSWORD", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := app.Launch{Services: app.Services{Scenario: staging(t, server.URL, c.service), Settings: engine.DefaultSettings(), Data: t.TempDir()}, Trusted: c.trusted}
			l.Secrets.Env = func(string) string { return c.secret }
			var list app.Preflight
			other.mu.Lock()
			other.asked = nil
			other.mu.Unlock()
			got := named(t, list.Run(t.Context(), l, config.Database{}, false, nil), "Service shop")
			if got.Grade != c.grade || !strings.Contains(got.Text, c.says) || !strings.Contains(got.Hint, c.hint) {
				t.Errorf("got %s: %s > %s; want %s with %q and %q", got.Grade, got.Text, got.Hint, c.grade, c.says, c.hint)
			}
			if strings.Contains(got.Text+got.Hint, c.secret) || strings.Contains(got.Text+got.Hint, "tok-1") {
				t.Errorf("the result contains a secret: %s > %s", got.Text, got.Hint)
			}
			posts := 0
			other.mu.Lock()
			for _, one := range other.asked {
				if strings.HasPrefix(one, "POST") {
					posts++
				}
			}
			other.mu.Unlock()
			if posts != c.elsewhere {
				t.Errorf("%d requests to the other host, want %d", posts, c.elsewhere)
			}
		})
	}
}

// TestTokenHostsAndProxiesAreAsked checks that a token endpoint on another host and a proxy are addresses that the user allows.
func TestTokenHostsAndProxiesAreAsked(t *testing.T) {
	keyring.MockInit()
	s := staging(t, "http://shop.example.com", `, proxy: {url: "http://proxy.example.com:3128", user: me, password: "secret:PROXY_PASSWORD"}, auth: {oauth2: {grant: client_credentials, post: "https://auth.example.com/token", client: shop, secret: "secret:SHOP_PASSWORD"}}`)
	p := app.Launch{Services: app.Services{Scenario: s, Settings: engine.DefaultSettings(), Data: t.TempDir()}, Trusted: true}.Permits()
	got := map[string]string{}
	for _, d := range p.Unallowed() {
		got[d.Service+" "+d.Host] = strings.Join(d.Secrets, " ")
	}
	want := map[string]string{
		"shop shop.example.com:80": "PROXY_PASSWORD", "shop proxy.example.com:3128": "PROXY_PASSWORD",
		"shop_token auth.example.com:443": "PROXY_PASSWORD SHOP_PASSWORD", "shop_token proxy.example.com:3128": "PROXY_PASSWORD",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	p.Settings.Services = map[string]string{"shop": "mock:shop"}
	if left := p.Unallowed(); len(left) > 0 {
		t.Errorf("a mock asks for %v", left)
	}
}
