package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/zalando/go-keyring"
	"golang.org/x/sys/unix"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
)

// screen is a terminal of a user: it records the output and types answers.
type screen struct {
	tty    *os.File // of the program
	echoes bool     // answers are visible
	mu     sync.Mutex
	seen   bytes.Buffer
}

// openTerminal returns both ends of a pseudo terminal: the user's and the program's.
func openTerminal(t *testing.T) (ours, tty *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return ours, tty
}

// newScreen returns a terminal. Whenever the output ends with a question in answers, it types the answer.
func newScreen(t *testing.T, answers map[string]string) *screen {
	t.Helper()
	ours, tty := openTerminal(t)
	s := &screen{tty: tty}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.answer(ours, answers)
	}()
	t.Cleanup(func() {
		_ = s.tty.Close()
		<-done // reading ends when the other side is closed
		_ = ours.Close()
	})
	return s
}

func (s *screen) answer(ours *os.File, answers map[string]string) {
	part := make([]byte, 4096)
	for {
		n, err := ours.Read(part)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.seen.Write(part[:n])
		text := s.seen.String()
		s.mu.Unlock()
		for question, answer := range answers {
			if strings.HasSuffix(text, question) {
				for !s.echoes && shows(ours) { // a person is slower
					runtime.Gosched()
				}
				_, _ = io.WriteString(ours, answer+"\n")
			}
		}
	}
}

// shows reports whether typed characters are visible.
func shows(f *os.File) bool {
	state, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil && state.Lflag&unix.ECHO != 0
}

// text returns all output so far.
func (s *screen) text() string {
	const bell = "\a"
	_, _ = io.WriteString(s.tty, bell)
	for {
		s.mu.Lock()
		text, whole := strings.CutSuffix(s.seen.String(), bell)
		s.mu.Unlock()
		if whole {
			return strings.ReplaceAll(text, bell, "")
		}
		runtime.Gosched()
	}
}

const locked = `
population: {count: 2}
services:
  one: {kind: http, url: %[1]s, auth: {bearer: secret:THRONG_TEST_ONE}}
  two: {kind: http, url: %[1]s, auth: {bearer: secret:THRONG_TEST_ONE}}
chain c:
  step a: {kind: http, service: one, get: /}
  step b: {kind: http, service: two, get: /}
`

// TestSecretsAreAskedFor checks that, in a terminal without a keychain, each secret is asked for once, is never visible,
// lasts as long as the process, and is asked for again by the next process.
func TestSecretsAreAskedFor(t *testing.T) {
	keyring.MockInitWithError(errors.New("no bus"))
	t.Setenv("THRONG_DATABASE_URL", "")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer typed-hunter2" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	file := write(t, filepath.Join(t.TempDir(), "asking.yaml"), fmt.Sprintf(locked, server.URL))
	const question = "value of THRONG_TEST_ONE (hidden, for this run only; press Enter to skip): "
	run := func(answer string) (code int, seen string) {
		t.Helper()
		t.Cleanup(func() { _ = secrets.Forget("THRONG_TEST_ONE") })
		s := newScreen(t, map[string]string{question: answer})
		var out bytes.Buffer
		code = execute([]string{"run", file, "--data", t.TempDir()}, &terminal{in: s.tty, out: &out, err: s.tty, hooks: hooks{trusts: true}})
		return code, out.String() + s.text()
	}
	if code, seen := run(""); code != exitUsage || !strings.Contains(seen, "service two: the secret THRONG_TEST_ONE is not in the environment") {
		t.Errorf("without an answer: exit code %d\n%s", code, seen)
	}
	for range 2 { // like two starts
		code, seen := run("typed-hunter2")
		if code != exitDone || strings.Count(seen, question) != 1 || strings.Contains(seen, "hunter2") ||
			!strings.Contains(seen, "the keychain cannot be used: no bus") {
			t.Errorf("exit code %d\n%s", code, seen)
		}
		if place, err := secrets.FindPlace("THRONG_TEST_ONE"); place != secrets.InMemory {
			t.Errorf("got place %s, %v", place, err)
		}
		_ = secrets.Forget("THRONG_TEST_ONE") // as if the program had ended
	}
	if code, _, stderr := ctl(t, "run", file, "--data", t.TempDir()); code != exitUsage || !strings.Contains(stderr, "export THRONG_TEST_ONE=") {
		t.Errorf("without a user to ask: exit code %d\n%s", code, stderr)
	}
}

// TestThePasswordIsAskedForAgain checks that the password of a saved database is asked for again if no keychain has stored
// it.
func TestThePasswordIsAskedForAgain(t *testing.T) {
	keyring.MockInitWithError(errors.New("no bus"))
	t.Setenv("THRONG_DATABASE_URL", "")
	data := t.TempDir()
	const address = "postgres://me@127.0.0.1:1/results"
	if err := config.SaveDatabase(data, config.Database{URL: address, Password: "hunter2-old"}); err == nil {
		t.Fatal("the password was stored")
	}
	find := func(s *screen) config.Database {
		t.Helper()
		db, err := databaseFlag{}.find(&terminal{in: s.tty, err: s.tty, data: data})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	s := newScreen(t, map[string]string{"(hidden, for this run only; press Enter to skip): ": "hunter2-new"})
	if db := find(s); db.Password != "hunter2-old" || s.text() != "" {
		t.Errorf("asked again in the same process:\n%s", s.text())
	}
	config.RememberPassword(address, "") // as if the program had ended
	if db := find(s); db.Password != "hunter2-new" || db.Asks || !strings.Contains(s.text(), "127.0.0.1:1/results") || strings.Contains(s.text(), "hunter2") {
		t.Errorf("%s", s.text())
	}
	config.RememberPassword(address, "")
	keyring.MockInit()
	if err := config.SaveDatabase(data, config.Database{URL: address, Password: "hunter2-kept"}); err != nil {
		t.Fatal(err)
	}
	if db := find(s); db.Password != "hunter2-kept" || db.Asks || strings.Count(s.text(), "password (") != 1 {
		t.Errorf("with a keychain: %s", s.text())
	}
}
