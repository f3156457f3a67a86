package config

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/notice"
	"github.com/throng-sim/throng/engine"
)

const hook = "https://hooks.slack.com/services/T0/B0/canary-hook"

func TestFindNotify(t *testing.T) {
	keyring.MockInit()
	data := t.TempDir()
	if err := SaveNotify(data, notice.Target{Kind: notice.Ntfy, URL: "https://push.example.com/canary-topic"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		flag string
		env  map[string]string
		want string
	}{
		{"", nil, "ntfy https://push.example.com/canary-topic saved"},
		{"", map[string]string{NotifyEnv: hook}, "slack " + hook + " " + NotifyEnv},
		{"json:http://127.0.0.1:1/x", map[string]string{NotifyEnv: hook}, "json http://127.0.0.1:1/x --notify"},
		{"secret:HOOK", map[string]string{"HOOK": hook}, "slack " + hook + " --notify"},
		{"none", map[string]string{NotifyEnv: hook}, "  --notify"},
	} {
		n, err := FindNotify(tt.flag, func(name string) string { return tt.env[name] }, data)
		if got := string(n.Kind) + " " + n.URL + " " + n.From; err != nil || got != tt.want {
			t.Errorf("%q %v: got %s, %v, want %s", tt.flag, tt.env, got, err, tt.want)
		}
	}
	if got := secrets.Redact("see " + hook + " and https://push.example.com/canary-topic"); strings.Contains(got, "canary") {
		t.Errorf("not taken out: %s", got)
	}
	text, err := os.ReadFile(filepath.Join(data, savedName))
	if err != nil || strings.Contains(string(text), "canary") || !strings.Contains(string(text), "ntfy push.example.com") {
		t.Errorf("saved: %s, %v", text, err)
	}
	none := func(string) string { return "" }
	var field *engine.FieldError
	for _, flag := range []string{"hooks.slack.com/canary", "secret:MISSING"} {
		if _, err := FindNotify(flag, none, data); !errors.As(err, &field) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: got %v", flag, err)
		}
	}
	if err := SaveNotify(data, notice.Target{}); err != nil {
		t.Fatal(err)
	}
	if n, err := FindNotify("", none, data); err != nil || n != (Notify{}) {
		t.Errorf("after deletion: got %+v, %v", n, err)
	}
	if _, err := (Notify{}).Try(t.Context()); !errors.As(err, &field) {
		t.Errorf("test without an address: %v", err)
	}
}

// TestNotifyWithoutKeychain checks that the address lasts until the program ends, and that the next program reports it
// missing.
func TestNotifyWithoutKeychain(t *testing.T) {
	keyring.MockInitWithError(errors.New("no keychain"))
	t.Cleanup(keyring.MockInit)
	data := t.TempDir()
	var unkept *secrets.UnkeptError
	if err := SaveNotify(data, notice.Target{Kind: notice.Slack, URL: hook}); !errors.As(err, &unkept) {
		t.Errorf("got %v", err)
	}
	none := func(string) string { return "" }
	if n, err := FindNotify("", none, data); err != nil || n.URL != hook || n.Asks {
		t.Errorf("in this process: got %+v, %v", n, err)
	}
	secrets.Hold(notifyAccount, "") // the program ended
	n, err := FindNotify("", none, data)
	if err != nil || !n.Asks || n.Host() != "hooks.slack.com" {
		t.Errorf("in the next process: got %+v, %v", n, err)
	}
	said := ""
	if w := n.WatchFor(nil, "", func(err error) { said = err.Error() }); w != nil || !strings.Contains(said, NotifyEnv) {
		t.Errorf("got output %q", said)
	}
}

// TestNotifyTried checks that the answer of the server is shown without the address.
func TestNotifyTried(t *testing.T) {
	keyring.MockInit()
	data, code := t.TempDir(), http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte("you asked " + r.URL.Path)) // the test checks it
	}))
	defer server.Close()
	target, err := notice.ParseTarget(server.URL + "/canary-path")
	if err != nil {
		t.Fatal(err)
	}
	if err := SaveNotify(data, target); err != nil {
		t.Fatal(err)
	}
	n, err := FindNotify("", func(string) string { return "" }, data)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := n.Try(t.Context())
	if err != nil || !strings.HasPrefix(answer, "200 OK") {
		t.Errorf("got %q, %v", answer, err)
	}
	code = http.StatusForbidden
	if _, err := n.Try(t.Context()); err == nil || !strings.Contains(err.Error(), "the server answered 403 Forbidden") {
		t.Errorf("got %v", err)
	}
}
