package desk

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/notice"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/setup"
)

// TestWebhookNotification saves a webhook in Settings and tests it. The end of a run must be reported there before the desk
// closes.
func TestWebhookNotification(t *testing.T) {
	keyring.MockInit()
	t.Setenv(config.NotifyEnv, "")
	var mu sync.Mutex
	var events []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m notice.Message
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		events = append(events, m.Event)
	}))
	defer server.Close()
	d := open(t, t.TempDir())
	s := settingsDesk{d}
	if answer, err := s.TestHook(t.Context(), "", server.URL); err != nil || !strings.HasPrefix(answer, "200 OK") {
		t.Errorf("test: got %q %v", answer, err)
	}
	var field *engine.FieldError
	if err := s.SaveHook(t.Context(), "slack", "nowhere"); !errors.As(err, &field) {
		t.Errorf("got %v", err)
	}
	if err := s.SaveHook(t.Context(), "", server.URL+"/x"); err != nil {
		t.Fatal(err)
	}
	h, err := s.Hook(t.Context())
	if err != nil || h.From != "saved" || h.Kind != "json" || !strings.HasPrefix(h.Host, "127.0.0.1:") || len(h.Kinds) != 6 {
		t.Errorf("got %+v, %v", h, err)
	}
	launch(t, d, func(o *setup.Order) { o.Settings.Cycles = 1 })
	<-d.Settled()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(events, " "); got != "test ended" {
		t.Errorf("got notifications %q", got)
	}
}

// TestLogLevelIsInForce checks that a changed log level takes effect immediately.
func TestLogLevelIsInForce(t *testing.T) {
	d := open(t, t.TempDir())
	d.level = &slog.LevelVar{}
	if err := (settingsDesk{d}).SetLogLevel(t.Context(), "debug"); err != nil {
		t.Fatal(err)
	}
	if level, all := (settingsDesk{d}).LogLevel(); level != "debug" || len(all) != 4 || d.level.Level() != slog.LevelDebug {
		t.Errorf("got %s of %v, the logger has %s", level, all, d.level.Level())
	}
}

// TestProgram checks the version and the licenses that the window shows.
func TestProgram(t *testing.T) {
	p := program{open(t, t.TempDir())}
	all, err := p.Licenses(t.Context())
	if err != nil || len(all) < 40 || all[0].Module != "Throng" {
		t.Errorf("%d licenses, %v", len(all), err)
	}
	if a := p.About(); !strings.HasPrefix(a.Version, about.Number) || a.Data != p.data || len(a.Icon) == 0 {
		t.Errorf("about %+v", a.Version)
	}
}
