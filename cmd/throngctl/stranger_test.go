package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// asPerson runs throngctl as a user does: scenario files are untrusted.
func asPerson(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	var out bytes.Buffer
	code = execute(args, &terminal{in: strings.NewReader(""), out: &out, err: &out, hooks: hooks{host: unseen}})
	return code, out.String()
}

// admin is a local program that untrusted files would like to call. It records the requests.
type admin struct {
	*httptest.Server
	mu    sync.Mutex
	heard []string
}

func newAdmin(t *testing.T) *admin {
	t.Helper()
	a := &admin{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.heard = append(a.heard, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Aws"))
		_, _ = w.Write([]byte(`{}`))
	}))
	t.Cleanup(a.Close)
	return a
}

// took returns the requests since the last call.
func (a *admin) took() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.heard = nil }()
	return a.heard
}

func (a *admin) address() string { return strings.TrimPrefix(a.URL, "http://") }

// mystery is an untrusted scenario with a local program, and secrets that many users have.
const mystery = `
population: {count: 2}
services:
  helper: {kind: http, url: %q, auth: {bearer: secret:OPENAI_API_KEY}, headers: {X-Aws: secret:AWS_SECRET_ACCESS_KEY}}
chain c: {step reset: {kind: http, service: helper, post: /admin/reset}}
`

// TestLoopbackIsNotConsent checks that no command sends requests to a local port of an untrusted file before it is allowed,
// and that the permission is stored for the file, its addresses and its secrets.
func TestLoopbackIsNotConsent(t *testing.T) {
	keyring.MockInit()
	t.Setenv("OPENAI_API_KEY", "sk-stranger-4711")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "aws-stranger-4711")
	a, data := newAdmin(t), t.TempDir()
	file := write(t, filepath.Join(t.TempDir(), "mystery.yaml"), fmt.Sprintf(mystery, a.URL))
	run := []string{"run", file, "--data", data, "--no-dashboard", "--seed", "1"}
	refused := "would send requests with the secrets AWS_SECRET_ACCESS_KEY and OPENAI_API_KEY to " + a.address()
	for _, args := range [][]string{run, {"try", file, "--data", data}, {"calibrate", file, "--data", data}} {
		code, said := asPerson(t, args...)
		if code != exitUsage || !strings.Contains(said, refused) || !strings.Contains(said, "--allow "+a.address()) {
			t.Errorf("%s: code %d\n%s", args[0], code, said)
		}
	}
	if _, said := asPerson(t, "check", file, "--data", data); !strings.Contains(said, "nothing was sent to "+a.address()) || !strings.Contains(said, "--allow "+a.address()) {
		t.Errorf("check:\n%s", said)
	}
	if _, said := asPerson(t, "validate", file, "--data", data); !strings.Contains(said, "not allowed yet: needs --allow "+a.address()) {
		t.Errorf("validate:\n%s", said)
	}
	if heard := a.took(); len(heard) > 0 {
		t.Fatalf("before permission, it received %q", heard)
	}
	if code, said := asPerson(t, append(slices.Clone(run), "--allow", a.address())...); code != exitDone {
		t.Fatalf("allowed: code %d\n%s", code, said)
	}
	if heard := a.took(); len(heard) != 2 || heard[0] != "POST /admin/reset Bearer sk-stranger-4711aws-stranger-4711" {
		t.Fatalf("after permission, it received %q", heard)
	}
	if code, said := asPerson(t, run...); code != exitDone || len(a.took()) != 2 {
		t.Errorf("the permission was not stored: code %d\n%s", code, said)
	}
	if code, said := asPerson(t, "allowed", "--data", data); code != exitDone || !strings.Contains(said, file) || !strings.Contains(said, "AWS_SECRET_ACCESS_KEY, OPENAI_API_KEY") {
		t.Errorf("allowed: code %d\n%s", code, said)
	}

	write(t, file, fmt.Sprintf(mystery, a.URL)+"# the same addresses and secrets\n")
	if code, said := asPerson(t, run...); code != exitDone || len(a.took()) != 2 {
		t.Errorf("another comment: code %d\n%s", code, said)
	}
	write(t, file, strings.Replace(fmt.Sprintf(mystery, a.URL), "OPENAI_API_KEY", "GITHUB_TOKEN", 1))
	t.Setenv("GITHUB_TOKEN", "ghp-stranger-4711")
	if code, said := asPerson(t, run...); code != exitUsage || !strings.Contains(said, "GITHUB_TOKEN") {
		t.Errorf("another secret: code %d\n%s", code, said)
	}
	other := newAdmin(t)
	write(t, file, fmt.Sprintf(mystery, other.URL))
	if code, said := asPerson(t, run...); code != exitUsage || !strings.Contains(said, other.address()) {
		t.Errorf("another port: code %d\n%s", code, said)
	}
	write(t, file, fmt.Sprintf(mystery, a.URL))
	if code, said := asPerson(t, "allowed", file, "--forget", "--data", data); code != exitDone {
		t.Errorf("forget: code %d\n%s", code, said)
	}
	if code, said := asPerson(t, run...); code != exitUsage || !strings.Contains(said, refused) {
		t.Errorf("forgotten: code %d\n%s", code, said)
	}
	if heard := append(a.took(), other.took()...); len(heard) > 0 {
		t.Errorf("received %q", heard)
	}
}

// TestOwnFilesAreTrusted checks that built-in scenarios, copies of them, and addresses in flags need no permission, except
// with secrets.
func TestOwnFilesAreTrusted(t *testing.T) {
	keyring.MockInit()
	t.Setenv("OPENAI_API_KEY", "sk-stranger-4711")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "aws-stranger-4711")
	a, data := newAdmin(t), t.TempDir()
	dir := t.TempDir()
	if code, said := asPerson(t, "scenarios", "shopping", "--copy", dir); code != exitDone {
		t.Fatalf("copy: code %d\n%s", code, said)
	}
	copies, err := filepath.Glob(filepath.Join(dir, "shopping*.yaml"))
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies %q, %v", copies, err)
	}
	for _, file := range []string{"shopping", copies[0]} {
		if _, said := asPerson(t, "validate", file, "--data", data, "--service", "shop="+a.URL); strings.Contains(said, "not allowed yet") {
			t.Errorf("%s needs permission:\n%s", file, said)
		}
	}
	plain := write(t, filepath.Join(dir, "plain.yaml"), "population: {count: 1}\nservices: {helper: {kind: http, url: \"mock:shop\"}}\nchain c: {step a: {kind: http, service: helper, get: /}}\n")
	if _, said := asPerson(t, "validate", plain, "--data", data, "--service", "helper="+a.URL); strings.Contains(said, "not allowed yet") {
		t.Errorf("an address in a flag needs permission:\n%s", said)
	}
	secret := write(t, filepath.Join(dir, "secret.yaml"), fmt.Sprintf(mystery, "http://127.0.0.1:1"))
	if _, said := asPerson(t, "validate", secret, "--data", data, "--service", "helper="+a.URL); !strings.Contains(said, "not allowed yet: needs --allow "+a.address()) {
		t.Errorf("secrets are sent to an address in a flag for an untrusted file:\n%s", said)
	}
	text, err := os.ReadFile(copies[0])
	if err != nil {
		t.Fatal(err)
	}
	write(t, copies[0], strings.Replace(string(text), "mock:shop", a.URL, 1))
	if _, said := asPerson(t, "validate", copies[0], "--data", data); !strings.Contains(said, "not allowed yet: needs --allow "+a.address()) {
		t.Errorf("a copy that was changed elsewhere needs no permission:\n%s", said)
	}
}

// intruder is a scenario that starts a program on a database server.
const intruder = `
population: {count: 1}
services: {db: {kind: postgres, url: %q%s}}
chain c: {step steal: {kind: sql, service: db, query: "do $$ begin copy (select 1) to program 'touch %s'; end $$"}}
`

// TestSQLOfStrangers tries to start a program on a real server: with trust authentication, with ~/.pgpass and with the
// address of the user's other programs. The server is not called before it is allowed, and .pgpass is not used even then.
func TestSQLOfStrangers(t *testing.T) {
	keyring.MockInit()
	t.Setenv("THRONG_DATABASE_URL", "")
	open, shut := pgtest.New(t, pgtest.Options{Trust: true}), pgtest.Shared(t)
	host, port, _ := strings.Cut(shut.Address(), ":")
	pgpass := write(t, filepath.Join(t.TempDir(), "pgpass"), fmt.Sprintf("%s:%s:*:%s:%s\n", host, port, pgtest.User, pgtest.Password))
	if err := os.Chmod(pgpass, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGPASSFILE", pgpass)
	t.Setenv("PGPASSWORD", pgtest.Password)
	t.Setenv("DATABASE_URL", shut.URL(pgtest.User, "postgres"))
	address := func(s *pgtest.Server) string {
		return (&url.URL{Scheme: "postgres", User: url.User(pgtest.User), Host: s.Address(), Path: "postgres"}).String()
	}
	for _, tt := range []struct {
		name, url, role, allow string
		starts                 bool   // whether the program starts after permission
		says                   string // otherwise, the error
	}{
		{"trust", address(open), "", open.Address(), true, ""},
		{"pgpass and PGPASSWORD", address(shut), "", shut.Address(), false, "password"},
		{"DATABASE_URL", "secret:DATABASE_URL", "", shut.Address(), true, ""},
		{"a role", address(open), ", role: pg_monitor", open.Address(), false, "pg_execute_server_program"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, data := forAll(t), t.TempDir()
			mark := filepath.Join(dir, "started")
			file := write(t, filepath.Join(t.TempDir(), "intruder.yaml"), fmt.Sprintf(intruder, tt.url, tt.role, mark))
			run := []string{"run", file, "--data", data, "--no-dashboard", "--breaker", "off", "--retries", "1"}
			started := func() bool {
				_, err := os.Stat(mark)
				return err == nil
			}
			for _, args := range [][]string{run, {"try", file, "--data", data}, {"check", file, "--data", data}} {
				code, said := asPerson(t, args...)
				if started() || !strings.Contains(said, "--allow "+tt.allow) || code == exitDone && args[0] != "check" {
					t.Errorf("%s before it was allowed: code %d, started %t\n%s", args[0], code, started(), said)
				}
			}
			_, said := asPerson(t, append(run, "--allow", tt.allow)...)
			if started() != tt.starts || !strings.Contains(said, tt.says) {
				_, more := asPerson(t, "export", "--what", "run", "--data", data)
				t.Errorf("allowed: started %t\n%s\n%s", started(), said, more)
			}
			if tt.starts {
				if _, said := asPerson(t, "check", file, "--data", data); !strings.Contains(said, "statements run as "+pgtest.User+", a superuser") {
					t.Errorf("check does not warn of a superuser:\n%s", said)
				}
			}
		})
	}
}

// forAll makes a folder that other users may write to, such as the server's user.
func forAll(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "throng-stranger") //nolint:usetesting // the folders of a test are closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // see above
		t.Fatal(err)
	}
	return dir
}

// TestResultsAreNoService checks that the database with the results of runs cannot be a service unless its full address is
// allowed.
func TestResultsAreNoService(t *testing.T) {
	keyring.MockInit()
	server := pgtest.Shared(t)
	database := server.Database(t)
	t.Setenv("THRONG_DATABASE_URL", database)
	t.Setenv("RESULTS", strings.Replace(database, "127.0.0.1", "localhost", 1))
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	named := strings.Replace(u.Host, "127.0.0.1", "localhost", 1)
	file := write(t, filepath.Join(t.TempDir(), "x.yaml"), "population: {count: 1}\nservices: {db: {kind: postgres, url: \"secret:RESULTS\"}}\nchain c: {step a: {kind: sql, service: db, query: \"select 1\"}}\n")
	for allow, code := range map[string]int{named: exitUsage, named + u.Path: exitDone} {
		got, said := asPerson(t, "try", file, "--data", t.TempDir(), "--allow", allow)
		if got != code || code == exitUsage && !strings.Contains(said, "which holds the results of your runs") {
			t.Errorf("--allow %s: code %d\n%s", allow, got, said)
		}
	}
}
