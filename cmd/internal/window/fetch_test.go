package window_test

import (
	"errors"
	"log/slog"
	"os"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/storage/sqlite"
)

// sendWorld runs a small world on another machine and sends it to a database.
func sendWorld(t *testing.T, url string) engine.RunID {
	t.Helper()
	data := t.TempDir()
	store, err := sqlite.Open(data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := authoring.Load("world", nil)
	if err != nil {
		t.Fatal(err)
	}
	l := app.Launch{Services: app.Services{Data: data, Scenario: s, Settings: engine.DefaultSettings()}, Store: store}
	l.Settings.Cycles, l.Settings.Mock.Profile = 3, "none"
	job, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = job.Run.Checkpoint(t.Context(), "by hand")
	<-job.Run.Done()
	r := remote.New(store, slog.New(slog.DiscardHandler))
	if err := errors.Join(err, job.Close(), r.Use(config.Database{URL: url}), r.Send(t.Context(), job.Record.ID), r.Drain(t.Context(), job.Record.ID),
		r.Close(), store.Close()); err != nil {
		t.Fatal(err)
	}
	return job.Record.ID
}

// TestFetchInTheWindow finds a run of another machine in the database and fetches a checkpoint of it.
func TestFetchInTheWindow(t *testing.T) {
	t.Parallel()
	d := newDesktop(t, 1280, 800)
	url := pgtest.Shared(t).Database(t)
	run := sendWorld(t, url)
	theme := os.Getenv("FYNE_THEME")
	d.start("THRONG_DATABASE_URL="+url, "FYNE_THEME="+theme)
	d.click("Runs")
	d.still("the runs", func() *part { return d.find("More") })
	d.xdotool("key", "ctrl+shift+u")
	d.still("a checkpoint of the other machine", func() *part { return d.find("Fetch") })
	d.shot("fetch" + theme)
	d.click("Fetch")
	d.until("run "+string(run)+" is here", func() bool { return d.shows("as your own run") })
	d.shot("fetched" + theme)
	d.click("Compare")
	d.until("nothing to compare", func() bool { return d.shows("Launch two runs in Setup") })
	if d.shows(string(run)) {
		t.Error("a run without results is compared")
	}
}
