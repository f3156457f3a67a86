package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"
)

// plainMystery is an untrusted scenario that calls a local program, without secrets.
const plainMystery = `
population: {count: 1}
services: {helper: {kind: http, url: %q}}
chain c: {step reset: {kind: http, service: helper, post: /admin/reset}}
`

// TestConsentInATerminal checks the question about an address that is not allowed yet: "no" sends nothing, "yes" is stored
// for the file, and without a terminal the error names the flag.
func TestConsentInATerminal(t *testing.T) {
	keyring.MockInit()
	t.Setenv("THRONG_DATABASE_URL", "")
	a, data := newAdmin(t), t.TempDir()
	file := write(t, filepath.Join(t.TempDir(), "mystery.yaml"), fmt.Sprintf(plainMystery, a.URL))
	const question = "asks again. [y/N] "
	run := func(answers map[string]string, in bool) (code int, seen string) {
		t.Helper()
		s := newScreen(t, answers)
		s.echoes = true
		var out bytes.Buffer
		as := &terminal{in: s.tty, out: &out, err: s.tty, hooks: hooks{host: unseen}}
		if !in {
			as.in = strings.NewReader("y\n")
		}
		code = execute([]string{"run", file, "--data", data, "--no-dashboard"}, as)
		return code, out.String() + s.text()
	}
	address, hint := a.address(), "--allow "+a.address()
	if code, seen := run(nil, false); code != exitUsage || !strings.Contains(seen, hint) || strings.Contains(seen, question) {
		t.Errorf("in a pipe: exit code %d\n%s", code, seen)
	}
	for _, no := range []string{"", "n", "what"} {
		code, seen := run(map[string]string{question: no}, true)
		if code != exitUsage || strings.Count(seen, question) != 1 || !strings.Contains(seen, address+" gets requests") || !strings.Contains(seen, hint) {
			t.Errorf("answered %q: exit code %d\n%s", no, code, seen)
		}
	}
	if heard := a.took(); len(heard) > 0 {
		t.Fatalf("the service got %q before the address was allowed", heard)
	}
	if code, seen := run(map[string]string{question: "Y"}, true); code != exitDone || strings.Count(seen, question) != 1 || len(a.took()) != 1 {
		t.Errorf("answered yes: exit code %d\n%s", code, seen)
	}
	for _, in := range []bool{true, false} {
		if code, seen := run(nil, in); code != exitDone || strings.Contains(seen, question) || len(a.took()) != 1 {
			t.Errorf("the permission was not stored: exit code %d\n%s", code, seen)
		}
	}
}

// TestRefusedBeforeItWaits checks that a run with a later start and an address that is not allowed is refused immediately.
func TestRefusedBeforeItWaits(t *testing.T) {
	keyring.MockInit()
	a := newAdmin(t)
	file := write(t, filepath.Join(t.TempDir(), "mystery.yaml"), fmt.Sprintf(plainMystery, a.URL))
	at := time.Now().Add(3 * time.Hour).Format("15:04")
	code, said := asPerson(t, "run", file, "--data", t.TempDir(), "--no-dashboard", "--at", at)
	if code != exitUsage || !strings.Contains(said, "--allow "+a.address()) || strings.Contains(said, "Starts at") {
		t.Errorf("exit code %d\n%s", code, said)
	}
}
