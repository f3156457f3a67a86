package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// TestSecrets stores, checks and removes a secret. Its value is never shown.
func TestSecrets(t *testing.T) {
	keyring.MockInit()
	data := t.TempDir()
	secret := func(input string, args ...string) (code int, said string) {
		var out, err bytes.Buffer
		args = append(append([]string{"secret"}, args...), "--data", data)
		code = execute(args, &terminal{in: strings.NewReader(input), out: &out, err: &err, hooks: hooks{trusts: true}})
		said = out.String() + err.String()
		if strings.Contains(said, "hunter2") {
			t.Errorf("%q shows the value:\n%s", args, said)
		}
		return code, said
	}
	for _, tt := range []struct {
		input string
		args  []string
		code  int
		says  string
	}{
		{"", []string{"check", "THRONG_TEST_SECRET"}, exitUsage, "neither in the environment nor in the keychain"},
		{"hunter2\n", []string{"set", "THRONG_TEST_SECRET"}, exitDone, "THRONG_TEST_SECRET is in the keychain"},
		{"", []string{"check", "THRONG_TEST_SECRET"}, exitDone, "THRONG_TEST_SECRET is in the keychain"},
		{"", []string{"set", "THRONG_TEST_SECRET"}, exitUsage, "is empty"},
		{strings.Repeat("hunter2 ", maxSecret), []string{"set", "THRONG_TEST_SECRET"}, exitFailed, "longer than 64 kB"},
		{"hunter2", []string{"set", "two words"}, exitUsage, "invalid name"},
		{"", []string{"forget", "THRONG_TEST_SECRET"}, exitDone, "removed from the keychain"},
		{"", []string{"check", "THRONG_TEST_SECRET"}, exitUsage, "throngctl secret set THRONG_TEST_SECRET"},
	} {
		if code, said := secret(tt.input, tt.args...); code != tt.code || !strings.Contains(said, tt.says) {
			t.Errorf("%q: exit code %d, want %d\n%s", tt.args, code, tt.code, said)
		}
	}
	t.Setenv("THRONG_TEST_SECRET", "hunter2")
	if code, said := secret("", "check", "THRONG_TEST_SECRET"); code != exitDone || !strings.Contains(said, "THRONG_TEST_SECRET is in the environment") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	keyring.MockInitWithError(errors.New("no bus"))
	if code, said := secret("hunter2", "set", "THRONG_TEST_SECRET"); code != exitFailed || !strings.Contains(said, "the keychain cannot be used: no bus") {
		t.Errorf("without a keychain: exit code %d\n%s", code, said)
	}
}

// members is a day at the mock for shoppers who log in.
const members = `
population: {count: 12}
clock: {cycles: 2}
services:
  shop:
    kind: http
    url: mock:shop
    headers: {X-Shopping-Session-Id: "${session.uuid}"}
    auth: {login: {post: /auth/login, json: {user: "${agent.id}", password: "secret:SHOP_PASSWORD"}, token: body.access_token}}
chain shop:
  step browse: {kind: http, service: shop, get: /api/products/search, query: {query: Dairy, limit: 3}}
  step fill:
    kind: for
    each: steps.browse.products
    as: item
    do:
      step add: {kind: http, service: shop, post: /api/cart/items, json: {product_id: "${item.id}", quantity: 1}}
  step buy: {kind: http, service: shop, post: /api/orders, expect: [201]}
  step bought: {kind: emit, event: order, data: "${steps.buy.order.totals}"}
`

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLoginAtTheMock checks that the results do not depend on how often tokens expire or on a kill, and that the mock needs
// no password.
func TestLoginAtTheMock(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "members.yaml"), members)
	day := func(data string, more ...string) []string {
		return append([]string{
			"run", file, "--data", data, "--seed", "7", "--mock-latency", "none", "--retry-wait", "1ms", "--export", filepath.Join(data, "out"),
			"--mock-fault", "server_error=0.05",
		}, more...)
	}
	calm := t.TempDir()
	code, out, stderr := ctl(t, day(calm, "--max-concurrent", "1")...)
	if code != exitDone || !strings.Contains(out, "exact") {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	events := read(t, calm, "out", "events.csv")
	if n := strings.Count(events, ",order,"); n != 24 {
		t.Fatalf("%d orders", n)
	}
	compare := func(t *testing.T, data string) {
		t.Helper()
		if got := read(t, data, "out", "events.csv"); got != events {
			t.Errorf("events.csv differs: %s", difference(events, got))
		}
		if want, got := read(t, calm, "out", "sessions.csv"), read(t, data, "out", "sessions.csv"); got != want {
			t.Errorf("sessions.csv differs: %s", difference(want, got))
		}
		checkOrders(t, data, events)
	}
	expiring := []string{"--max-concurrent", "4", "--mock-fault", "token_requests=2"}
	t.Run("expiring", func(t *testing.T) {
		data := t.TempDir()
		if code, out, stderr := ctl(t, day(data, expiring...)...); code != exitDone {
			t.Fatalf("exit code %d\n%s%s", code, out, stderr)
		}
		compare(t, data)
		if timings := read(t, data, "out", "timings.csv"); strings.Contains(timings, "login") {
			t.Errorf("a login is a step:\n%s", timings)
		}
	})
	for _, kill := range []string{"request:3", "request:20", "request:77", "commit:9"} {
		t.Run(kill, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			cmd, out, stderr := process(t, []string{killEnv + "=" + kill}, day(data, expiring...)...)
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the run was not killed: %v\n%s%s", err, out, stderr)
			}
			if code, out, stderr := ctl(t, "resume", "--data", data, "--export", filepath.Join(data, "out")); code != exitDone {
				t.Fatalf("resume: exit code %d\n%s%s", code, out, stderr)
			}
			compare(t, data)
		})
	}
}

// secretive is a scenario with secrets for %s: a login, its own token, a private answer, and steps that fail.
const secretive = `
population: {count: 6}
clock: {cycles: 2}
services:
  door:
    kind: http
    url: %[1]s
    auth: {login: {post: /auth/login, json: {user: "${agent.id}", password: "secret:THRONG_TEST_PASSWORD"}, token: body.access.token}}
  own:
    kind: http
    url: %[1]s
    auth: {jwt: {secret: "secret:THRONG_TEST_KEY", claims: {sub: "${agent.id}"}}}
chain c:
  step look: {kind: http, service: own, get: /open}
  step code: {kind: http, service: door, post: /code, private: true}
  step use: {kind: http, service: door, post: /open, json: {code: "${steps.code.code}"}}
  step told: {kind: emit, event: told, data: "${len(steps.code.code)}"}
  step refused: {kind: http, service: own, post: /refuse, on_error: continue}
  step no: {kind: http, service: door, post: /refuse, private: true, when: agent.index == 3}
`

// doorkeeper is a server that issues tokens and codes, records all secrets that it issued or received, and repeats requests
// in its errors.
type doorkeeper struct {
	mu    sync.Mutex
	given map[string]bool
}

func (d *doorkeeper) give(format string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := fmt.Sprintf(format, len(d.given))
	d.given[text] = true
	return text
}

func (d *doorkeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	d.mu.Lock()
	known := d.given[token]
	d.mu.Unlock()
	var body struct{ User, Password string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	switch {
	case r.URL.Path == "/auth/login" && body.Password == "pass-hunter2":
		fmt.Fprintf(w, `{"access": {"token": %q}}`, d.give("tok-%d-x7Kq"))
	case !known && strings.Count(token, ".") != 2:
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/code":
		fmt.Fprintf(w, `{"code": %q}`, d.give("code-%d-9Zw"))
	case r.URL.Path == "/refuse":
		d.mu.Lock()
		d.given[token] = true
		d.mu.Unlock()
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"detail": "not with %s"}`, token)
	default:
		fmt.Fprint(w, `{"open": true}`)
	}
}

// TestNothingSecretIsKept searches the files of the store, its stored requests, the export and the output of a run for
// every secret of the run.
func TestNothingSecretIsKept(t *testing.T) {
	keyring.MockInit()
	door := &doorkeeper{given: map[string]bool{"pass-hunter2": true, "key-hunter2": true}}
	server := httptest.NewServer(door)
	defer server.Close()
	t.Setenv("THRONG_TEST_PASSWORD", "pass-hunter2")
	if code := execute([]string{"secret", "set", "THRONG_TEST_KEY"}, &terminal{in: strings.NewReader("key-hunter2"), out: new(bytes.Buffer), err: new(bytes.Buffer)}); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	file := write(t, filepath.Join(t.TempDir(), "secretive.yaml"), fmt.Sprintf(secretive, server.URL))
	data := t.TempDir()
	code, out, stderr := ctl(t, "run", file, "--data", data, "--keep-share", "1", "--export", filepath.Join(data, "out"))
	if !strings.Contains(out, "12 (100%)") && !strings.Contains(out, "12") || len(door.given) < 20 {
		t.Fatalf("exit code %d, %d secrets\n%s%s", code, len(door.given), out, stderr)
	}
	kept := out + stderr + requests(t, data, out)
	err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			kept += read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(kept, "not with …") || !strings.Contains(kept, ",told,") {
		t.Error("the run did not produce the expected events")
	}
	for secret := range door.given {
		if strings.Contains(kept, secret) {
			t.Errorf("%s is stored", secret)
		}
	}
}

// requests returns the stored requests of a run as text.
func requests(t *testing.T, data, out string) string {
	t.Helper()
	run := engine.RunID(regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)[1])
	store, err := sqlite.Open(data, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	var all strings.Builder
	for cycle := range 2 {
		for agent := range 6 {
			asked, err := store.Requests(context.Background(), run, cycle, agent)
			if err != nil || len(asked) < 4 {
				t.Errorf("agent %d: %d requests, %v", agent, len(asked), err)
			}
			for _, r := range asked {
				fmt.Fprintf(&all, "%s %s %s\n", r.Path, r.Error, r.Output)
			}
		}
	}
	return all.String()
}
