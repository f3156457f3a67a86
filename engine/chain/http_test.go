package chain

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// recorder is a server that records each request as text and echoes it.
type recorder struct {
	mu   sync.Mutex
	seen []string
}

func (r *recorder) handler(w http.ResponseWriter, q *http.Request) {
	r.keep(q)
	js(w, 200, "{}")
}

func (r *recorder) keep(q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	line := q.Method + " " + q.RequestURI
	var headers []string
	for _, name := range slices.Sorted(maps.Keys(q.Header)) {
		switch name {
		case "User-Agent", "Accept-Encoding", "Content-Length", "Idempotency-Key", "X-Throng-Request":
		default:
			headers = append(headers, name+": "+strings.Join(q.Header[name], ", "))
		}
	}
	line += " [" + strings.Join(headers, "; ") + "] " + string(body)
	r.mu.Lock()
	r.seen = append(r.seen, strings.TrimSpace(line))
	r.mu.Unlock()
}

func (r *recorder) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

// TestWhatIsSent compares the requests of a chain with the documented meaning of each key of a step.
func TestWhatIsSent(t *testing.T) {
	tests := []struct{ step, want string }{
		{`get: /x`, `GET /x []`},
		{`post: /x`, `POST /x []`},
		{`delete: "/x/${params.n}"`, `DELETE /x/3 []`},
		{`put: /x, json: {}`, `PUT /x [Content-Type: application/json] {}`},
		{
			`patch: /x, json: {a: "${params.n}", b: [1, "${agent.id}", null], c: "n ${params.n}", d: 1.0, e: true}`,
			`PATCH /x [Content-Type: application/json] {"a":3,"b":[1,"a0",null],"c":"n 3","d":1,"e":true}`,
		},
		{`post: /x, json: "${steps.none.x}"`, `POST /x [Content-Type: application/json] null`},
		{
			`post: /x, form: {a: "1 2", b: "${[1, 'é&']}", c: "${steps.none}", d: null, "e f": "${params.n}"}`,
			`POST /x [Content-Type: application/x-www-form-urlencoded] a=1+2&b=1&b=%C3%A9%26&e+f=3`,
		},
		{`post: /x, body: "plain ${params.n}"`, `POST /x [Content-Type: text/plain; charset=utf-8] plain 3`},
		{`post: /x, body: {a: "${params.n}"}, headers: {content-type: text/yaml}`, `POST /x [Content-Type: text/yaml] {"a":3}`},
		{`get: /x, query: {a: "b c", n: "${params.n}", l: [1, "${agent.id}"], gone: "${steps.none.y}", no: null}`, `GET /x?a=b+c&n=3&l=1&l=a0 []`},
		{`get: "/x?k=${agent.id}&", query: {a: 1}`, `GET /x?k=a0&&a=1 []`},
		{`get: /x, private: true`, `GET /x []`},
		{`get: /x, headers: {x-a: "${agent.id}", X-B: 2}`, `GET /x [X-A: a0; X-B: 2]`},
		{`get: "/p/${odd}/r"`, `GET /p/a%2Fb%3Fc%23d%20%25%C3%A9/r []`},
		{`get: "/p?q=${odd}&r=${odd}"`, `GET /p?q=a%2Fb%3Fc%23d+%25%C3%A9&r=a%2Fb%3Fc%23d+%25%C3%A9 []`},
		{`get: "/p/x-${dots}-y/$${z}"`, `GET /p/x-..-y/$%7Bz%7D []`},
		{`get: "${'/a/b?c=' + '1'}"`, `GET /a/b?c=1 []`},
		{`get: "${'/a/' + agent.id + '?c=1 2'}"`, `GET /a/a0?c=1+2 []`},
		{`get: "/p/${{'}': odd[:1]}['}']}/${agent.id}"`, `GET /p/a/a0 []`},
	}
	for _, tt := range tests {
		t.Run(tt.step, func(t *testing.T) {
			var r recorder
			row := stage{
				address: serve(t, r.handler), functions: "odd = 'a/b?c#d %é'\ndots = '..'\n",
				steps: "step none: {kind: emit, event: e, when: false}\nstep a: {kind: http, service: shop, " + tt.step + "}",
			}.one(t)
			if got := r.requests(); row.Outcome != engine.OK || len(got) != 1 || got[0] != tt.want {
				t.Errorf("%v %s\n got %q\nwant %q", row.Outcome, row.Error, got, tt.want)
			}
		})
	}
}

// TestWhatIsNotSent checks that values that would change other parts of the request fail their step before anything is
// journaled or sent.
func TestWhatIsNotSent(t *testing.T) {
	const values = `
nasty = {"climb": "../admin", "dots": "..", "back": "..\\x", "empty": "", "host": "//evil.example/", "url": "http://evil.example", "none": None,
    "lines": "a\r\nX-Evil: 1", "nul": "a\x00b", "fragment": "/a#b"}
def value(agent, name):
    return nasty[name]
`
	tests := []struct{ step, says string }{
		{`post: "/p/${value(agent, 'climb')}"`, "climbs"},
		{`post: "/p/${value(agent, 'dots')}/x"`, "climbs"},
		{`post: "/p/${value(agent, 'back')}"`, "climbs"},
		{`post: "/p/${value(agent, 'empty')}"`, "is empty"},
		{`post: "/p/${value(agent, 'none')}?x"`, "is empty"},
		{`post: "${value(agent, 'host')}"`, "names a host"},
		{`post: "${value(agent, 'url')}"`, "names a host"},
		{`post: "${value(agent, 'fragment')}"`, "never sent"},
		{`post: /x, headers: {X-A: "${value(agent, 'lines')}"}`, "the header X-A has a line break"},
		{`post: /x, headers: {X-A: "${value(agent, 'nul')}"}`, "the header X-A has a line break"},
		{`post: /x, json: "${[value, agent.id]}"`, "is not data"},
		{`post: /x, query: {a: "${(value, agent.id)[0]}"}`, "function"},
	}
	for _, tt := range tests {
		t.Run(tt.step, func(t *testing.T) {
			var r recorder
			st := stage{
				address: serve(t, r.handler), functions: values, journal: &enginetest.Journal{}, secret: "s3cret", tag: true,
				steps: "step a: {kind: http, service: shop, " + tt.step + "}",
			}
			row := st.one(t)
			if row.Class != engine.Script || !strings.Contains(row.Error, tt.says) || strings.Contains(row.Error, "s3cret") {
				t.Errorf("%v, class %q: %s; want %q", row.Outcome, row.Class, row.Error, tt.says)
			}
			if n := len(enginetest.Of[engine.IntentRow](st.journal)); n+len(r.requests()) > 0 {
				t.Errorf("%d intents, requests %q", n, r.requests())
			}
		})
	}
}

// TestSignIn checks the Authorization header.
func TestSignIn(t *testing.T) {
	for _, tt := range []struct {
		name, secret, bearer string
		mock                 bool
		want                 string
	}{
		{"mock", "s3cret", "", true, "[Authorization: Bearer s3cret.a0]"},
		{"mock in place of another", "s3cret", "TOKEN", true, "[Authorization: Bearer s3cret.a0]"},
		{"bearer", "t0ken\n", "TOKEN", false, "[Authorization: Bearer t0ken]"},
		{"a service in place of the mock", "", "", false, "[]"},
	} {
		var r recorder
		stage{
			address: serve(t, r.handler), secret: tt.secret, tag: tt.mock, steps: "step a: {kind: http, service: shop, get: /}",
			before: func(c *Chain) { c.Body.Steps[0].action.(*request).service.Bearer = tt.bearer },
		}.one(t)
		if got := r.requests(); len(got) != 1 || !strings.HasSuffix(got[0], tt.want) {
			t.Errorf("%s: got %q, want %s", tt.name, got, tt.want)
		}
	}
	row := stage{
		address: serve(t, nil), secret: "with\x00nul", tag: true, steps: "step a: {kind: http, service: shop, get: /}",
	}.one(t)
	if row.Class != engine.Script || strings.Contains(row.Error, "with") && !strings.Contains(row.Error, "with a") || strings.Contains(row.Error, "nul") {
		t.Errorf("a broken secret: %s", row.Error)
	}
}

// TestOutput checks what expressions see of a response.
func TestOutput(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-RateLimit-Remaining", "7")
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b")
		switch r.URL.Path {
		case "/record":
			js(w, 200, `{"items": 1, "status": "mine", "body": 2, "headers": 3, "big": 12345678901234567890, "f": 2.0}`)
		case "/list":
			js(w, 201, `[1, {"a": null}]`)
		case "/text":
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, `{"a": 1}`+"\xff")
		case "/empty":
			w.WriteHeader(204)
		case "/problem":
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(404)
			_, _ = io.WriteString(w, `{"detail": "no"}`)
		}
	})
	for _, tt := range []struct{ step, shows, want string }{
		{
			"/record", `[steps.a.items, steps.a.status, steps.a.body.status, steps.a.body.headers, steps.a.big, steps.a.f, [n for n in steps.a]]`,
			`[1,200,"mine",3,12345678901234567890,2,["status","headers","body","items","big","f"]]`,
		},
		{
			"/list", `[steps.a.status, steps.a.body[1].a, steps.a.headers["x-two"], "x-ratelimit-remaining" in steps.a.headers, "date" in steps.a.headers]`,
			`[201,null,"a, b",false,false]`,
		},
		{
			"/list", `[steps.a[0], steps.a[-1].a, len(steps.a), steps.a[1:], [type(x) for x in steps.a], 1 in steps.a, pick(steps.a[:1]), len(sample(steps.a, 2)), steps.a["status"]]`,
			`[1,null,2,[{"a":null}],["int","record"],true,1,2,201]`,
		},
		{"/text", `steps.a.body`, `"{\"a\": 1}` + "\uFFFD" + `"`},
		{"/empty", `[steps.a.status, steps.a.body]`, `[204,null]`},
		{"/problem, expect: 404", `steps.a.detail`, `"no"`},
	} {
		row := stage{
			address: address, steps: "step a: {kind: http, service: shop, get: " + tt.step + "}\nstep b: {kind: emit, event: e, data: '${" + tt.shows + "}'}",
		}.one(t)
		if got := events(&row); got != "e="+tt.want {
			t.Errorf("%s: got %s, want %s; %s", tt.step, got, tt.want, row.Error)
		}
	}
}

// TestRecordsOfRequests checks the row of a session whose requests are refused, fail and continue.
func TestRecordsOfRequests(t *testing.T) {
	var n int
	var mu sync.Mutex
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		n++
		switch {
		case r.URL.Path == "/flaky" && n == 1:
			w.WriteHeader(500)
		case r.URL.Path == "/flaky" && n == 2:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(429)
		case r.URL.Path == "/missing":
			js(w, 404, `{"detail": "bad token s3cret.a0"}`)
		case r.URL.Path == "/garbled":
			js(w, 200, `{`)
		default:
			js(w, 200, `{}`)
		}
	})
	row := stage{address: address, secret: "s3cret", tag: true, change: func(s *engine.Settings) { s.Retry.Attempts = 4 }, steps: `
step a:
  kind: if
  condition: "True"
  then:
    step b: {kind: http, service: shop, get: /flaky}
step c: {kind: http, service: shop, post: /garbled, retry: {attempts: 2, wait: 0}, default: {x: 1}}
step d: {kind: http, service: shop, get: /missing}
`}.one(t)
	if got, want := steps(&row), "a:ok a.b:ok c:failed:bad_answer d:failed:client_error"; got != want {
		t.Fatalf("got %s, want %s: %s", got, want, row.Error)
	}
	for i, want := range []struct {
		attempts int
		statuses []int
	}{{0, nil}, {2, []int{500, 429, 200}}, {2, []int{200, 200}}, {1, []int{404}}} {
		if got := row.Steps[i]; got.Attempts != want.attempts || !slices.Equal(got.Statuses, want.statuses) {
			t.Errorf("%s: %d attempts, %v; want %d, %v", got.Path, got.Attempts, got.Statuses, want.attempts, want.statuses)
		}
	}
	var held, service time.Duration
	for _, s := range row.Steps[1:] {
		held, service = held+s.Throttled, service+s.Service
	}
	if outer := row.Steps[0]; outer.Throttled != 0 || outer.Service != 0 || row.Throttled != held || row.Service != service || row.Throttled+row.Service > row.Total {
		t.Errorf("the if has %s held, %s service; the row %s and %s, its steps %s and %s, in %s",
			outer.Throttled, outer.Service, row.Throttled, row.Service, held, service, row.Total)
	}
	if strings.Contains(row.Error, "s3cret") || !strings.Contains(row.Error, "bad token") {
		t.Errorf("error %s", row.Error)
	}
}

func TestRetriesOfAStep(t *testing.T) {
	run := engine.Retry{Attempts: 5, Wait: 2 * time.Second, Max: time.Minute}
	for _, tt := range []struct {
		step string
		want engine.Retry
	}{
		{"{}", run},
		{"{attempts: 2}", engine.Retry{Attempts: 2, Wait: 2 * time.Second, Max: time.Minute}},
		{"{wait: 0}", engine.Retry{Attempts: 5, Wait: 0, Max: time.Minute}},
		{"{wait: 5m}", engine.Retry{Attempts: 5, Wait: 5 * time.Minute, Max: 5 * time.Minute}},
		{"{wait: 5, max: 10}", engine.Retry{Attempts: 5, Wait: 5 * time.Second, Max: 10 * time.Second}},
	} {
		st := stage{steps: "step a: {kind: http, service: shop, get: /, retry: " + tt.step + "}"}
		c, report, _ := st.read(t)
		if err := report.Err(); err != nil {
			t.Fatal(err)
		}
		if got := c.Body.Steps[0].retry.Over(run); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.step, got, tt.want)
		}
	}
}
