package experimenting

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/storage/sqlite/queue"
	screen "github.com/throng-sim/throng/ui/experiments"
)

// short is an experiment with four short runs.
const short = `# Does eagerness pay?
title: Eagerness
scenario: shopping
vary: {params.eagerness: [1, 4]}
replicates: {seeds: 2} # few
measures: [acted]
settings: {cycles: 1, max-concurrent: 10}
budget: {usd: 20, time: 8h}
`

// room is a folder with an experiment, and a desk.
type room struct {
	*Desk
	t    *testing.T
	file string
	look chan time.Time
}

func newRoom(t *testing.T, data, text string) *room {
	t.Helper()
	keyring.MockInit()
	a, err := app.Open(app.Options{Data: data, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r := &room{t: t, file: filepath.Join(t.TempDir(), "eager.experiment.yaml"), look: make(chan time.Time)}
	r.Desk = New(Options{App: a, Look: r.look})
	t.Cleanup(func() {
		r.Close()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	r.write(text)
	return r
}

func (r *room) write(text string) {
	r.t.Helper()
	if err := os.WriteFile(r.file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) must(errs ...error) {
	r.t.Helper()
	if err := errors.Join(errs...); err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) open() *screen.Details {
	r.t.Helper()
	d, err := r.Open(r.t.Context(), r.file)
	r.must(err)
	return d
}

// entry returns the experiment in the list.
func (r *room) entry() screen.Entry {
	r.t.Helper()
	all, err := r.List(r.t.Context())
	r.must(err)
	if len(all) != 1 {
		r.t.Fatalf("listed %+v", all)
	}
	return all[0]
}

// until waits for a state.
func (r *room) until(state screen.State) screen.Entry {
	r.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for was := screen.Broken; ; <-tick.C {
		e := r.entry()
		if e.State == state {
			return e
		}
		if e.State != was {
			was = e.State
			r.t.Logf("state %d: %+v", e.State, e)
		}
	}
}

func (r *room) findings() *findings.Table {
	r.t.Helper()
	t, err := r.Findings(r.t.Context(), r.file)
	r.must(err)
	return t
}

// TestWholeExperiment opens, executes, extends, exports and forgets an experiment.
func TestWholeExperiment(t *testing.T) {
	r := newRoom(t, t.TempDir(), short)
	d := r.open()
	if d.Title != "Eagerness" || d.Scenario != "shopping" || d.Design != "grid: 2 points" || d.Replicates != "2 seeds" || d.Budget != "$20, 8 h" || len(d.Factors) != 1 || d.Factors[0].Levels != "1, 4" ||
		!strings.HasPrefix(d.Forecast, "4 runs to do: ") || d.Command != "throngctl experiment run "+r.file || len(d.Mistakes) > 0 {
		t.Errorf("opened %+v", d)
	}
	if e := r.entry(); e.State != screen.Ready || e.Total != 4 || e.Path != r.file {
		t.Errorf("listed %+v", e)
	}
	if of, err := r.Unallowed(t.Context(), r.file); err != nil || len(of) > 0 {
		t.Errorf("not allowed: %v, %v", of, err)
	}
	before := r.Changed()
	r.must(r.Run(t.Context(), r.file, nil))
	if e := r.until(screen.Complete); e.Done != 4 || e.Total != 4 || e.Problem != "" || e.Elsewhere {
		t.Errorf("complete: %+v", e)
	}
	if n := r.Changed() - before; n < 5 {
		t.Errorf("only %d changes", n)
	}
	table := r.findings()
	if n, of := table.Count(findings.Done); n != 4 || of != 4 || table.Runs[1][0].Values[0] <= table.Runs[0][0].Values[0] {
		t.Errorf("the runs are %+v", table.Runs)
	}
	r.must(r.MoreSeeds(t.Context(), r.file, 1))
	if text, err := os.ReadFile(r.file); err != nil || string(text) != strings.Replace(short, "seeds: 2", "seeds: 3", 1) {
		t.Errorf("the file is\n%s, %v", text, err)
	}
	run := r.findings().Runs[0][2].Identity
	r.must(r.Skip(t.Context(), r.file, run, false), r.First(t.Context(), r.file, r.findings().Runs[1][2].Identity))
	if n, _ := r.findings().Count(findings.Skipped); n != 1 {
		t.Errorf("%d runs are skipped", n)
	}
	if e := r.entry(); e.Done != 4 || e.Total != 6 || e.Skipped != 1 {
		t.Errorf("skipped: %+v", e)
	}
	r.must(r.Skip(t.Context(), r.file, run, true))
	if e := r.entry(); e.State != screen.Partial || e.Done != 4 {
		t.Errorf("extended: %+v", e)
	}
	dir := t.TempDir()
	for _, name := range []string{"eager", "eager-2"} {
		if to, err := r.Export(t.Context(), r.file, dir); err != nil || to != filepath.Join(dir, name) {
			t.Errorf("exported to %s, %v", to, err)
		}
	}
	r.must(r.Report(t.Context(), r.file, filepath.Join(dir, "eager.html")))
	if text, err := os.ReadFile(filepath.Join(dir, "eager.html")); err != nil || !strings.Contains(string(text), "Eagerness") {
		t.Errorf("the report is %.100s, %v", text, err)
	}
	r.must(r.Forget(t.Context(), r.file))
	if all, err := r.List(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("listed %+v, %v", all, err)
	}
}

// long is an experiment that does not end during a test.
var long = strings.NewReplacer("cycles: 1,", "cycles: 100000,").Replace(short)

// TestOrdersInTheWindow pauses, continues and stops an experiment in progress.
func TestOrdersInTheWindow(t *testing.T) {
	r := newRoom(t, t.TempDir(), long)
	if err := r.Stop(t.Context(), r.file); !errors.Is(err, errIdle) {
		t.Errorf("stopped: %v", err)
	}
	r.open()
	r.must(r.Run(t.Context(), r.file, nil))
	r.until(screen.Running)
	if err := r.Run(t.Context(), r.file, nil); !errors.Is(err, errInProgress) {
		t.Errorf("executed twice: %v", err)
	}
	if err := r.Forget(t.Context(), r.file); !errors.Is(err, errInProgress) {
		t.Errorf("forgotten: %v", err)
	}
	r.must(r.Pause(t.Context(), r.file))
	r.until(screen.Paused)
	r.must(r.Continue(t.Context(), r.file))
	r.until(screen.Running)
	r.must(r.Pause(t.Context(), r.file), r.Stop(t.Context(), r.file), r.Stop(t.Context(), r.file))
	if e := r.until(screen.Partial); e.Problem != "" {
		t.Errorf("stopped: %+v", e)
	}
	r.must(r.Run(t.Context(), r.file, nil)) // lifts the pause
	r.until(screen.Running)
}

// TestClosedWindow checks that closing the window stops an experiment, and that it can be continued.
func TestClosedWindow(t *testing.T) {
	data := t.TempDir()
	r := newRoom(t, data, long)
	r.open()
	r.must(r.Run(t.Context(), r.file, nil))
	r.until(screen.Running)
	for n := 0; n == 0; n, _ = r.findings().Count(findings.Running) {
	}
	if w := r.Working(); len(w) != 1 || w[0] != (screen.Work{Path: r.file, Title: "Eagerness"}) {
		t.Errorf("it works on %+v", w)
	}
	for _, row := range r.findings().Runs {
		for i := range row {
			run, running := engine.RunID(row[i].ID), row[i].State == findings.Running
			for running && r.Of(run) == "" { // it is in the store shortly before the execution knows it
				runtime.Gosched()
			}
			if of := r.Of(run); (of == "Eagerness") != running {
				t.Errorf("run %q, which is %s, is one of %q", row[i].ID, row[i].State, of)
			}
		}
	}
	r.Close()
	if w := r.Working(); len(w) > 0 {
		t.Errorf("closed: it works on %+v", w)
	}
	if n, _ := r.findings().Count(findings.Interrupted); n != 1 {
		t.Errorf("%d runs can be continued", n)
	}
	if e := r.entry(); e.State != screen.Partial || e.Problem != "" {
		t.Errorf("closed: %+v", e)
	}
	if err := r.Run(t.Context(), r.file, nil); !errors.Is(err, errClosed) {
		t.Errorf("executed after the end: %v", err)
	}
}

// TestQueuedExperiment checks that an experiment waits for another one of the window.
func TestQueuedExperiment(t *testing.T) {
	r := newRoom(t, t.TempDir(), long)
	release, err := r.options.App.Store().Turn(t.Context(), queue.Entry{Work: "a test"}, nil)
	r.must(err)
	defer release()
	r.open()
	r.must(r.Run(t.Context(), r.file, nil))
	for e := r.until(screen.Queued); e.Waits == ""; e = r.entry() {
	}
	if e := r.entry(); e.Waits != "a test is in progress" { // not in another process
		t.Errorf("it waits for %q", e.Waits)
	}
	if w := r.Working(); len(w) != 1 || !w[0].Queued {
		t.Errorf("it works on %+v", w)
	}
	r.must(r.Stop(t.Context(), r.file))
	if e := r.until(screen.Ready); e.Problem != "" {
		t.Errorf("stopped: %+v", e)
	}
}

// TestElsewhere watches and steers an experiment that another process executes.
func TestElsewhere(t *testing.T) {
	r := newRoom(t, t.TempDir(), short)
	r.open()
	r.look <- time.Time{}
	o, err := steering.Of(r.data, r.file)
	r.must(err)
	release, err := o.Execute()
	r.must(err)
	r.must(o.Change(func(record *steering.Record) { record.Executor.Process++ }))
	was := r.Changed()
	r.look <- time.Time{}
	r.look <- time.Time{} // it has seen the change before
	if r.Changed() == was {
		t.Error("no change was seen")
	}
	if e := r.entry(); e.State != screen.Running || !e.Elsewhere {
		t.Errorf("listed %+v", e)
	}
	if err := r.Run(t.Context(), r.file, nil); err == nil || !strings.Contains(err.Error(), "executes the experiment") {
		t.Errorf("executed twice: %v", err)
	}
	r.must(r.Pause(t.Context(), r.file))
	if e := r.entry(); e.State != screen.Paused {
		t.Errorf("listed %+v", e)
	}
	r.must(r.Continue(t.Context(), r.file), r.Stop(t.Context(), r.file))
	if record, err := o.Read(); err != nil || record.Stops != 1 || record.Paused != nil {
		t.Errorf("the orders are %+v, %v", record, err)
	}
	r.must(release())
}

// TestMistakes opens a file with mistakes, which are then corrected.
func TestMistakes(t *testing.T) {
	r := newRoom(t, t.TempDir(), strings.Replace(short, "params.eagerness", "params.eagerly", 1)+"parallel: 0\n")
	if d := r.open(); len(d.Mistakes) != 2 || d.Mistakes[0].Line != 4 || d.Title != "eager" {
		t.Errorf("opened %+v", d)
	}
	if e := r.entry(); e.State != screen.Broken || e.Problem == "" {
		t.Errorf("listed %+v", e)
	}
	r.write(short)
	r.open()
	if e := r.entry(); e.State != screen.Ready || e.Title != "Eagerness" || e.Problem != "" {
		t.Errorf("listed %+v", e)
	}
	r.must(os.Remove(r.file))
	if e := r.entry(); e.State != screen.Broken {
		t.Errorf("listed %+v", e)
	}
	if _, err := r.Open(t.Context(), filepath.Join(t.TempDir(), "x.experiment.yaml")); err == nil {
		t.Error("opened a file that does not exist")
	}
}

// TestMistakesWhileItIsInProgress checks that an experiment in progress keeps its title and its runs while its file has mistakes.
func TestMistakesWhileItIsInProgress(t *testing.T) {
	r := newRoom(t, t.TempDir(), long)
	r.open()
	r.must(r.Run(t.Context(), r.file, nil))
	r.until(screen.Running)
	r.write(strings.Replace(long, "params.eagerness", "params.eagerly", 1))
	if d := r.open(); len(d.Mistakes) != 1 || !d.Continues || d.Title != "Eagerness" || d.Design != "grid: 2 points" {
		t.Errorf("opened %+v", d)
	}
	if e := r.entry(); e.State != screen.Running || e.Title != "Eagerness" {
		t.Errorf("listed %+v", e)
	}
	if n := len(r.findings().Runs); n != 2 {
		t.Errorf("%d points are shown", n)
	}
	r.must(r.Stop(t.Context(), r.file), r.Stop(t.Context(), r.file))
	r.until(screen.Broken)
	if d := r.open(); d.Continues || d.Title != "Eagerness" || d.Design != "" {
		t.Errorf("stopped: opened %+v", d)
	}
	if _, err := r.Findings(t.Context(), r.file); err == nil {
		t.Error("the runs of a file with mistakes are shown")
	}
}

// TestConsent checks that nothing runs before the user allows the addresses of all points.
func TestConsent(t *testing.T) {
	r := newRoom(t, t.TempDir(), "scenario: call.yaml\nvary: {service.shop.url: [\"https://a.invalid\", \"https://b.invalid\"]}\nreplicates: {seeds: 1}\nsettings: {cycles: 1}\n")
	call := "title: Calls\npopulation: {count: 1}\nservices:\n  shop: {kind: http, url: \"https://a.invalid\"}\nchain c:\n  step s: {kind: http, service: shop, get: /}\n"
	r.must(os.WriteFile(filepath.Join(filepath.Dir(r.file), "call.yaml"), []byte(call), 0o600))
	r.open()
	of, err := r.Unallowed(t.Context(), r.file)
	if err != nil || len(of) != 2 || of[0].Host == of[1].Host {
		t.Fatalf("not allowed: %v, %v", of, err)
	}
	if err := r.Run(t.Context(), r.file, []string{of[0].Address()}); err == nil || !strings.Contains(err.Error(), of[1].Address()) {
		t.Errorf("it ran with one of two addresses: %v", err)
	}
	if n, all := r.findings().Count(findings.Waiting); n != all {
		t.Errorf("%d of %d runs wait", n, all)
	}
}
