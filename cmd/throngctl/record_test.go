package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/importer/exchange"
	"github.com/throng-sim/throng/engine/importer/journey"
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
	shop, err := mock.Start(mock.Config{Secret: "canary-shop-secret-1", Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer shop.Close()
	dir := t.TempDir()
	var all []*exchange.Recording
	for i, visit := range []struct{ user, search string }{{"ann", "coffee"}, {"ben", "tea"}} {
		file := filepath.Join(dir, fmt.Sprintf("visit%d.har", i))
		address, end := recordVisit(t, "--target", shop.URL(), "-o", file)
		(&shopper{t: t, address: address}).visit("canary-shop-secret-1", visit.user, visit.search, 1)
		out := end()
		for _, want := range []string{"POST   /api/orders  201", "8 requests recorded in " + file, "throngctl import " + file, "contains passwords"} {
			if !strings.Contains(out, want) {
				t.Errorf("the output lacks %q:\n%s", want, out)
			}
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := exchange.ReadHAR(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	for name, recordings := range map[string][]*exchange.Recording{"one": all[:1], "two": all} {
		t.Run(name, func(t *testing.T) {
			d, err := journey.Draft(recordings, journey.Options{})
			if err != nil {
				t.Fatal(err)
			}
			runDraft(t, d, len(recordings) == 1)
		})
	}
}

// runDraft writes a draft, and runs it with 20 agents.
func runDraft(t *testing.T, d *importer.Draft, decided bool) {
	t.Helper()
	dir := t.TempDir()
	for i := range d.Steps {
		d.Steps[i].Think = importer.Think{Median: time.Millisecond}
	}
	w := d.Write()
	if bytes.Contains(w.Text, []byte("canary")) {
		t.Errorf("a secret is in the file:\n%s", w.Text)
	}
	if decided != (len(w.Open) == 0) {
		t.Errorf("open: %v", w.Open)
	}
	file := filepath.Join(dir, "shop.yaml")
	if err := os.WriteFile(file, w.Text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range d.Secrets {
		t.Setenv(s.Name, s.Value)
	}
	code, out, errs := ctl(t, "run", file, "--data", dir, "--set", "agents=20", "--allow", strings.TrimPrefix(d.Services[0].URL, "http://"))
	if code != 0 || !strings.Contains(out, "20") {
		t.Errorf("exit code %d: %s%s\n%s", code, out, errs, w.Text)
	}
}
