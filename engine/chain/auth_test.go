package chain

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// TestLoginRequests checks the login request for each form of login, and where later requests carry the token.
func TestLoginRequests(t *testing.T) {
	tests := []struct {
		login string
		mock  bool
		want  []string
	}{
		{
			`{post: /auth/login, json: {user: "${agent.id}", password: "secret:PASS", n: [1, "secret:PASS"]}, token: body.token}`, false,
			[]string{
				`POST /auth/login [Content-Type: application/json] {"user":"a0","password":"hunter2","n":[1,"hunter2"]}`,
				`GET /x [Authorization: Bearer tok-1]`,
				`GET /y [Authorization: Bearer tok-1; X-Own: 1]`,
			},
		},
		{
			`{put: "/auth/${agent.id}", form: {p: "secret:PASS", cycle: "${session.cycle}"}, headers: {X-H: "${now.hour}"}, token: headers.x-token, scheme: Token}`, false,
			[]string{
				`PUT /auth/a0 [Content-Type: application/x-www-form-urlencoded; X-H: 8] p=hunter2&cycle=0`,
				`GET /x [Authorization: Token tok-h]`,
				`GET /y [Authorization: Token tok-h; X-Own: 1]`,
			},
		},
		{
			`{post: /auth/login, token: body.token, expect: 200, header: x-auth}`, false,
			[]string{`POST /auth/login []`, `GET /x [X-Auth: tok-1]`, `GET /y [X-Auth: tok-1; X-Own: 1]`},
		},
		{
			`{post: /auth/login, token: body.token, header: x-auth, scheme: Key}`, true,
			[]string{
				`POST /auth/login [Authorization: Bearer s3cret.a0]`,
				`GET /x [Authorization: Bearer s3cret.a0; X-Auth: Key tok-1]`,
				`GET /y [Authorization: Bearer s3cret.a0; X-Auth: Key tok-1; X-Own: 1]`,
			},
		},
		{
			`{post: /auth/login, token: body.token}`, true,
			[]string{
				`POST /auth/login [Authorization: Bearer s3cret.a0]`, `GET /x [Authorization: Bearer tok-1]`,
				`GET /y [Authorization: Bearer tok-1; X-Own: 1]`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.login, func(t *testing.T) {
			var r recorder
			st := stage{
				address: serve(t, func(w http.ResponseWriter, q *http.Request) {
					w.Header().Set("X-Token", "tok-h")
					if strings.HasPrefix(q.URL.Path, "/auth") {
						r.keep(q)
						js(w, 200, `{"token": "tok-1"}`)
						return
					}
					r.handler(w, q)
				}),
				auth: "{login: " + tt.login + "}", secrets: map[string]string{"PASS": "hunter2\n"}, tag: tt.mock, secret: "s3cret",
				steps: "step a: {kind: http, service: shop, get: /x}\nstep b: {kind: http, service: shop, get: /y, headers: {X-Own: 1}}",
			}
			row := st.one(t)
			if got := strings.Join(r.requests(), "\n"); got != strings.Join(tt.want, "\n") || row.Outcome != engine.OK || len(row.Steps) != 2 {
				t.Errorf("%v %s\n got %s\nwant %s", row.Outcome, row.Error, got, strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestJWTClaims checks that each agent signs in with one token of its own for all steps, and that the mock, which does
// not accept such tokens, is signed in to as usual.
func TestJWTClaims(t *testing.T) {
	var mu sync.Mutex
	tokens := map[string]bool{}
	st := stage{
		agents: 3, secrets: map[string]string{"KEY": "k3y"}, secret: "s3cret",
		auth: `{jwt: {secret: "secret:KEY", alg: HS384, claims: {sub: "${agent.id}", roles: [shopper, "${agent.index}"], lucky: "${uniform(0, 1)}"}, ttl: 1d}}`,
		address: serve(t, func(w http.ResponseWriter, q *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			tokens[q.Header.Get("Authorization")] = true
			js(w, 200, "{}")
		}),
		steps: "step a: {kind: http, service: shop, get: /x}\nstep b: {kind: http, service: shop, post: /y}",
	}
	st.run(t)
	said := map[string]bool{}
	for text := range tokens {
		parsed, err := jwt.Parse(strings.TrimPrefix(text, "Bearer "), func(*jwt.Token) (any, error) { return []byte("k3y"), nil }, jwt.WithValidMethods([]string{"HS384"}))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		c := parsed.Claims.(jwt.MapClaims)
		if c["exp"].(float64)-c["iat"].(float64) < 86400 || c["exp"].(float64) > float64(time.Now().Unix()+86401) {
			t.Errorf("from %v to %v", c["iat"], c["exp"])
		}
		said[fmt.Sprint(c["sub"], c["roles"])] = true
	}
	if len(tokens) != 3 || !said["a0[shopper 0]"] || !said["a2[shopper 2]"] {
		t.Errorf("%d tokens with claims %v", len(tokens), said)
	}
	clear(tokens)
	st.tag, st.agents = true, 1
	if row := st.one(t); row.Outcome != engine.OK || !tokens["Bearer s3cret.a0"] || len(tokens) != 1 {
		t.Errorf("the mock: %s, %v", row.Error, tokens)
	}
}

// TestMistakesOfAuth checks that an error in the values of a login or a token fails every step, whether or not a token
// is stored.
func TestMistakesOfAuth(t *testing.T) {
	for _, auth := range []string{
		`{jwt: {secret: "secret:KEY", claims: {sub: "${[][agent.index]}"}}}`,
		`{login: {post: /auth, json: {user: "${[][agent.index]}"}, token: body}}`,
		`{login: {post: "/auth/${[][agent.index]}", token: body}}`,
		`{login: {post: /auth, headers: {X-A: "${[][agent.index]}"}, token: body}}`,
	} {
		var r recorder
		st := stage{
			address: serve(t, r.handler), auth: auth, secrets: map[string]string{"KEY": "hunter2"},
			steps: "step a: {kind: http, service: shop, get: /x, on_error: continue}\nstep b: {kind: http, service: shop, post: /y}",
		}
		row := st.one(t)
		if got := steps(&row); got != "a:failed:script b:failed:script" || len(r.requests()) > 0 || strings.Contains(row.Error, "hunter2") {
			t.Errorf("%s: %s, %s, %q", auth, got, row.Error, r.requests())
		}
	}
}

// doorman accepts clients that have logged in. Each token is valid for a limited number of requests.
type doorman struct {
	shop *shop
	uses int

	mu     sync.Mutex
	logins int
	left   map[string]int // uses of tokens
}

func (d *doorman) handler(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/auth/login" {
		body, _ := io.ReadAll(r.Body)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.logins++
		token := fmt.Sprintf("%s/tok-%d", strings.Trim(string(body), `"`), d.logins)
		d.left[token] = d.uses
		js(w, 201, fmt.Sprintf(`{"access": {"token": %q}}`, token))
		return
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	d.mu.Lock()
	good := d.left[token] > 0
	d.left[token]--
	d.mu.Unlock()
	if !good {
		js(w, 401, `{"detail": "log in"}`)
		return
	}
	agent, _, _ := strings.Cut(token, "/")
	r.Header.Set("Authorization", "Bearer ."+agent) // the shop behind knows agents, not tokens
	d.shop.handler(w, r)
}

// TestEveryCrashWithLogins is TestEveryCrash with a login whose tokens expire. It checks that the results equal those
// of a run that was never killed and whose tokens never expired, and that the journal contains no token.
func TestEveryCrashWithLogins(t *testing.T) {
	const agents = 2
	guard := func(uses int) *doorman { return &doorman{shop: newShop(), uses: uses, left: map[string]int{}} }
	private := strings.Replace(resumable, `post: /make, json: {of`, `post: /make, private: true, json: {of`, 1)
	alone := stage{
		steps: private, agents: agents, tag: true, auth: `{login: {post: /auth/login, json: "${agent.id}", token: body.access.token}}`,
		address: serve(t, guard(1_000_000).handler), journal: &enginetest.Journal{},
	}
	want := enginetest.Results(alone.run(t))
	rows := len(alone.journal.Rows())
	if rows < 15 || !strings.Contains(want, " ok ") {
		t.Fatalf("%d rows of\n%s", rows, want)
	}
	for dies := 1; dies <= rows; dies++ {
		door := guard(3)
		st := alone
		st.address, st.journal = serve(t, door.handler), &enginetest.Journal{DieAfter: dies}
		kill(t, st)
		st.journal = st.journal.Reopen()
		st.resume = st.journal.Resumption()
		if len(st.resume.Done) < agents && st.resume.Cycle == 0 {
			st.run(t)
		}
		if got := enginetest.Results(st.journal.Sessions()); got != want {
			t.Fatalf("killed after row %d:\n got %s\nwant %s", dies, got, want)
		}
		for key, n := range effects(door.shop) {
			if n != 1 {
				t.Errorf("killed after row %d: %s has had its effect %d times", dies, key, n)
			}
		}
		if kept := fmt.Sprintf("%+v", st.journal.Rows()); strings.Contains(kept, "tok-") || strings.Contains(kept, "login") {
			t.Errorf("killed after row %d: a login is in the journal:\n%s", dies, kept)
		}
		if door.logins < agents {
			t.Errorf("%d logins", door.logins)
		}
	}
}

// TestEveryCrashWithJWTs is TestEveryCrash with tokens that Throng signs itself. It checks that another process signs
// other tokens, without any other difference.
func TestEveryCrashWithJWTs(t *testing.T) {
	const agents = 2
	behind := func(s *shop) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var claims jwt.RegisteredClaims
			token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			if _, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return []byte("s3cret"), nil }); err != nil {
				js(w, 401, `{}`)
				return
			}
			r.Header.Set("Authorization", "Bearer ."+claims.Subject)
			r.Header.Set("X-Throng-Request", "0/"+r.Method+r.URL.Path+"/1 ")
			s.handler(w, r)
		}
	}
	alone := stage{
		steps: resumable, agents: agents, auth: `{jwt: {secret: secret:KEY, claims: {sub: "${agent.id}"}}}`, secrets: map[string]string{"KEY": "s3cret"},
		address: serve(t, behind(newShop())), journal: &enginetest.Journal{},
	}
	want := enginetest.Results(alone.run(t))
	rows := len(alone.journal.Rows())
	if rows < 15 || !strings.Contains(want, " ok ") {
		t.Fatalf("%d rows of\n%s", rows, want)
	}
	for dies := 1; dies <= rows; dies++ {
		server := newShop()
		st := alone
		st.address, st.journal = serve(t, behind(server)), &enginetest.Journal{DieAfter: dies}
		kill(t, st)
		st.journal = st.journal.Reopen()
		st.resume = st.journal.Resumption()
		if len(st.resume.Done) < agents && st.resume.Cycle == 0 {
			st.run(t)
		}
		if got := enginetest.Results(st.journal.Sessions()); got != want {
			t.Fatalf("killed after row %d:\n got %s\nwant %s", dies, got, want)
		}
		for key, n := range effects(server) {
			if n != 1 {
				t.Errorf("killed after row %d: %s has had its effect %d times", dies, key, n)
			}
		}
	}
}

// TestPrivateSteps checks that a private step's answer can be used and replayed, and appears in no error.
func TestPrivateSteps(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			js(w, 403, `{"code": "hunter2"}`)
			return
		}
		js(w, 200, `{"code": "hunter2"}`)
	})
	st := stage{address: address, journal: &enginetest.Journal{}, steps: `
step a: {kind: http, service: shop, post: /code, private: true}
step b: {kind: emit, event: e, data: "${len(steps.a.code)}"}
step c: {kind: http, service: shop, post: /no, private: true}
`}
	row := st.one(t)
	if row.Error != "status 403" || events(&row) != "e=7" {
		t.Errorf("%s, %s", row.Error, events(&row))
	}
	var prefix engine.Prefix
	for _, a := range enginetest.Of[engine.AnswerRow](st.journal) {
		if !a.Private {
			t.Errorf("the answer of %s is not marked", a.Path)
		}
		prefix = append(prefix, a.Entry)
	}
	st.resume, st.journal = &engine.Resumption{Prefixes: map[int]engine.Prefix{0: prefix}}, nil
	again := st.one(t)
	if again.Error != row.Error || events(&again) != "e=7" || again.Steps[0].Label != engine.Replayed || again.Steps[2].Label != engine.Replayed {
		t.Errorf("replayed: %+v", again)
	}
}
