package service

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// TestJWT checks the contents of a token, and when it is replaced.
func TestJWT(t *testing.T) {
	for _, method := range JWTMethods {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := &script{answers: []reply{ok200("")}}
				h := client(t, fake, Limits{})
				auth := &Auth{
					Tokens: &Tokens{}, Header: "X-Auth",
					Issuer: &JWT{Method: method, Secret: "s3cret", TTL: time.Hour, Claims: []byte(`{"sub":"a0","n":12345678901234567890,"l":[1,2]}`)},
				}
				began := time.Now()
				st := stage{journal: &enginetest.Journal{}, change: func(s *engine.Settings) { s.SessionTimeout, s.ChainTimeout = 0, 0 }}
				st.play(t, func(s *engine.Session) {
					var c *Call
					var err error
					for _, wait := range []time.Duration{0, 53 * time.Minute, 2 * time.Minute} {
						time.Sleep(wait)
						c = callOf(s, fmt.Sprint("step", wait))
						c.Auth = auth
						_, err = h.Do(c, Request{Method: "GET", Target: must(t, "/x")})
					}
					end(s, c, err)
				})
				var tokens []string
				for _, r := range fake.requests() {
					tokens = append(tokens, r.header.Get("X-Auth"))
				}
				if len(tokens) != 3 || tokens[0] != tokens[1] || tokens[1] == tokens[2] {
					t.Fatalf("tokens %q", tokens)
				}
				checkToken(t, tokens[0], method, began)
				checkToken(t, tokens[2], method, began.Add(55*time.Minute))
				if kept := fmt.Sprintf("%+v", st.journal.Rows()); strings.Contains(kept, tokens[0]) || strings.Contains(kept, "s3cret") {
					t.Errorf("the journal has the token:\n%s", kept)
				}
			})
		})
	}
}

// TestJWTRunsOutWhileItsCallWaits checks that a call is sent with a valid token, however long it was throttled.
func TestJWTRunsOutWhileItsCallWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &script{answers: []reply{{status: 429, header: map[string]string{"Retry-After": "7200"}}, ok200("")}}
		h := client(t, fake, Limits{})
		began := time.Now()
		row := stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			c.Auth = &Auth{Tokens: &Tokens{}, Header: "X-Auth", Issuer: &JWT{Method: "HS256", Secret: "s3cret", TTL: time.Hour, Claims: []byte(`{"sub":"a0","n":12345678901234567890,"l":[1,2]}`)}}
			_, err := h.Do(c, Request{Method: "GET", Target: must(t, "/x")})
			end(s, c, err)
		})
		sent := fake.requests()
		if len(sent) != 2 || row.Outcome != engine.OK {
			t.Fatalf("%d requests: %s", len(sent), row.Error)
		}
		checkToken(t, sent[0].header.Get("X-Auth"), "HS256", began)
		checkToken(t, sent[1].header.Get("X-Auth"), "HS256", began.Add(2*time.Hour))
	})
}

func checkToken(t *testing.T, text, method string, at time.Time) {
	t.Helper()
	parsed, err := jwt.Parse(text, func(*jwt.Token) (any, error) { return []byte("s3cret"), nil },
		jwt.WithValidMethods([]string{method}), jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
		jwt.WithJSONNumber(), jwt.WithTimeFunc(func() time.Time { return at }))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if got, want := fmt.Sprint(parsed.Claims), fmt.Sprintf("map[exp:%d iat:%d l:[1 2] n:12345678901234567890 sub:a0]", at.Unix()+3600, at.Unix()); got != want {
		t.Errorf("claims %s, want %s", got, want)
	}
}

// TestRefusedJWT checks that there is one other token after a 401, and that no claims are an empty object.
func TestRefusedJWT(t *testing.T) {
	fake := &script{answers: []reply{{status: 401, body: "not you"}}}
	h := client(t, fake, Limits{})
	row := stage{}.play(t, func(s *engine.Session) {
		c := callOf(s, "step")
		c.Auth = &Auth{Tokens: &Tokens{}, Header: "Authorization", Scheme: "Bearer", Issuer: &JWT{Method: "HS256", Secret: "k", TTL: time.Second, Claims: []byte("{}")}}
		_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/x")})
		end(s, c, err)
	})
	if n := len(fake.requests()); n != 2 || row.Class != engine.ClientError || row.Steps[0].Attempts != 1 {
		t.Errorf("%d requests: %+v", n, row)
	}
	text := strings.TrimPrefix(fake.requests()[0].header.Get("Authorization"), "Bearer ")
	parsed, _, err := jwt.NewParser().ParseUnverified(text, jwt.MapClaims{})
	if err != nil || len(parsed.Claims.(jwt.MapClaims)) != 2 {
		t.Errorf("%q: %v %v", text, parsed, err)
	}
}

// TestTokensAreBounded checks that the least recently used are dropped.
func TestTokensAreBounded(t *testing.T) {
	k := Tokens{most: 3}
	for _, agent := range []int{1, 2, 3, 1, 4, 5} {
		s := k.seat(agent)
		if s.agent != agent {
			t.Fatalf("the seat of %d is that of %d", agent, s.agent)
		}
		if s.token == nil {
			s.token = &token{value: fmt.Sprint(agent)}
		}
	}
	for agent, kept := range map[int]bool{1: true, 4: true, 5: true, 2: false, 3: false} {
		if _, ok := k.of[agent]; ok != kept {
			t.Errorf("agent %d is kept: %v, want %v", agent, ok, kept)
		}
	}
	if len(k.of) != 3 || k.order.Len() != 3 {
		t.Errorf("%d and %d are kept", len(k.of), k.order.Len())
	}
}

// BenchmarkSignIn measures a request of an agent with a token, among many agents.
func BenchmarkSignIn(b *testing.B) {
	auth := &Auth{Tokens: &Tokens{}, Header: "Authorization", Scheme: "Bearer", Issuer: &JWT{Method: "HS256", Secret: "k", TTL: time.Hour, Claims: []byte("{}")}}
	agent := 0
	for b.Loop() {
		agent = (agent + 1) % 10_000
		c := &Call{Session: &engine.Session{Place: engine.Place{Agent: agent}}, Auth: auth}
		if _, err := c.signIn(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJWT measures the creation of a token.
func BenchmarkJWT(b *testing.B) {
	j := &JWT{Method: "HS256", Secret: "k", TTL: time.Hour, Claims: []byte(`{"sub":"a0"}`)}
	for b.Loop() {
		if _, err := j.issue(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}
