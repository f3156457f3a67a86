package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/notice"
)

// hook is a webhook on this machine and the notifications it received.
type hook struct {
	*httptest.Server
	mu  sync.Mutex
	got []notice.Message
}

func newHook(t *testing.T, code int) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m notice.Message
		if err := json.Unmarshal(body, &m); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		h.mu.Lock()
		h.got = append(h.got, m)
		h.mu.Unlock()
		w.WriteHeader(code)
	}))
	t.Cleanup(h.Close)
	return h
}

// events returns the events that the hook received, in order.
func (h *hook) events() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for _, m := range h.got {
		all = append(all, m.Event)
	}
	return strings.Join(all, " ")
}

// TestNotify checks the notifications of runs that end, use up their budget, open the breaker, or stall. All must arrive
// before the program ends.
func TestNotify(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		code int
		want []string // in this order, perhaps with others in between
	}{
		{"the end", nil, exitDone, []string{"ended"}},
		{"out of budget", []string{"--max-requests", "100"}, exitFailed, []string{"out-of-budget"}},
		{"an open breaker and a time budget", []string{"--mock-fault", "bad_body=0.9", "--retries", "1", "--breaker", "wait", "--mock-latency", "remote", "--set", "agents=600", "--cycles", "3", "--max-time", "6s"}, exitFailed, []string{"breaker", "out-of-budget"}},
		{"a stall", []string{"--mock-fault", "hang=0.9", "--stall-warning", "1s", "--session-timeout", "4s", "--breaker", "off", "--set", "agents=3"}, exitFailed, []string{"stalled", "ended"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHook(t, http.StatusOK)
			args := append(day(t.TempDir(), "--no-adaptive", "--cycles", "1"), tt.args...)
			if tt.args == nil {
				t.Setenv(config.NotifyEnv, h.URL+"/canary-9c1d")
			} else {
				t.Parallel()
				args = append(args, "--notify", h.URL+"/canary-9c1d")
			}
			code, out, stderr := ctl(t, args...)
			if code != tt.code {
				t.Errorf("exit code %d\n%s%s", code, out, stderr)
			}
			got := h.events()
			rest := " " + got
			for _, want := range tt.want {
				_, after, found := strings.Cut(rest, " "+want)
				if !found {
					t.Fatalf("got notifications %q, want %q\n%s%s", got, tt.want, out, stderr)
				}
				rest = after
			}
			if last := h.got[len(h.got)-1]; last.Run == "" || last.Scenario == "" || last.Passed == nil || last.Progress.Phase != "ended" {
				t.Errorf("the last is %+v", last)
			}
			if strings.Contains(out+stderr, "canary-9c1d") || strings.Contains(stderr, "could not be sent") {
				t.Errorf("output:\n%s%s", out, stderr)
			}
		})
	}
}

// TestNotificationAddress checks that the address is saved, tested, deleted and never shown completely, and that nothing is
// saved without a keychain.
func TestNotificationAddress(t *testing.T) {
	keyring.MockInit()
	t.Cleanup(keyring.MockInit)
	t.Setenv(config.NotifyEnv, "")
	data := t.TempDir()
	row := func(args ...string) string {
		code, out, stderr := ctl(t, append([]string{"settings", "--data", data}, args...)...)
		if code != exitDone || strings.Contains(out+stderr, "canary") {
			t.Errorf("%q: exit code %d\n%s%s", args, code, out, stderr)
		}
		return strings.Join(strings.Fields(regexp.MustCompile(`(?m)^notify .*$`).FindString(out))[:3], " ")
	}
	if got := row(); got != "notify none default" {
		t.Errorf("initially: got %q", got)
	}
	code, out, _ := ctl(t, "check", "--data", data, "--test-notification")
	if code != exitFailed || !strings.Contains(out, "no address to try") {
		t.Errorf("without an address: exit code %d\n%s", code, out)
	}
	h := newHook(t, http.StatusOK)
	if got := row("notify=" + h.URL + "/canary-9c1d"); !strings.HasPrefix(got, "notify json 127.0.0.1:") {
		t.Errorf("after saving: got %q", got)
	}
	code, out, _ = ctl(t, "check", "--data", data, "--test-notification")
	if code != exitDone || !strings.Contains(out, "accepted a test notification: 200 OK") || h.events() != "test" || strings.Contains(out, "canary") {
		t.Errorf("exit code %d, notifications %q\n%s", code, h.events(), out)
	}
	refuses := newHook(t, http.StatusForbidden)
	code, out, _ = ctl(t, "check", "--data", data, "--test-notification", "--notify", refuses.URL+"/canary-9c1d")
	if code != exitFailed || !strings.Contains(out, "the server answered 403") || strings.Contains(out, "canary") {
		t.Errorf("refused: exit code %d\n%s", code, out)
	}
	if got := row("notify="); got != "notify none default" {
		t.Errorf("after deletion: got %q", got)
	}
	keyring.MockInitWithError(errors.New("no keychain"))
	code, _, stderr := ctl(t, "settings", "--data", data, "notify="+h.URL+"/canary-9c1d")
	if code != exitFailed || !strings.Contains(stderr, config.NotifyEnv) || strings.Contains(stderr, "canary") {
		t.Errorf("without a keychain: exit code %d\n%s", code, stderr)
	}
	if got := row(); got != "notify none default" {
		t.Errorf("without a keychain: got %q", got)
	}
}

// TestTroubleWaits checks that errors outside of the run wait for the goroutine that owns the terminal, without blocking.
func TestTroubleWaits(t *testing.T) {
	var said strings.Builder
	it := &terminal{err: &said, trouble: make(chan error, 8)}
	tell := it.quiet() // as with --json
	for range 100 {
		tell.hear(errors.New("later"))
	}
	if said.Len() > 0 {
		t.Errorf("printed immediately: %q", said.String())
	}
	if err := <-it.trouble; err.Error() != "later" {
		t.Errorf("the queue has %v", err)
	}
	if it.sayTrouble(); strings.Count(said.String(), "note: later\n") != 7 {
		t.Errorf("at the end: %q", said.String())
	}
}

// TestNotifyFails checks that a hook that refuses is reported once, without its address, and that the run succeeds.
func TestNotifyFails(t *testing.T) {
	h := newHook(t, http.StatusForbidden)
	code, out, stderr := ctl(t, day(t.TempDir(), "--cycles", "1", "--notify", h.URL+"/canary-9c1d")...)
	if code != exitDone || strings.Count(stderr, "no notification could be sent to 127.0.0.1") != 1 || strings.Contains(out+stderr, "canary-9c1d") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	code, out, stderr = ctl(t, day(t.TempDir(), "--notify", "hooks.slack.com/canary-9c1d")...)
	if code != exitUsage || !strings.Contains(stderr, "is not the address of a webhook") || strings.Contains(out+stderr, "canary-9c1d") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}

// TestHurry sends Ctrl+C after the end of the run while a webhook hangs. The program must stop waiting.
func TestHurry(t *testing.T) {
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hanging.Close()
	defer close(release)
	signals := make(chan os.Signal, 1)
	var errs bytes.Buffer
	var ended time.Time
	out := waiting{text: regexp.MustCompile(`error_rate`), heard: func() {
		ended = time.Now()
		signals <- syscall.SIGINT
	}}
	code := execute(day(t.TempDir(), "--cycles", "1", "--no-dashboard", "--notify", hanging.URL), &terminal{in: strings.NewReader(""), out: &out, err: &errs, signals: signals, hooks: hooks{trusts: true, cores: 4}})
	if took := time.Since(ended); code != exitDone || took > 8*time.Second || !strings.Contains(errs.String(), "the request timed out") {
		t.Errorf("exit code %d, took %s\n%s%s", code, took, out.String(), errs.String())
	}
}
