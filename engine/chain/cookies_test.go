package chain

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// club is a service that knows its visitors by a session cookie. Every change needs the newest CSRF token of the session, in a
// header, in a cookie and in the body. Each session is valid for a limited number of requests.
type club struct {
	uses int

	mu     sync.Mutex
	logins int
	left   map[string]int // uses of sessions
	tokens map[string]int // CSRF tokens of sessions so far
	orders map[string]int // effects by idempotency key
	wrong  []string       // requests with cookies that do not belong together
}

func newClub(uses int) *club {
	return &club{uses: uses, left: map[string]int{}, tokens: map[string]int{}, orders: map[string]int{}}
}

func (c *club) handler(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.URL.Path == "/login" {
		c.logins++
		sid := fmt.Sprintf("session-%d-of-%s", c.logins, r.FormValue("user"))
		c.left[sid] = c.uses
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: sid, HttpOnly: true, Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "csrftoken", Value: "csrf-of-" + sid + "-0", Path: "/", Expires: time.Now().Add(time.Hour)})
		w.WriteHeader(http.StatusNoContent)
		return
	}
	sid, err := r.Cookie("sid")
	if err != nil || c.left[sid.Value] == 0 {
		js(w, 401, `{"detail": "log in"}`)
		return
	}
	c.left[sid.Value]--
	switch r.URL.Path {
	case "/page":
		c.tokens[sid.Value]++
		http.SetCookie(w, &http.Cookie{Name: "csrftoken", Value: fmt.Sprint("csrf-of-", sid.Value, "-", c.tokens[sid.Value]), Path: "/"})
		js(w, 200, `{"page": 1}`)
	case "/orders":
		key := r.Header.Get("Idempotency-Key")
		if c.orders[key] > 0 {
			w.Header().Set("Idempotency-Replayed", "true")
			js(w, 201, fmt.Sprintf(`{"order": %q}`, r.URL.Query().Get("of")))
			return
		}
		csrf, err := r.Cookie("csrftoken")
		body, _ := io.ReadAll(r.Body)
		if want := fmt.Sprint("csrf-of-", sid.Value, "-", c.tokens[sid.Value]); err != nil || csrf.Value != want || r.Header.Get("X-Csrf-Token") != want || !strings.Contains(string(body), want) {
			c.wrong = append(c.wrong, fmt.Sprint(r.Header["Cookie"], r.Header["X-Csrf-Token"], string(body)))
			js(w, 403, `{"detail": "CSRF"}`)
			return
		}
		c.orders[key]++
		js(w, 201, fmt.Sprintf(`{"order": %q}`, r.URL.Query().Get("of")))
	default:
		js(w, 404, `{}`)
	}
}

const buying = `
step page: {kind: http, service: shop, get: /page}
step first: {kind: http, service: shop, post: /orders, query: {of: first}, form: {csrf: '${cookie("csrftoken")}'}, headers: {X-CSRF-Token: '${cookie("csrftoken")}'}}
step again: {kind: http, service: shop, get: /page}
step second: {kind: http, service: shop, post: /orders, query: {of: second}, json: {csrf: "token ${cookie('csrftoken')}"}, headers: {X-CSRF-Token: "${ cookie('csrftoken') }"}}
step more: {kind: http, service: shop, get: /page}
step third: {kind: http, service: shop, put: /orders, query: {of: third}, body: "${cookie('csrftoken')}", headers: {X-CSRF-Token: "${cookie('csrftoken')}"}}
step bought: {kind: emit, event: bought, data: "${[steps.first.order, steps.second.order, steps.third.order, steps.page.headers]}"}
`

// TestEveryCrashWithCookies kills runs after each row of their journals. The resumed ones must send the same cookies: those of the
// session that the answers in the journal belong to.
func TestEveryCrashWithCookies(t *testing.T) {
	const agents = 2
	byStep := "step enter: {kind: http, service: shop, post: /login, form: {user: '${agent.id}'}}\n" + strings.TrimPrefix(buying, "\n")
	for name, of := range map[string]stage{
		"a step":              {steps: byStep},
		"a login":             {steps: buying, auth: `{login: {post: /login, form: {user: "${agent.id}"}, cookie: sid}}`},
		"sessions expire":     {steps: buying, auth: `{login: {post: /login, form: {user: "${agent.id}"}}}`},
		"one after the other": {steps: buying, auth: `{login: {post: /login, form: {user: "${agent.id}"}}}`, change: func(s *engine.Settings) { s.SequentialSteps = true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uses := 1_000_000
			alone := of
			alone.cookies, alone.agents, alone.address, alone.journal = true, agents, serve(t, newClub(uses).handler), &enginetest.Journal{}
			want := enginetest.Results(alone.run(t))
			rows := len(alone.journal.Rows())
			if rows < 10 || strings.Count(want, " ok ") < agents || !strings.Contains(want, "csrftoken=…") || strings.Contains(want, "csrf-of") {
				t.Fatalf("%d rows of\n%s", rows, want)
			}
			if name == "sessions expire" {
				uses = 3
			}
			for dies := 1; dies <= rows; dies++ {
				door := newClub(uses)
				st := alone
				before := httptest.NewServer(http.HandlerFunc(door.handler))
				st.address, st.journal = before.URL, &enginetest.Journal{DieAfter: dies}
				kill(t, st)
				before.Close() // a request whose client is gone must not change the token of the session later
				st.address = serve(t, door.handler)
				st.journal = st.journal.Reopen()
				st.resume = st.journal.Resumption()
				if len(st.resume.Done) < agents && st.resume.Cycle == 0 {
					st.run(t)
				}
				if got := enginetest.Results(st.journal.Sessions()); got != want {
					t.Fatalf("killed after row %d:\n got %s\nwant %s", dies, got, want)
				}
				for _, entry := range entries(st.journal) {
					if !entry.Private && strings.Contains(string(entry.Output), "of-a") {
						t.Errorf("killed after row %d: the answer of %s contains a cookie: %q", dies, entry.Path, entry.Output)
					}
				}
				if len(door.orders) != 3*agents || len(door.wrong) > 0 {
					t.Errorf("killed after row %d: orders %v, refused %v", dies, door.orders, door.wrong)
				}
			}
		})
	}
}

// entries returns all entries of a journal.
func entries(j *enginetest.Journal) (all []engine.Entry) {
	for _, r := range enginetest.Of[engine.AnswerRow](j) {
		all = append(all, r.Entry)
	}
	for _, r := range enginetest.Of[engine.IntentRow](j) {
		all = append(all, r.Earlier...)
	}
	return all
}

// TestLoginCookiesOfAgents checks that an agent logs in once for all of its sessions, and that a session begins without the cookies
// of the one before.
func TestLoginCookiesOfAgents(t *testing.T) {
	var sent []string
	var mu sync.Mutex
	logins := 0
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/login" {
			logins++
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "x", Path: "/"})
			http.Redirect(w, r, "/home", http.StatusFound)
			return
		}
		sent = append(sent, r.URL.Path+" "+r.Header.Get("Cookie"))
		http.SetCookie(w, &http.Cookie{Name: "visited", Value: "1", Path: "/"})
	})
	st := stage{
		address: address, cookies: true, auth: `{login: {post: /login, form: {user: x}}}`, change: func(s *engine.Settings) { s.Cycles = 2 },
		steps: "step a: {kind: http, service: shop, get: /a, headers: {Cookie: lang=en}}\nstep b: {kind: http, service: shop, get: /b}\nstep c: {kind: http, service: shop, get: /c, auth: none}",
	}
	st.run(t)
	want := []string{"/a lang=en; sid=x", "/b sid=x; visited=1", "/c visited=1"}
	if want = slices.Concat(want, want); !slices.Equal(sent, want) || logins != 1 {
		t.Errorf("%d logins; sent %q, want %q", logins, sent, want)
	}
}

// TestCookiesOfParallelSteps checks that a step sends the cookies of the steps that it waits for, merged in file order, whichever is
// faster.
func TestCookiesOfParallelSteps(t *testing.T) {
	const text = `
step first: {kind: http, service: shop, get: /set/pref/0}
step slow: {kind: http, service: shop, get: /set/pref/1, parallel: true}
step fast: {kind: http, service: shop, get: /set/pref/2, parallel: true}
step other: {kind: http, service: shop, get: /set/own/3, parallel: true}
step after_slow: {kind: http, service: shop, get: /echo, depends_on: [slow]}
step after_both: {kind: http, service: shop, get: /echo, depends_on: [other, slow]}
step last: {kind: http, service: shop, get: /echo}
step told: {kind: emit, event: told, data: "${[steps.slow.body, steps.fast.body, steps.after_slow.body, steps.after_both.body, steps.last.body]}"}
`
	want := `told=["pref=0","pref=0","pref=1","pref=1; own=3","pref=2; own=3"]`
	for _, delays := range []map[string]time.Duration{{"1": 30 * time.Millisecond}, {"2": 30 * time.Millisecond}, {"3": 30 * time.Millisecond}} {
		for _, sequential := range []bool{false, true} {
			address := serve(t, func(w http.ResponseWriter, r *http.Request) {
				part := strings.Split(r.URL.Path, "/")
				if part[1] == "set" {
					select {
					case <-time.After(delays[part[3]]):
					case <-r.Context().Done():
					}
					http.SetCookie(w, &http.Cookie{Name: part[2], Value: part[3], Path: "/"})
				}
				_, _ = io.WriteString(w, r.Header.Get("Cookie"))
			})
			row := stage{address: address, cookies: true, steps: text, change: func(s *engine.Settings) { s.SequentialSteps = sequential }}.one(t)
			if got := events(&row); got != want {
				t.Errorf("delays %v, sequential %v: %s %s\nwant %s", delays, sequential, row.Error, got, want)
			}
		}
	}
}

// TestCookiesAreSecret checks that neither expressions nor reports nor errors contain the value of a cookie.
func TestCookiesAreSecret(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/in" {
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "canary-4711", Path: "/"})
			js(w, 200, `{"session": "canary-4711", "user": "ada"}`)
			return
		}
		js(w, 500, `"no such session: `+r.Header.Get("Cookie")+`"`)
	})
	st := stage{address: address, cookies: true, watch: &Watch{Trace: &Trace{}}, change: func(s *engine.Settings) { s.Retry.Attempts = 1 }, steps: `
step enter: {kind: http, service: shop, post: /in}
step told: {kind: emit, event: told, data: "${steps.enter.headers}"}
step out: {kind: http, service: shop, post: "/out/${cookie('sid')}"}
`}
	row := st.one(t)
	if text := fmt.Sprintf("%+v %s %+v", st.watch.Report, st.watch.Trace.Steps["enter"].Output, row); strings.Contains(text, "canary") || !strings.Contains(text, `"user":"ada"`) {
		t.Errorf("the value of a cookie is in %s", text)
	}
	if !strings.Contains(row.Error, "status 500") || !strings.Contains(events(&row), "sid=…; Path=/") {
		t.Errorf("got %s, %s", row.Error, events(&row))
	}
}

// TestMissingCookie checks what is said about a cookie that has not been set.
func TestMissingCookie(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "1", Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "elsewhere", Value: "1", Path: "/other"})
	})
	row := stage{address: address, cookies: true, steps: `
step a: {kind: http, service: shop, get: /}
step b: {kind: http, service: shop, post: /b, headers: {X-CSRF-Token: '${cookie("csrftoken")}'}}
`}.one(t)
	if want := "there is no cookie csrftoken to send; those set so far: sid"; row.Error != want || steps(&row) != "a:ok b:failed:script" {
		t.Errorf("got %q, %s", row.Error, steps(&row))
	}
}
