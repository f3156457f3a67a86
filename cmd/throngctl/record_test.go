package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/throng-sim/throng/cmd/internal/app/importing"
	"github.com/throng-sim/throng/cmd/internal/app/recorder"
	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/mock"
)

// recordVisit starts throngctl record, and returns the address of the proxy and a function that stops it.
func recordVisit(t *testing.T, args ...string) (address string, end func() string) {
	t.Helper()
	cmd, _, stderr := process(t, nil, append([]string{"record", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, args...)...)
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	text := ""
	for !strings.Contains(text, "Press Ctrl+C") {
		line, err := lines.ReadString('\n')
		if text += line; err != nil {
			t.Fatalf("%v: %s%s", err, text, stderr)
		}
		if one := strings.TrimSpace(line); strings.HasPrefix(one, "http://") {
			address = one
		}
	}
	return address, func() string {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(lines)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, stderr)
		}
		return text + string(rest)
	}
}

// shopper visits the mock shop at an address.
type shopper struct {
	t       *testing.T
	address string
	token   string
	session string
}

// ask sends a request, and returns the text between two markers in its answer.
func (s *shopper) ask(method, path, body string, around ...string) string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.address+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("X-Shopping-Session-Id", s.session)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %d %s %v", method, path, resp.StatusCode, text, err)
	}
	if len(around) == 0 {
		return ""
	}
	_, rest, ok := strings.Cut(string(text), around[0])
	found, _, _ := strings.Cut(rest, around[1])
	if !ok {
		s.t.Fatalf("%s %s has no %s: %s", method, path, around[0], text)
	}
	return found
}

// visit calls the seven endpoints of the shopping scenario.
func (s *shopper) visit(password, user, search string, quantity int) {
	s.session = uuid.NewString()
	req, err := http.NewRequestWithContext(s.t.Context(), "POST", s.address+"/auth/login", strings.NewReader(fmt.Sprintf(`{"user": %q, "password": %q}`, user, password)))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	_, rest, ok := strings.Cut(string(text), `"access_token":"`)
	s.token, _, _ = strings.Cut(rest, `"`)
	if err != nil || !ok {
		s.t.Fatalf("login: %s %v", text, err)
	}
	s.ask("POST", "/api/shopping/session", "{}")
	product := s.ask("GET", "/api/products/search?query="+search+"&limit=5", "", `"products":[{"id":"`, `"`)
	s.ask("GET", "/api/products/"+product, "")
	s.ask("POST", "/api/cart/items", fmt.Sprintf(`{"product_id": %q, "quantity": %d}`, product, quantity))
	s.ask("GET", "/api/cart", "")
	s.ask("GET", "/api/coupons/eligible", "")
	s.ask("POST", "/api/orders", "")
}

// TestRecordedVisitsRun records two visits to the mock shop, makes a scenario of them, and runs it against the shop.
func TestRecordedVisitsRun(t *testing.T) {
	const password = "canary-shop-secret-1"
	shop, err := mock.Start(mock.Config{Secret: password, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shop.Close() })
	dir := t.TempDir()
	var files []string
	for i, visit := range []struct{ user, search string }{{"ann", "coffee"}, {"ben", "tea"}} {
		file := filepath.Join(dir, fmt.Sprintf("visit%d.har", i))
		address, end := recordVisit(t, "--target", shop.URL(), "-o", file)
		(&shopper{t: t, address: address}).visit(password, visit.user, visit.search, 1)
		out := end()
		for _, want := range []string{"POST   /api/orders  201", "8 requests recorded in " + file, "throngctl import " + file, "contains passwords"} {
			if !strings.Contains(out, want) {
				t.Errorf("the output lacks %q:\n%s", want, out)
			}
		}
		files = append(files, file)
	}
	users := filepath.Join(dir, "users.csv")
	var rows strings.Builder
	rows.WriteString("id,user\n")
	for i := range 20 {
		fmt.Fprintf(&rows, "a%d,shopper%d\n", i, i)
	}
	if err := os.WriteFile(users, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]importing.Options{
		"one": {Source: files[0], Users: users}, "two": {Source: files[0], Second: files[1], Users: users},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := importing.Read(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if w := runDraft(t, d); (o.Second == "") != (len(w.Open) == 0) {
				t.Errorf("open: %v", w.Open)
			}
		})
	}
}

// runDraft writes a draft, and runs it.
func runDraft(t *testing.T, d *importer.Draft) importer.Written {
	t.Helper()
	dir := t.TempDir()
	for i := range d.Steps {
		d.Steps[i].Think = importer.Think{Median: time.Millisecond}
	}
	w := d.Write()
	if bytes.Contains(w.Text, []byte("canary")) {
		t.Errorf("a secret is in the file:\n%s", w.Text)
	}
	for _, f := range append(d.Files, importer.File{Name: "visit.yaml", Text: w.Text}) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range d.Secrets {
		t.Setenv(s.Name, s.Value)
	}
	args := []string{"run", filepath.Join(dir, "visit.yaml"), "--data", dir, "--allow", strings.TrimPrefix(d.Services[0].URL, "http://")}
	code, out, errs := ctl(t, args...)
	if code != 0 || !strings.Contains(out, "(20 ok)") && !strings.Contains(out, "(10 ok)") {
		t.Errorf("exit code %d: %s%s\n%s", code, out, errs, w.Text)
	}
	return w
}

// formSite is a site of forms: a login with a session cookie and a hidden token, and orders with a token in a header.
func formSite(t *testing.T) *httptest.Server {
	t.Helper()
	var mu sync.Mutex
	sessions := make(map[string]string) // the token of each session
	mux := http.NewServeMux()
	signedIn := make(map[string]bool)
	session := func(r *http.Request) string {
		c, err := r.Cookie("sessionid")
		if err != nil {
			return ""
		}
		return c.Value
	}
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		id, token := uuid.NewString(), strings.ReplaceAll(uuid.NewString(), "-", "")
		sessions[id] = token
		http.SetCookie(w, &http.Cookie{Name: "sessionid", Value: id, Path: "/", HttpOnly: true})
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<html><form method="post"><input type="hidden" name="csrf_token" value="%s"><input name="username"><input name="password"></form></html>`, token)
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		id := session(r)
		if id == "" || r.FormValue("csrf_token") != sessions[id] || r.FormValue("username") != "ann" || r.FormValue("password") != "canary-form-1" {
			http.Error(w, "forbidden", http.StatusForbidden)
			return
		}
		fresh, token := uuid.NewString(), strings.ReplaceAll(uuid.NewString(), "-", "")
		delete(sessions, id)
		sessions[fresh], signedIn[fresh] = token, true
		http.SetCookie(w, &http.Cookie{Name: "sessionid", Value: fresh, Path: "/", HttpOnly: true})
		http.Redirect(w, r, "/account", http.StatusFound)
	})
	mux.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !signedIn[session(r)] {
			http.Error(w, "sign in first", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<html><head><meta name="csrf-token" content="%s"></head><a href="/items/it-77201">Lamp</a></html>`, sessions[session(r)])
	})
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !signedIn[session(r)] || r.Header.Get("X-CSRF-Token") != sessions[session(r)] {
			http.Error(w, "forged", http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id": "ord-5512"}`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// TestFormLoginRuns records a login with a hidden token and a session cookie, and runs the scenario made of it as it is.
func TestFormLoginRuns(t *testing.T) {
	server := formSite(t)
	file := filepath.Join(t.TempDir(), "login.har")
	r, err := recorder.Start(recorder.Config{Listen: "127.0.0.1:0", Target: server.URL, File: file})
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	send := func(method, path, kind, body, token string) string {
		req, err := http.NewRequestWithContext(t.Context(), method, r.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if body != "" {
			req.Header.Set("Content-Type", kind)
		}
		if token != "" {
			req.Header.Set("X-CSRF-Token", token)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode >= 300 {
			t.Fatalf("%s %s: %d %s %v", method, path, resp.StatusCode, text, err)
		}
		return string(text)
	}
	between := func(text, before, after string) string {
		_, rest, _ := strings.Cut(text, before)
		found, _, _ := strings.Cut(rest, after)
		return found
	}
	token := between(send("GET", "/login", "", "", ""), `value="`, `"`)
	page := send("POST", "/login", "application/x-www-form-urlencoded", "csrf_token="+token+"&username=ann&password=canary-form-1", "")
	send("POST", "/orders", "application/json", `{"item": "it-77201"}`, between(page, `content="`, `"`))
	if _, err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	d, err := importing.Read(t.Context(), importing.Options{Source: file})
	if err != nil {
		t.Fatal(err)
	}
	if w := runDraft(t, d); len(w.Open) > 0 || len(d.Steps) != 3 {
		t.Errorf("%d steps, open: %v", len(d.Steps), w.Open)
	}
}

// TestRecordOfABackendThatIsDown checks what the terminal says about a backend that does not answer, and about an empty recording.
func TestRecordOfABackendThatIsDown(t *testing.T) {
	down := httptest.NewServer(http.NotFoundHandler())
	host := strings.TrimPrefix(down.URL, "http://")
	down.Close()
	file := filepath.Join(t.TempDir(), "down.har")
	_, end := recordVisit(t, "--target", down.URL, "-o", file)
	if out := end(); !strings.Contains(out, "Warning: "+host+" did not answer: connection refused. Start the backend") || !strings.Contains(out, "No request was recorded, so no file was kept.") {
		t.Error(out)
	}
	address, end := recordVisit(t, "--target", down.URL, "-o", file)
	req, err := http.NewRequestWithContext(t.Context(), "GET", address+"/books", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if out := end(); !strings.Contains(out, "GET    /books  no answer: connection refused") {
		t.Error(out)
	}
	if code, _, errs := ctl(t, "import", file); code == 0 || !strings.Contains(errs, host+" did not answer: connection refused") {
		t.Errorf("import: %d %s", code, errs)
	}
}
