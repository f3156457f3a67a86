package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/storage"
)

// TestAnotherFrontEnd launches, steers, resumes, forks and exports with only this package.
func TestAnotherFrontEnd(t *testing.T) {
	a, err := app.Open(app.Options{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	finish := func(l app.Launch, err error, steer func(run *run.Run) error) *app.Job {
		t.Helper()
		var job *app.Job
		if err == nil {
			job, err = a.Start(t.Context(), l)
		}
		if err == nil && steer != nil {
			err = steer(job.Run)
		}
		if err == nil {
			err = job.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return job
	}
	l, err := a.New(app.Order{File: "shopping", Settings: map[string]string{"cycles": "3", "max-concurrent": "4"}, Trusted: true})
	job := finish(l, err, func(run *run.Run) error {
		if err := run.SetLimit(9, "a test", "more sessions"); err != nil {
			return err
		}
		return run.Stop("a test", "enough for now")
	})
	first := job.Record.ID
	l, _, err = a.Resume(t.Context(), first, app.ResumeOptions{Settings: map[string]string{"cycles": "2"}, Trusted: true})
	if got := finish(l, err, nil).Run.Snapshot(); got.Ending != engine.EndFinished || got.Limit != 9 {
		t.Errorf("resumed: %s with a limit of %d, want it finished with 9", got.Ending, got.Limit)
	}
	l, err = a.Fork(t.Context(), first, 0, app.Order{Settings: map[string]string{"cycles": "3"}, Trusted: true})
	finish(l, err, nil)
	dir := t.TempDir()
	if err := a.Export(t.Context(), first, dir, storage.CSV); err != nil {
		t.Fatal(err)
	}
	if rows, err := os.ReadFile(filepath.Join(dir, "sessions.csv")); err != nil || len(rows) < 1000 {
		t.Errorf("exported %d bytes of sessions: %v", len(rows), err)
	}
}
