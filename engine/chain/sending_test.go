package chain

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// mill answers a form with redirects, and counts effects by idempotency key.
type mill struct {
	mu      sync.Mutex
	effects map[string]int
	seen    []string
}

func (m *mill) handler(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Cookie")+" "+string(body)))
	switch r.URL.Path {
	case "/api/forms":
		m.effects[r.Header.Get("Idempotency-Key")]++
		http.SetCookie(w, &http.Cookie{Name: "one", Value: "1", Path: "/"})
		w.Header().Set("Location", "/done?of=form")
		w.WriteHeader(http.StatusSeeOther)
	case "/done":
		http.SetCookie(w, &http.Cookie{Name: "two", Value: "2", Path: "/"})
		http.Redirect(w, r, "last", http.StatusFound)
	case "/last":
		js(w, 200, `{"done": true}`)
	case "/api/moved":
		w.Header().Set("Location", "/api/orders?from=moved")
		w.WriteHeader(http.StatusTemporaryRedirect)
	case "/api/orders":
		m.effects[r.Header.Get("Idempotency-Key")]++
		js(w, 201, `{"order": 1}`)
	case "/api/away":
		http.Redirect(w, r, "http://other.example.com/x?token=4711", http.StatusFound)
	case "/api/circle":
		http.Redirect(w, r, "/api/circle", http.StatusFound)
	default:
		js(w, 200, `"here"`)
	}
}

const redirected = `
step form: {kind: http, service: shop, post: /forms, form: {a: 1}}
step moved: {kind: http, service: shop, post: /moved, json: {b: 2}}
step after: {kind: http, service: shop, get: /after}
step done: {kind: emit, event: done, data: "${[steps.form.done, steps.form.headers, steps.moved.order]}"}
`

// TestEveryCrashWithRedirects kills runs after each row of their journals. No request that was answered may be sent again, and each
// changing one has its effect with one key.
func TestEveryCrashWithRedirects(t *testing.T) {
	server := &mill{effects: map[string]int{}}
	alone := stage{steps: redirected, cookies: true, follow: true, address: serve(t, server.handler) + "/api", journal: &enginetest.Journal{}}
	want := enginetest.Results(alone.run(t))
	sent := []string{
		"POST /api/forms  a=1", "GET /done?of=form one=1", "GET /last one=1; two=2", `POST /api/moved one=1; two=2 {"b":2}`,
		`POST /api/orders?from=moved one=1; two=2 {"b":2}`, "GET /api/after one=1; two=2",
	}
	if !slices.Equal(server.seen, sent) || !strings.Contains(want, " ok ") || !strings.Contains(want, `"set-cookie":"one=…; Path=/, two=…; Path=/"`) {
		t.Fatalf("sent %q\n%s", server.seen, want)
	}
	rows := len(alone.journal.Rows())
	if rows < 8 {
		t.Fatalf("%d rows", rows)
	}
	for dies := 1; dies <= rows; dies++ {
		server := &mill{effects: map[string]int{}}
		st := alone
		st.address, st.journal = serve(t, server.handler)+"/api", &enginetest.Journal{DieAfter: dies}
		kill(t, st)
		st.journal = st.journal.Reopen()
		st.resume = st.journal.Resumption()
		if len(st.resume.Done) < 1 && st.resume.Cycle == 0 {
			st.run(t)
		}
		if got := enginetest.Results(st.journal.Sessions()); got != want {
			t.Fatalf("killed after row %d:\n got %s\nwant %s", dies, got, want)
		}
		for _, s := range st.journal.Sessions() {
			for _, r := range s.Steps {
				if follows := map[string]int{"form": 2, "moved": 1}[r.Path]; r.Redirects != follows || r.Retries() > 1 {
					t.Errorf("killed after row %d: %s followed %d redirects, %d retries", dies, r.Path, r.Redirects, r.Retries())
				}
			}
		}
		if len(server.effects) != 2 {
			t.Errorf("killed after row %d: effects by key %v", dies, server.effects)
		}
	}
}

// TestRedirects checks which redirects are followed.
func TestRedirects(t *testing.T) {
	for _, tt := range []struct {
		step   string
		follow bool
		want   string
	}{
		{"get: /circle", true, "client_error more than 10 redirects, the last to /api/circle"},
		{"get: /away", true, "client_error it redirects to another host, http://other.example.com: nothing was sent there; if it is the right one, use it in `url` of the service shop"},
		{"get: /away", false, "client_error status 302 to http://other.example.com/x; redirects are not followed"},
		{"get: /away, redirects: manual, expect: [302]", true, " "},
		{"get: /away, expect: [302]", true, " "},
		{"post: /forms, redirects: follow", false, " "},
		{"get: /here", true, " "},
	} {
		server := &mill{effects: map[string]int{}}
		st := stage{steps: "step a: {kind: http, service: shop, " + tt.step + "}", follow: tt.follow, address: serve(t, server.handler) + "/api"}
		row := st.one(t)
		if got := row.Class.String() + " " + row.Error; got != tt.want && (tt.want != " " || row.Outcome != engine.OK) {
			t.Errorf("%s: got %q, want %q", tt.step, got, tt.want)
		}
	}
}

// TestMultipart checks what a server receives, and that the bytes of a request do not depend on the process.
func TestMultipart(t *testing.T) {
	var mu sync.Mutex
	var bodies, got []string
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, r.Header.Get("Content-Type")+"\n"+string(body))
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			t.Error(err)
			return
		}
		for _, name := range []string{"title", "tags", "key", "none"} {
			got = append(got, fmt.Sprint(name, r.MultipartForm.Value[name]))
		}
		for _, name := range []string{"photo", "table"} {
			h := r.MultipartForm.File[name][0]
			f, err := h.Open()
			if err != nil {
				t.Error(err)
				return
			}
			text, _ := io.ReadAll(f)
			got = append(got, fmt.Sprintf("%s %s %s %q", name, h.Filename, h.Header.Get("Content-Type"), text))
		}
	})
	st := stage{
		address: address, secrets: map[string]string{"KEY": "s3cret"}, files: map[string]string{"a/photo.png": "\x89PNG\r\n\x00", "t.csv": "a,b\n"},
		steps: `
step up:
  kind: http
  service: shop
  post: /up
  multipart:
    title: "of ${agent.id}"
    tags: [x, 2]
    key: secret:KEY
    none: ${None}
    photo: {file: a/photo.png}
    table: {file: t.csv, name: "${agent.id}.txt", type: text/plain}
`,
	}
	for range 2 {
		if row := st.one(t); row.Outcome != engine.OK {
			t.Fatal(row.Error)
		}
	}
	want := []string{
		"title[of a0]", "tags[x 2]", "key[s3cret]", "none[]",
		`photo photo.png image/png "\x89PNG\r\n\x00"`, `table a0.txt text/plain "a,b\n"`,
	}
	if want = slices.Concat(want, want); !slices.Equal(got, want) || len(bodies) != 2 || bodies[0] != bodies[1] {
		t.Errorf("got %q\nbodies %q", got, bodies)
	}
	_, report, _ := (&stage{steps: `step up: {kind: http, service: shop, post: /up, multipart: {a: {file: missing.png}, b: {name: x}, c: {file: t.csv, type: csv}}}`, files: st.files}).read(t)
	for _, want := range []string{"there is no file missing.png", "needs `file`", `"csv" is not a content type`} {
		if err := report.Err(); err == nil || !strings.Contains(fmt.Sprint(report.Problems()), want) {
			t.Errorf("got %v, want %s", fmt.Sprint(report.Problems()), want)
		}
	}
}

// TestMethods checks HEAD and OPTIONS, and answers that are compressed on request.
func TestMethods(t *testing.T) {
	var keys []string
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Method+r.Header.Get("Idempotency-Key"))
		w.Header().Set("Content-Length", "5")
		w.Header().Set("Content-Type", "application/json")
		if r.Method != http.MethodHead {
			_, _ = io.WriteString(w, `[1,2]`)
		}
	})
	row := stage{address: address, steps: `
step head: {kind: http, service: shop, head: /x}
step options: {kind: http, service: shop, options: /x}
step seen: {kind: emit, event: seen, data: "${[steps.head.body, steps.options.body, steps.head.headers]}"}
`}.one(t)
	if got := events(&row); got != `seen=[null,[1,2],{"content-length":"5","content-type":"application/json"}]` || !slices.Equal(keys, []string{"HEAD", "OPTIONS"}) {
		t.Errorf("%s %s, %q", row.Error, got, keys)
	}
}

// issuer is an OAuth 2.0 token endpoint with a resource. Its tokens are valid for some requests.
type issuer struct {
	mu     sync.Mutex
	asked  []string
	tokens int
	left   int
	lasts  int // seconds
}

func (i *issuer) handler(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if r.URL.Path == "/token" {
		_ = r.ParseForm()
		i.asked = append(i.asked, r.Header.Get("Authorization")+" "+r.PostForm.Encode())
		i.tokens++
		i.left = 2
		js(w, 200, fmt.Sprintf(`{"access_token": "t%d", "token_type": "bearer", "expires_in": %d}`, i.tokens, i.lasts))
		return
	}
	if r.Header.Get("Authorization") != fmt.Sprintf("Bearer t%d", i.tokens) || i.left == 0 {
		js(w, 401, `{}`)
		return
	}
	i.left--
	js(w, 200, `{"ok": true}`)
}

// TestOAuth2 checks both grants, where the client is sent, and that a token is renewed after a 401 and when it expires.
func TestOAuth2(t *testing.T) {
	const three = "step a: {kind: http, service: shop, get: /a}\nstep b: {kind: http, service: shop, get: /b}\nstep c: {kind: http, service: shop, get: /c}"
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("app:s3cret"))
	for _, tt := range []struct {
		auth, want string
		lasts      int
		tokens     int
	}{
		{`{grant: client_credentials, post: /token, client: app, secret: secret:KEY, scope: read write}`, basic + " grant_type=client_credentials&scope=read+write", 3600, 2},
		{`{grant: client_credentials, post: /token, client: app, secret: secret:KEY, client_auth: form, form: {audience: shop}}`, " audience=shop&client_id=app&client_secret=s3cret&grant_type=client_credentials", 3600, 2},
		{`{grant: password, post: /token, user: "${agent.id}", password: secret:KEY}`, " grant_type=password&password=s3cret&username=a0", 3600, 2},
		{`{grant: password, post: /token, client: app, user: "${agent.id}", password: "pw-${agent.index}"}`, " client_id=app&grant_type=password&password=pw-0&username=a0", 3600, 2},
	} {
		door := &issuer{lasts: tt.lasts}
		st := stage{steps: three, address: serve(t, door.handler), auth: "{oauth2: " + tt.auth + "}", secrets: map[string]string{"KEY": "s3cret"}}
		row := st.one(t)
		if row.Outcome != engine.OK || len(door.asked) != tt.tokens || door.asked[0] != tt.want {
			t.Errorf("%s: %s, %q\nwant %q", tt.auth, row.Error, door.asked, tt.want)
		}
		if row.Steps[2].Attempts != 1 {
			t.Errorf("%d attempts: a renewal counts", row.Steps[2].Attempts)
		}
	}
	door := &issuer{lasts: 1}
	slow := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/a" {
			<-time.After(time.Second)
		}
		door.handler(w, r)
	})
	st := stage{steps: three, address: slow, auth: `{oauth2: {grant: client_credentials, post: /token, client: app, secret: secret:KEY}}`, secrets: map[string]string{"KEY": "s3cret"}}
	if row := st.one(t); row.Outcome != engine.OK || len(door.asked) != 2 || !slices.Equal(row.Steps[1].Statuses, []int{200}) {
		t.Errorf("an expired token: %s, %d tokens, %v", row.Error, len(door.asked), row.Steps[1].Statuses)
	}
}
