package desk

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
)

// scraped returns the response of a metrics endpoint, or "" if nothing answers.
func scraped(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// port listens on a port, which is free again once the listener is closed.
func port(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // until the test ends
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestMetricsAreServedAtOnce checks that a changed address takes effect in the open window, and that an address that cannot
// be used is not saved.
func TestMetricsAreServedAtOnce(t *testing.T) {
	t.Setenv(config.ListenEnv, "")
	d := open(t, t.TempDir())
	screen := settingsDesk{d}
	free := port(t)
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	if err := screen.Save(t.Context(), config.ListenKey, address); err != nil {
		t.Fatal(err)
	}
	if text := scraped(t, address); !strings.Contains(text, `throng_run_phase{phase="idle"} 1`) {
		t.Errorf("before a run: %s", text)
	}
	launch(t, d, nil)
	<-d.Settled()
	if text := scraped(t, address); !strings.Contains(text, `throng_run_phase{phase="ended"} 1`) || !strings.Contains(text, "throng_sessions_planned 80") {
		t.Errorf("after a run: %s", text)
	}
	taken := port(t).Addr().String()
	err := screen.Save(t.Context(), config.ListenKey, taken)
	if field, ok := errors.AsType[*engine.FieldError](err); !ok || !strings.Contains(field.Problem, "in use") {
		t.Errorf("a port in use: %v", err)
	}
	if saved, _ := config.LoadSaved(d.data); saved[config.ListenKey] != address || scraped(t, address) == "" {
		t.Errorf("saved: %q", saved[config.ListenKey])
	}
	second := port(t)
	other := second.Addr().String()
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if err := screen.Save(t.Context(), config.ListenKey, other); err != nil || scraped(t, address) != "" || !strings.Contains(scraped(t, other), `phase="ended"} 1`) {
		t.Errorf("another address: %v", err)
	}
	if err := screen.Save(t.Context(), config.ListenKey, ""); err != nil || scraped(t, other) != "" {
		t.Errorf("the address is still open: %v", err)
	}
}

// TestAPortThatIsTaken checks that the window reports a metrics port that is in use, and that runs are not affected.
func TestAPortThatIsTaken(t *testing.T) {
	t.Setenv(config.ListenEnv, port(t).Addr().String())
	d := open(t, t.TempDir())
	if !strings.Contains(d.Notice(), "in use by another program") || !strings.Contains(d.Notice(), "Runs are not affected") {
		t.Errorf("the notice is %q", d.Notice())
	}
	launch(t, d, nil)
	<-d.Settled()
	if r, err := d.store.Newest(t.Context()); err != nil || r.Ending != engine.EndFinished {
		t.Errorf("%v, %v", r.Ending, err)
	}
}
