package chain

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

const hush = `hu"sh/4711 &`

// TestSecretsAreSent checks that secrets are inserted into every part of a request and every kind of sign-in.
func TestSecretsAreSent(t *testing.T) {
	tests := []struct{ auth, step, want string }{
		{"", `{get: /x, headers: {X-Key: "secret:KEY"}}`, `GET /x [X-Key: ` + hush + `]`},
		{"", `{get: /x, headers: {Authorization: "Token ${secret:KEY}"}}`, `GET /x [Authorization: Token ` + hush + `]`},
		{"", `{get: /x, query: {k: "secret:KEY", n: 1}}`, `GET /x?k=hu%22sh%2F4711+%26&n=1 []`},
		{"", `{get: "/x/${secret:KEY}/${agent.id}?k=${ secret:KEY }"}`, `GET /x/hu%22sh%2F4711%20&/a0?k=hu%22sh%2F4711+%26 []`},
		{"", `{post: /x, json: {k: "secret:KEY", l: ["for ${agent.id}: ${secret:KEY}"]}}`, `POST /x [Content-Type: application/json] {"k":"hu\"sh/4711 \u0026","l":["for a0: hu\"sh/4711 \u0026"]}`},
		{"", `{post: /x, form: {k: "secret:KEY"}}`, `POST /x [Content-Type: application/x-www-form-urlencoded] k=hu%22sh%2F4711+%26`},
		{"", `{post: /x, body: "key ${secret:KEY} $${secret:KEY}"}`, `POST /x [Content-Type: text/plain; charset=utf-8] key ` + hush + ` ${secret:KEY}`},
		{`{basic: {user: "${agent.id}", password: "secret:KEY"}}`, `{get: /x}`, `GET /x [Authorization: Basic ` + base64.StdEncoding.EncodeToString([]byte("a0:"+hush)) + `]`},
		{`{header: {name: x-api-key, value: "Key ${secret:KEY}"}}`, `{get: /x}`, `GET /x [X-Api-Key: Key ` + hush + `]`},
		{`{query: {name: api_key, value: "secret:KEY"}}`, `{get: "/x?a=1"}`, `GET /x?a=1&api_key=hu%22sh%2F4711+%26 []`},
		{`{cookie: {name: key, value: "secret:PLAIN"}}`, `{get: /x, headers: {X-A: b}}`, `GET /x [Cookie: key=plain-4711; X-A: b]`},
		{`{header: {name: x-api-key, value: "secret:KEY"}}`, `{get: /x, auth: none}`, `GET /x []`},
		{`{query: {name: api_key, value: "secret:KEY"}}`, `{get: /x, auth: none}`, `GET /x []`},
		{`{jwt: {secret: "secret:KEY"}}`, `{get: /x, auth: none}`, `GET /x []`},
	}
	for _, tt := range tests {
		t.Run(tt.auth+tt.step, func(t *testing.T) {
			var r recorder
			st := stage{
				address: serve(t, r.handler), auth: tt.auth, secrets: map[string]string{"KEY": hush, "PLAIN": "plain-4711"},
				steps: "step a: {kind: http, service: shop, " + strings.TrimPrefix(tt.step, "{"),
			}
			row := st.one(t)
			if got := strings.Join(r.requests(), "\n"); got != tt.want || row.Outcome != engine.OK {
				t.Errorf("%v %s\n got %s\nwant %s", row.Outcome, row.Error, got, tt.want)
			}
		})
	}
}

// TestSecretsOfMocks checks that no secret is sent to the mocks, and that they need none.
func TestSecretsOfMocks(t *testing.T) {
	var r recorder
	row := (&stage{
		address: serve(t, r.handler), tag: true, secret: "s3cret", auth: `{header: {name: x-api-key, value: "secret:KEY"}}`,
		steps: `step a: {kind: http, service: shop, post: /x, json: {k: "secret:OTHER"}}`,
	}).one(t)
	want := `POST /x [Authorization: Bearer s3cret.a0; Content-Type: application/json] {"k":"mock-OTHER"}`
	if got := strings.Join(r.requests(), "\n"); got != want || row.Outcome != engine.OK {
		t.Errorf("%v %s\n got %s\nwant %s", row.Outcome, row.Error, got, want)
	}
}

// TestAnEchoIsNoSecret checks that if a service echoes a secret, steps do not see its value.
func TestAnEchoIsNoSecret(t *testing.T) {
	row := (&stage{
		address: serve(t, func(w http.ResponseWriter, q *http.Request) {
			body, _ := io.ReadAll(q.Body)
			js(w, 200, string(body))
		}), secrets: map[string]string{"KEY": hush},
		steps: `step a: {kind: http, service: shop, post: /x, json: {k: "secret:KEY"}}
step b: {kind: emit, event: heard, data: {k: "${steps.a.k}"}}`,
	}).one(t)
	if row.Outcome != engine.OK || len(row.Events) != 1 || bytes.Contains(row.Events[0].Data, []byte("4711")) || !bytes.Contains(row.Events[0].Data, []byte("…")) {
		t.Errorf("%v %s: %s", row.Outcome, row.Error, row.Events)
	}
}

// TestSecretsAreRefused checks that secrets are rejected where they could not be kept secret, with the position of
// each.
func TestSecretsAreRefused(t *testing.T) {
	for _, step := range []string{
		`{kind: emit, event: e, data: {k: "secret:KEY"}}`,
		`{kind: emit, event: e, data: {k: ["is ${secret:KEY}"]}}`,
		`{kind: say, to: all, text: "is ${secret:KEY}"}`,
		`{kind: remember, set: {k: "secret:KEY"}}`,
		`{kind: stop, when: "secret:KEY"}`,
		`{kind: stop, because: "secret:KEY"}`,
		`{kind: http, service: shop, get: "secret:KEY"}`,
		`{kind: http, service: shop, get: /x, default: {k: "secret:KEY"}}`,
		`{kind: http, service: shop, get: /x, headers: {a: "${secret:}"}}`,
	} {
		i := strings.Index(step, "${")
		if i < 0 {
			i = strings.Index(step, "secret:")
		}
		at := fmt.Sprintf("2:%d", len("  step a: ")+i+1)
		_, report, _ := (&stage{address: "http://127.0.0.1:1", steps: "step a: " + step}).read(t)
		if err := report.Err(); err == nil || !strings.Contains(err.Error(), at+": ") || !strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want a mistake at %s", step, err, at)
		}
	}
}
