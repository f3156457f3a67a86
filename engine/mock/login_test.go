package mock

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// logIn returns a token of the user.
func (s *Shop) logIn(t *testing.T, user string) string {
	t.Helper()
	who, err := json.Marshal(map[string]string{"user": user, "password": s.Secret()})
	if err != nil {
		t.Fatal(err)
	}
	g := s.ask(ask{method: "POST", path: "/auth/login", body: string(who), bearer: "-"})
	var answer struct {
		Token   string `json:"access_token"`
		Expires int    `json:"expires_in"`
	}
	if err := json.Unmarshal([]byte(g.body), &answer); err != nil || g.status != http.StatusOK || answer.Expires != 3600 || answer.Token == "" {
		t.Fatalf("login of %q: %d %s", user, g.status, g.body)
	}
	return answer.Token
}

// TestLoginRefusals checks invalid logins.
func TestLoginRefusals(t *testing.T) {
	s := indoors(t, Config{Seed: 3})
	for _, tt := range []struct {
		ask    ask
		status int
		says   string
	}{
		{ask{method: "POST", body: `{"user":"ann","password":"wrong"}`, bearer: "-"}, 401, "Wrong user or password"},
		{ask{method: "POST", body: `{"user":"ann"}`, bearer: "-"}, 401, "Wrong user or password"},
		{ask{method: "POST", body: `{"user":"ann","password":"wrong"}`, bearer: "Bearer secre"}, 401, "Wrong user or password"},
		{ask{method: "POST", body: `{"user":"ann","password":"wrong"}`, user: "bob"}, 200, "login.1."},
		{ask{method: "POST", body: `{"user":"","password":"secret"}`, bearer: "-"}, 400, "user must be a text"},
		{ask{method: "POST", body: `{"user":"a\nb","password":"secret"}`, bearer: "-"}, 400, "user must be a text"},
		{ask{method: "POST", body: `{"user":"` + strings.Repeat("x", 513) + `","password":"secret"}`, bearer: "-"}, 400, "user must be a text"},
		{ask{method: "POST", body: `{"user":7,"password":"secret"}`, bearer: "-"}, 400, "user must be a string"},
		{ask{method: "POST", body: `nonsense`, bearer: "-"}, 400, "not valid JSON"},
		{ask{method: "POST", bearer: "-"}, 400, "not valid JSON"},
		{ask{method: "GET", bearer: "-"}, 405, "Method not allowed"},
		{ask{method: "POST", body: `{"user":"ann","password":"secret"}`, tag: "?", bearer: "-"}, 400, "X-Throng-Request"},
	} {
		tt.ask.path = "/auth/login"
		if g := s.ask(tt.ask); g.status != tt.status || !strings.Contains(g.body, tt.says) {
			t.Errorf("%+v: %d %s; want %d, %s", tt.ask, g.status, g.body, tt.status, tt.says)
		}
	}
}

// TestLoginTokens checks that a login's token identifies its user, and that no other text does.
func TestLoginTokens(t *testing.T) {
	v := visit(t, Config{Seed: 3, Secret: "secret"})
	s := v.shop
	for _, user := range []string{"ann", "bob.b", "zoë 7", "1.2.3"} {
		token := s.logIn(t, user)
		plain := v.do(t, ask{user: user, method: "GET", path: "/api/coupons/wallet"})
		got := v.do(t, ask{method: "GET", path: "/api/coupons/wallet", bearer: "Bearer " + token})
		if got.status != 200 || got.body != plain.body {
			t.Errorf("%s: %d %s, not %s", user, got.status, got.body, plain.body)
		}
		if again := s.logIn(t, user); again == token {
			t.Errorf("%s gets one token twice", user)
		}
	}
	ann := s.logIn(t, "ann")
	other := indoors(t, Config{Seed: 3})
	other.bearer, other.cfg.Secret = "Bearer other.", "other"
	for _, token := range []string{
		"", "login.", "login.1", "login.1.", "login.1..ann", "login.0..ann", strings.Replace(ann, "ann", "bob", 1), strings.TrimSuffix(ann, "n"),
		strings.Replace(ann, "login.", "login.0", 1), strings.ToUpper(ann), ann + strings.Repeat("x", 600), other.logIn(t, "ann"),
	} {
		if g := s.ask(ask{method: "GET", path: "/api/cart", bearer: "Bearer " + token}); g.status != 401 || !strings.Contains(g.body, "Not authenticated") {
			t.Errorf("%q: %d %s", token, g.status, g.body)
		}
	}
}

// TestTokensExpire checks that a token expires after the configured number of requests, and that logging in again helps.
func TestTokensExpire(t *testing.T) {
	s := indoors(t, Config{Seed: 3})
	early := s.logIn(t, "ann")
	cart := func(token string) int {
		return s.ask(ask{method: "GET", path: "/api/cart", bearer: "Bearer " + token}).status
	}
	for range 5 {
		if got := cart(early); got != 200 {
			t.Fatalf("without the setting: %d", got)
		}
	}
	s.SetFaults(Faults{TokenRequests: 2})
	if got := cart(early); got != 401 {
		t.Errorf("a token from before: %d", got)
	}
	first, second := s.logIn(t, "ann"), s.logIn(t, "ann")
	if got := fmt.Sprint(cart(first), cart(first), cart(first), cart(second), cart(second), cart(second), cart(first)); got != "200 200 401 200 200 401 401" {
		t.Errorf("got %s", got)
	}
	if g := s.ask(ask{user: "ann", method: "GET", path: "/api/cart"}); g.status != 200 {
		t.Errorf("signed with the secret: %d", g.status)
	}
	oldest := s.logIn(t, "ann")
	for range liveTokens {
		s.logIn(t, "ann")
	}
	if got, kept := cart(oldest), len(s.users.of("ann").spent); got != 401 || kept > liveTokens {
		t.Errorf("the oldest of many: %d; %d are kept", got, kept)
	}
}

// TestLoginMeetsFaults checks that a login is a request like others: it has latency and faults, and it is counted.
func TestLoginMeetsFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := indoors(t, Config{Seed: 3, Faults: Faults{ServerError: 1}})
		login := ask{method: "POST", path: "/auth/login", body: `{"user":"ann","password":"secret"}`, bearer: "-"}
		if g := s.ask(login); g.status != 500 {
			t.Errorf("got %d %s", g.status, g.body)
		}
		s.SetFaults(Faults{BadBody: 1})
		if g := s.ask(login); g.status != 200 || json.Valid([]byte(g.body)) {
			t.Errorf("got %d %s", g.status, g.body)
		}
		if stats := s.Stats(); stats.Requests != 2 || stats.Mutations != 0 {
			t.Errorf("stats %+v", stats)
		}
	})
}
