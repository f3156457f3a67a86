package desk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/ui/live"
	"github.com/throng-sim/throng/ui/runs"
	"github.com/throng-sim/throng/ui/setup"
)

// Open opens the store in a data folder. The error is ErrInUse if another window uses it.
func Open(data string) (*Desk, error) {
	d, err := claim(data)
	if err != nil {
		return nil, err
	}
	if err := d.open(nil); err != nil {
		return nil, errors.Join(err, d.window.Close())
	}
	return d, nil
}

func open(t *testing.T, data string) *Desk {
	t.Helper()
	keyring.MockInit()
	t.Setenv("THRONG_DATABASE_URL", "")
	d, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	d.host = func() engine.HostMetrics { return engine.HostMetrics{} } // calibrations refuse to measure on a busy machine
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// order returns a launch of a short day of the built-in shoppers.
func order(t *testing.T, d *Desk, change func(*setup.Order)) setup.Order {
	t.Helper()
	o := setup.Order{Scenario: "shopping", Given: map[string]string{"agents": "40", "eagerness": "8"}}
	s, err := setupDesk{d}.Scenario(t.Context(), o.Scenario, o.Given)
	if err != nil {
		t.Fatal(err)
	}
	if s.Agents != 40 {
		t.Errorf("%d agents, want the given number", s.Agents)
	}
	o.Settings = s.Settings
	o.Settings.Cycles, o.Settings.Mock.Profile = 2, "none"
	if change != nil {
		change(&o)
	}
	return o
}

func launch(t *testing.T, d *Desk, change func(*setup.Order)) {
	t.Helper()
	if err := (setupDesk{d}).Launch(t.Context(), order(t, d, change), nil); err != nil {
		t.Fatal(err)
	}
}

func TestRunFromSetupToExport(t *testing.T) {
	data := t.TempDir()
	d := open(t, data)
	choices, err := setupDesk{d}.Choices(t.Context())
	if err != nil || len(choices) == 0 || !choices[0].BuiltIn {
		t.Fatalf("choices %+v %v", choices, err)
	}
	launch(t, d, nil)
	job := liveDesk{d}.Job()
	if job == nil || job.Agents != 40 || job.Title != choices[0].Title {
		t.Fatalf("job %+v", job)
	}
	<-d.Settled()
	if s := job.Snapshot(); s.Ending != engine.EndFinished || s.Ended != 80 {
		t.Errorf("%s with %d sessions, want finished with 80", s.Ending, s.Ended)
	}
	all, err := runsDesk{d}.Runs(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != job.ID() {
		t.Fatalf("runs %+v %v", all, err)
	}
	out := t.TempDir()
	for range 2 { // each into a new folder
		dir, err := liveDesk{d}.ExportAs(t.Context(), job.ID(), out, "csv")
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "sessions.csv"))
		if err != nil || strings.Count(string(text), "\n") != 81 {
			t.Errorf("sessions.csv has %d lines, want 81: %v", strings.Count(string(text), "\n"), err)
		}
	}
	if dir, err := (resultsDesk{d}).ExportAs(t.Context(), job.ID(), out, "parquet"); err != nil || filepath.Base(dir) != "throng-"+string(job.ID())+"-3" {
		t.Errorf("exported to %s, %v", dir, err)
	} else if _, err := os.Stat(filepath.Join(dir, "sessions.parquet")); err != nil {
		t.Error(err)
	}
	if details, err := (resultsDesk{d}).Details(t.Context(), job.ID()); err != nil || details.Outcomes.Sessions != 80 || len(details.Steps) == 0 || len(details.Settings) == 0 {
		t.Errorf("details %+v, %v", details, err)
	}
	for _, ending := range []string{".html", "-2.html"} { // older reports are not replaced
		path, err := (resultsDesk{d}).ExportAs(t.Context(), job.ID(), out, "report")
		if err != nil || filepath.Base(path) != "throng-"+string(job.ID())+ending {
			t.Fatalf("the report is %s, %v", path, err)
		}
		if text, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(text), "</html>\n") {
			t.Errorf("the report has %d bytes, %v", len(text), err)
		}
	}
	release, err := d.store.Claim(t.Context(), job.ID()) // as if it was in progress
	if err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadDir(out)
	if path, err := (resultsDesk{d}).ExportAs(t.Context(), job.ID(), out, "bundle"); err == nil || !strings.Contains(err.Error(), "is in progress (stop it") {
		t.Errorf("the bundle of a run in progress is %q, %v", path, err)
	}
	if after, err := os.ReadDir(out); err != nil || len(after) != len(before) {
		t.Errorf("after it: files %v, %v", after, err)
	}
	release()
	bundle, err := resultsDesk{d}.ExportAs(t.Context(), job.ID(), out, "bundle")
	if err != nil || filepath.Base(bundle) != "throng-"+string(job.ID())+".zip" {
		t.Fatalf("the bundle is %s, %v", bundle, err)
	}
	if _, err := (runsDesk{d}).Resume(t.Context(), job.ID(), runs.Resumption{}); err == nil {
		t.Error("a finished run was resumed")
	}
	totals, err := resultsDesk{d}.Totals(t.Context(), job.ID())
	if err != nil || totals.Ended() != 80 {
		t.Errorf("totals of %d sessions %v", totals.Ended(), err)
	}
	if doomed, err := (runsDesk{d}).Footprint(t.Context(), job.ID()); err != nil || doomed.Sessions != 80 || doomed.Bytes == 0 {
		t.Errorf("to delete: got %+v %v", doomed, err)
	}
	if err := (runsDesk{d}).Delete(t.Context(), job.ID(), runs.Deletion{Now: true}); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(data, "mock", "*")); len(left) != 0 {
		t.Errorf("the mock shop's log was not removed: %v", left)
	}
	run, note, err := runsDesk{d}.OpenBundle(t.Context(), bundle)
	if err != nil || run != job.ID() || !strings.HasSuffix(note, "All files are as the bundle lists them.") {
		t.Fatalf("opened %s, %q, %v", run, note, err)
	}
	if again, err := (resultsDesk{d}).Totals(t.Context(), run); err != nil || !reflect.DeepEqual(again, totals) {
		t.Errorf("totals of the opened run: %+v, %v", again, err)
	}
	if _, _, err := (runsDesk{d}).OpenBundle(t.Context(), bundle); err == nil {
		t.Error("the same run was added twice")
	}
}

// TestActiveAgents checks the number of active agents that Setup shows, and that invalid agents and filters are errors of
// their fields.
func TestActiveAgents(t *testing.T) {
	d := setupDesk{open(t, t.TempDir())}
	for _, c := range []struct {
		agents []string
		filter string
		want   int
		field  string // of the error
	}{
		{want: 40},
		{agents: []string{"shopper-1", "shopper-7"}, want: 2},
		{agents: []string{"shopper-1", "stranger"}, field: "agents"},
		{filter: "agent.index < 12", want: 12},
		{filter: "agnet.index < 12", field: "filter"},
		{filter: "False"}, // such a run ends immediately and says so
	} {
		o := order(t, d.Desk, func(o *setup.Order) { o.Settings.Agents, o.Settings.Filter = c.agents, c.filter })
		n, err := d.Choose(t.Context(), o)
		mistake, _ := errors.AsType[*engine.FieldError](err)
		if n != c.want || (c.field == "") != (err == nil) || mistake != nil && mistake.Field != c.field {
			t.Errorf("%v %q: %d %v, want %d", c.agents, c.filter, n, err, c.want)
		}
	}
	s, err := d.Scenario(t.Context(), "shopping", nil)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	s.Graph.Walk(func(s *engine.GraphStep) { paths = append(paths, s.Path) })
	if !slices.Contains(paths, "fill_cart.add_cart") || !slices.Contains(paths, "checkout.order") {
		t.Errorf("the chain's steps are %q", paths)
	}
}

// TestCloseAndResume closes the window during a run, opens it again and resumes the run.
func TestCloseAndResume(t *testing.T) {
	data := t.TempDir()
	d := open(t, data)
	if err := errors.Join(d.Close()); err != nil { // with nothing to stop
		t.Fatal(err)
	}
	d = open(t, data)
	launch(t, d, func(o *setup.Order) {
		o.Settings.Cycles, o.Settings.TimeScale = 100, 3600 // one second per cycle
		o.Settings.CheckpointEvery = time.Hour
	})
	id := runsDesk{d}.Busy()
	if id == "" {
		t.Fatal("no run is in progress")
	}
	if err := launchLater(t, d); !errors.Is(err, context.Canceled) {
		t.Errorf("a second run during the first: %v", err)
	}
	if err := (runsDesk{d}).Delete(t.Context(), id, noDeletion); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("deleting the run in progress: %v", err)
	}
	job := liveDesk{d}.Job()
	for job.Snapshot().Ended < 40 { // one cycle
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("the run does not start")
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := (setupDesk{d}).Launch(t.Context(), setup.Order{Scenario: "shopping", Settings: engine.DefaultSettings()}, nil); err == nil {
		t.Error("a run was started after the end")
	}

	d = open(t, data)
	checkpoints, err := runsDesk{d}.Checkpoints(t.Context(), id)
	if err != nil || len(checkpoints) != 1 {
		t.Fatalf("checkpoints %+v %v, want that of the stop", checkpoints, err)
	}
	if r, err := d.Interrupted(t.Context()); r != nil || err != nil {
		t.Errorf("a run that was stopped is not interrupted: %+v %v", r, err)
	}
	if _, err := (runsDesk{d}).Resume(t.Context(), id, runs.Resumption{Limit: 7}); err != nil {
		t.Fatal(err)
	}
	job = liveDesk{d}.Job()
	if s := job.Snapshot(); s.Limit != 7 || s.Ended < 40 || len(job.History) == 0 {
		t.Errorf("resumed with limit %d, %d sessions, %d figures of the past", s.Limit, s.Ended, len(job.History))
	}
	if err := job.Stop("test", ""); err != nil {
		t.Error(err)
	}
	<-d.Settled()
	if runsDesk.Busy(runsDesk{d}) != "" {
		t.Error("the desk is busy with a run that has ended")
	}
}

// TestStopWhileARunIsStarted checks that a stop that arrives while a run starts stops that run.
func TestStopWhileARunIsStarted(t *testing.T) {
	d := open(t, t.TempDir())
	if err := d.Stop(false); err != nil {
		t.Errorf("with nothing to stop: %v", err)
	}
	o := order(t, d, func(o *setup.Order) { o.Settings.Cycles, o.Settings.TimeScale = 100, 3600 })
	launched := make(chan error, 1)
	go func() { launched <- setupDesk{d}.Launch(context.WithoutCancel(t.Context()), o, nil) }()
	for busy := false; !busy; {
		select {
		case <-time.After(100 * time.Microsecond):
		case <-t.Context().Done():
			t.Fatal("no run was started")
		}
		d.mu.Lock()
		busy = d.busy
		d.mu.Unlock()
	}
	if err := d.Stop(false); err != nil {
		t.Error(err)
	}
	if err := <-launched; err != nil {
		t.Fatal(err)
	}
	<-d.Settled()
	if s := (liveDesk{d}).Job().Snapshot(); s.Ending != engine.EndStopped {
		t.Errorf("the run is %s, want stopped", s.Ending)
	}
}

// TestStopWhileDrainingCutsNothing checks that closing the window while a run drains does not count as the second stop.
func TestStopWhileDrainingCutsNothing(t *testing.T) {
	d := open(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "long.yaml")
	const text = "title: Long\nclock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}\npopulation: {count: 3}\nchain rest:\n  step sleep: {kind: wait, for: 200}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := engine.DefaultSettings()
	settings.Cycles = 1
	if err := (setupDesk{d}).Launch(t.Context(), setup.Order{Scenario: path, Settings: settings}, nil); err != nil {
		t.Fatal(err)
	}
	job := liveDesk{d}.Job()
	for job.Snapshot().InFlight < 3 {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("the run does not start")
		}
	}
	if err := job.Stop("user", ""); err != nil {
		t.Fatal(err)
	}
	cut := func() bool {
		return slices.ContainsFunc(job.Snapshot().Changes, func(c engine.ChangeRow) bool { return c.New == "canceling" })
	}
	if err := d.Stop(false); err != nil || cut() {
		t.Errorf("sessions in flight were cut (%v), or: %v", cut(), err)
	}
	if err := d.Stop(true); err != nil {
		t.Error(err)
	}
	<-d.Settled()
	if !cut() {
		t.Error("sessions in flight were not cut")
	}
}

// TestDatabaseWithoutKeychain checks that a database address takes effect even if its password cannot be stored.
func TestDatabaseWithoutKeychain(t *testing.T) {
	d := open(t, t.TempDir())
	keyring.MockInitWithError(errors.New("no bus"))
	const target = "localhost:1/results"
	if err := (settingsDesk{d}).SaveConnection(t.Context(), "postgres://me@"+target, "hush"); err == nil || d.remote.Target() != target {
		t.Errorf("results are sent to %q, want %s: %v", d.remote.Target(), target, err)
	}
	d.shown = &live.Job{Remote: target}
	if text, _ := (liveDesk{d}).RemoteState(); !strings.Contains(text, target) {
		t.Errorf("sending state: got %q", text)
	}
	if err := (settingsDesk{d}).SaveConnection(t.Context(), "", ""); err == nil || d.remote.Target() != "" {
		t.Errorf("results are sent to %q after the address was deleted: %v", d.remote.Target(), err)
	}
	if text, healthy := (liveDesk{d}).RemoteState(); healthy || !strings.Contains(text, "no database") {
		t.Errorf("sending state without a database: got %q", text)
	}
}

func TestInterruptedRunIsFound(t *testing.T) {
	data := t.TempDir()
	store, err := sqlite.Open(data, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	id := engine.RunID("20260101-000000-dead")
	err = errors.Join(store.Create(t.Context(), engine.RunRecord{ID: id, Title: "Dead", Created: time.Now(), Settings: engine.DefaultSettings()}), store.Close())
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, data)
	if r, err := d.Interrupted(t.Context()); err != nil || r == nil || r.ID != id {
		t.Errorf("interrupted: %+v %v", r, err)
	}
}

func TestOneWindowPerFolder(t *testing.T) {
	data := t.TempDir()
	open(t, data)
	if second, err := Open(data); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("a second window: %+v %v", second, err)
	}
}

// TestForeignHostIsAskedAboutOnce checks that a launch that would call another host is rejected until the host is allowed,
// and that the permission is remembered.
func TestForeignHostIsAskedAboutOnce(t *testing.T) {
	d := open(t, t.TempDir())
	o := order(t, d, func(o *setup.Order) {
		o.Settings.Services = map[string]string{"shop": "https://staging.example.com"}
		o.Settings.Limit = 20
	})
	targets, err := setupDesk{d}.Unallowed(t.Context(), o)
	if err != nil || len(targets) != 1 || targets[0].Service != "shop" || targets[0].Address() != "staging.example.com:443" {
		t.Errorf("targets %+v %v", targets, err)
	}
	if err := (setupDesk{d}).Launch(t.Context(), o, nil); err == nil || runsDesk.Busy(runsDesk{d}) != "" {
		t.Errorf("launched without being allowed: %v", err)
	}
	o.Allow = []string{"staging.example.com:443"}
	if err := (setupDesk{d}).Allow(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.Allow = nil
	if targets, err := (setupDesk{d}).Unallowed(t.Context(), o); err != nil || len(targets) != 0 {
		t.Errorf("not allowed after permission: %+v %v", targets, err)
	}
}

func TestScenarioFilesAreRemembered(t *testing.T) {
	d := open(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "mine.yaml")
	const text = "title: Mine\nclock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 2}\npopulation: {count: 3}\nchain nothing:\n  step leave: {kind: stop}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (setupDesk{d}).Scenario(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	has := func() bool {
		choices, err := setupDesk{d}.Choices(context.WithoutCancel(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		return choices[len(choices)-1].Name == path
	}
	if !has() {
		t.Error("the file is not remembered")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if has() {
		t.Error("the file is remembered though it is gone")
	}
	if _, err := (setupDesk{d}).Scenario(t.Context(), path, nil); err == nil || err.Error() != "there is no file "+path {
		t.Errorf("a missing file: %v", err)
	}
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("title: Bad\nparamters: {}\nchain x: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (setupDesk{d}).Scenario(t.Context(), bad, nil); err == nil || !strings.Contains(err.Error(), "bad.yaml:2") {
		t.Errorf("errors without positions: %v", err)
	}
}
