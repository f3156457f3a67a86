package app

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// startHamlet starts a run of the hamlet in a data folder.
func startHamlet(t *testing.T, data string) *Job {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hamlet.yaml")
	if err := os.WriteFile(file, []byte(hamlet), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := authoring.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		AuditAll(t, store)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	l := Launch{Services: Services{Data: data, Scenario: s, Settings: engine.DefaultSettings()}, Store: store, Trusted: true}
	l.Settings.Cycles = s.Cycles
	job, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// TestRunTakesOrders checks that a run can be controlled from outside until it is closed.
func TestRunTakesOrders(t *testing.T) {
	data := filepath.Join(t.TempDir(), strings.Repeat("long", 20))
	job := startHamlet(t, data)
	c, err := control.Dial(t.Context(), data, job.Record.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	status, err := c.Status(t.Context())
	if err != nil || status.Run != job.Record.ID || status.Title != "Hamlet" || status.Planned != 15 {
		t.Errorf("%+v, %v", status, err)
	}
	if _, err := c.Set(t.Context(), []engine.Assignment{{Name: engine.LimitSetting, Value: "7"}}, "a test"); err != nil || job.Run.Snapshot().Limit != 7 {
		t.Errorf("limit %d, %v", job.Run.Snapshot().Limit, err)
	}
	var field *engine.FieldError
	if err := c.Broadcast(t.Context(), []string{"bob"}, "hello"); !errors.As(err, &field) {
		t.Errorf("the missing agent bob: %v", err)
	}
	if err := errors.Join(c.Broadcast(t.Context(), []string{"villager-1"}, "hello"), c.Stop(t.Context(), true, "a test"), job.Close()); err != nil {
		t.Error(err)
	}
	if err := c.Pause(t.Context(), ""); !errors.Is(err, engine.ErrEnded) {
		t.Errorf("afterwards: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(data, "control")); err != nil || len(left) > 0 {
		t.Errorf("not removed: %v, %v", left, err)
	}
}

// TestRunWithoutOrders checks that a run continues if the control socket cannot be created.
func TestRunWithoutOrders(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "control"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
	defer slog.SetDefault(before)
	job := startHamlet(t, data)
	if err := job.Close(); err != nil || job.Run.Wait().Ending != engine.EndFinished {
		t.Errorf("%v, %v", job.Run.Wait(), err)
	}
	if !strings.Contains(said.String(), "cannot control the run") {
		t.Errorf("no warning: %s", said.String())
	}
	if _, err := control.Dial(t.Context(), data, job.Record.ID); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a server accepts orders: %v", err)
	}
}
