package results

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/uitest"
)

// fakeDesk has one set of figures for all runs and records what is asked of it.
type fakeDesk struct {
	mu                  sync.Mutex
	runs                []engine.RunRecord
	totals              engine.Totals
	changes             []engine.ChangeRow
	errors              []engine.ErrorNote
	runsErr             error
	totalsErr           error
	exportErr, auditErr error
	checks              []engine.Check
	checksErr           error
	audited             string
	asked               []string
	hold                chan struct{} // holds up Totals, if set
}

func (d *fakeDesk) ask(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, fmt.Sprintf(format, args...))
}

// set changes the desk between what is asked of it.
func (d *fakeDesk) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// times is how often something was asked.
func (d *fakeDesk) times(what string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(d.asked), func(a string) bool { return a != what }))
}

func (d *fakeDesk) Runs(context.Context) ([]engine.RunRecord, error) {
	d.ask("runs")
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.runs), d.runsErr
}

func (d *fakeDesk) Totals(_ context.Context, run engine.RunID) (engine.Totals, error) {
	d.ask("totals %s", run)
	d.mu.Lock()
	hold, totals, err := d.hold, d.totals.Clone(), d.totalsErr
	d.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if err != nil {
		return engine.Totals{}, err
	}
	return totals, nil
}

func (d *fakeDesk) Changes(context.Context, engine.RunID) ([]engine.ChangeRow, error) {
	return d.changes, nil
}

func (d *fakeDesk) LatestErrors(_ context.Context, _ engine.RunID, most int) (all [][]engine.ErrorNote, err error) {
	for _, n := range d.errors {
		before := n
		before.Cycle, before.Message = n.Cycle-1, "before: "+n.Message
		all = append(all, []engine.ErrorNote{n, before}[:min(most, 2)])
	}
	return all, nil
}

func (d *fakeDesk) Failed(_ context.Context, _ engine.RunID, t *engine.Totals) (string, error) {
	if _, all := t.Failures(0); all == 0 {
		return "", nil
	}
	return "4: shopper-25 and others", nil
}

func (d *fakeDesk) Export(_ context.Context, run engine.RunID, dir string) (string, error) {
	d.ask("export %s to %s", run, dir)
	return dir + "/throng-" + string(run), d.exportErr
}

func (d *fakeDesk) ExportParquet(_ context.Context, run engine.RunID, dir string) (string, error) {
	d.ask("parquet %s to %s", run, dir)
	return dir + "/throng-" + string(run), d.exportErr
}

func (d *fakeDesk) Report(_ context.Context, run engine.RunID, dir string) (string, error) {
	d.ask("report %s to %s", run, dir)
	return dir + "/throng-" + string(run) + ".html", d.exportErr
}

func (d *fakeDesk) Audit(_ context.Context, run engine.RunID) (summary string, equal bool, err error) {
	d.ask("audit %s", run)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.audited, !strings.Contains(d.audited, "differ"), d.auditErr
}

var began = time.Date(2026, 1, 2, 15, 4, 5, 0, time.Local)

func record(id engine.RunID, ending engine.Ending) engine.RunRecord {
	return engine.RunRecord{ID: id, Title: "Shoppers", Created: began, Ending: ending, Cycle: 24, Cycles: 24, Done: 8928, Total: 8928, Settings: engine.DefaultSettings()}
}

func criterion(metric, text, shown string, passed bool) engine.Judgement {
	return engine.Judgement{Criterion: engine.Criterion{Metric: metric, Text: text}, Shown: shown, Passed: passed}
}

// some are the totals of 100 sessions, of 10 ms, 20 ms and so on.
func some() engine.Totals {
	var t engine.Totals
	for i := range 100 {
		row := engine.SessionRow{Place: engine.Place{Agent: i}, Outcome: engine.OK, Total: time.Duration(i+1) * 10 * time.Millisecond, Acted: i%2 == 0}
		row.Service = row.Total / 2
		row.Steps = []engine.StepRecord{{Path: "browse", Attempts: 1 + i%2, Statuses: []int{200}}, {Path: "leave"}}
		row.Events = make([]engine.Event, i%3)
		switch {
		case i%25 == 24:
			row.Outcome, row.Class = engine.Failed, engine.BadAnswer
		case i%10 == 9:
			row.Outcome = engine.Stopped
		}
		t.Add(&row)
	}
	t.Peaks = engine.Peaks{Memory: 62_500_000, Connections: 4, Cycle: 2300 * time.Millisecond, CheckpointGap: 51 * time.Second, Elapsed: 51 * time.Second}
	return t
}

// start shows the screen with what a desk has.
func start(t *testing.T, desk *fakeDesk) (*uitest.Queue, *Screen) {
	t.Helper()
	q := uitest.Start(t)
	win := test.NewTempWindow(t, nil)
	s := New(desk, win)
	win.SetContent(s.Content())
	win.Resize(fyne.NewSize(1130, 780))
	s.Show()
	q.Until("the store is read", func() bool { return !s.loading })
	return q, s
}

func wantShown(t *testing.T, s *Screen, wanted ...string) {
	t.Helper()
	for _, text := range wanted {
		if !uitest.Shows(s.Content(), text) {
			t.Errorf("%q is not shown, but %q", text, uitest.Texts(s.Content()))
		}
	}
}

func wait(q *uitest.Queue, s *Screen) {
	q.Until("done", func() bool { return len(s.exporting) == 0 && len(s.auditing) == 0 && !s.loading })
}

// six are criteria of which five are met.
func six() []engine.Judgement {
	return []engine.Judgement{
		criterion("agents_completed", ">= 100%", "100%", true), criterion("error_rate", "< 5%", "0%", true), criterion("cycle_time", "< 60s", "2.3s", true),
		criterion("memory", "< 12GB", "0.0625 GB", true), criterion("db_connections", "<= 55", "4", true), criterion("checkpoint_gap", "<= 5m", "6m1s", false),
	}
}

func TestShowsTheNewestRun(t *testing.T) {
	newest := record("new", engine.EndFinished)
	newest.Verdict = six()
	desk := &fakeDesk{
		runs: []engine.RunRecord{newest, record("old", engine.EndStopped)}, totals: some(),
		errors: []engine.ErrorNote{{Class: engine.BadAnswer, Count: 4, Cycle: 2, Agent: 99, Name: "shopper-99", Path: "browse", Message: "no such field\nprice"}},
		changes: []engine.ChangeRow{
			{At: began.Add(time.Second), Cycle: 1, What: "limit", Old: "50", New: "80", Who: "user", Why: "the slider"},
			{At: began.Add(time.Minute), Cycle: 2, What: "retired", Who: "user", Inexact: &engine.Inexact{}},
		},
	}
	_, s := start(t, desk)
	wantShown(t, s,
		"finished", "after 51s, 100 of 8,928 sessions", "1 of 6 criteria missed.", "The result is exact",
		"agents_completed", ">= 100%", "pass", "checkpoint_gap", "<= 5m", "FAIL", "6m1s", // criteria
		engine.FormatDuration(desk.totals.Total.Quantile(0.5)), engine.FormatDuration(desk.totals.Service.Quantile(0.95)), "1.0s", "wait for the gate", // latency
		"62 MB", "2.3s", "51s", "checkpoint gap", // peaks
		"bad_answer", "shopper-99", "browse", "no such field…", "Agents that failed: 4: shopper-25 and others.", // errors
		"2026-01-02 15:04:06", "limit", "50", "80", "user", "the slider", "the result is inexact from here on", // changes
	)
	for name, want := range map[string]string{
		"sessions": "100", "ok": "88", "stopped": "8", "failed": "4", "timed out": "0", "acted": "50", "events": "99", "steps": "200", "requests": "150", "retries": "50", "refused (429)": "0",
	} {
		for i, f := range s.page.totals.figures {
			if got := s.page.totals.values[i].Text(); f.name == name && got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
	if s.page.resumed.content.Visible() {
		t.Error("a run that was never resumed shows what resuming did")
	}
	if s.page.models.content.Visible() {
		t.Error("a run without models shows what they took")
	}
	if got, want := s.pick.Selected, "Shoppers, 2026-01-02 15:04:05, finished (new)"; got != want {
		t.Errorf("picked is %q, want %q", got, want)
	}
}

func TestNoRunYet(t *testing.T) {
	_, s := start(t, &fakeDesk{})
	wantShown(t, s, "No run yet", "Choose a scenario in Setup and launch it.")
	if !s.export.Disabled() || s.page.content.Visible() {
		t.Error("without a run there are results")
	}
}

func TestARunThatCalledModels(t *testing.T) {
	totals := some()
	totals.Usage = engine.Usage{Calls: 1200, Input: 50_000, Output: 12_000, Cost: 12_000_000, Hits: 300}
	totals.Shared = engine.Asked{Usage: engine.Usage{Calls: 34, Input: 6000, Cost: 300_000}, Requests: 5000, Labels: [5]int64{engine.Uncertain: 7}}
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	wantShown(t, s, "model calls", "1,234", "tokens in", "56,000", "tokens out", "12,000", "$0.0123", "cached answers", "300", "5,150", "uncertain steps", "7")

	totals.Usage.Unpriced, totals.Usage.Estimated = 34, 1200
	_, s = start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	wantShown(t, s, "56,000, estimated", "$0.0123 and cost unknown for 34 calls")
}

// foreseen is a run with a forecast of some.
func foreseen(id engine.RunID) engine.RunRecord {
	r := record(id, engine.EndFinished)
	r.Forecast = &engine.Forecast{
		Cycle: engine.Between(2, 3, engine.FromProfile), Length: engine.Exactly(30, engine.Guessed), Sessions: engine.Exactly(100, engine.FromFile),
		Requests: engine.Exactly(100, engine.FromFile), RequestRate: engine.Between(27_900, 41_900, engine.Guessed), Calls: engine.Exactly(0, engine.FromFile),
		Memory: engine.Exactly(60e6, engine.Guessed),
	}
	return r
}

func TestForecastAndFact(t *testing.T) {
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{foreseen("r")}, totals: some()})
	wantShown(t, s, "Forecast and fact", "whole run", "30s", "51s", "+70 %", "as forecast", "27,900–41,900", "60 MB", "62 MB", "+4 %", "The forecast was a guess")
	_, s = start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()})
	if s.page.fact.Visible() {
		t.Error("a run without a forecast shows one")
	}
}

func TestARunThatWasHeldBack(t *testing.T) {
	totals := some()
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	if s.page.held.Visible() {
		t.Error("a run that nothing held back shows what did")
	}
	totals.Waits = engine.Waits{engine.RateGate: 90 * time.Second}
	totals.Shared.Waits = engine.Waits{engine.RateGate: 30 * time.Second, engine.JournalGate: time.Second}
	_, s = start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	wantShown(t, s, "Held back, all requests together", "for the rate", "2m0s", "for the journal", "1.0s", "after a 429")
	if !s.page.held.Visible() {
		t.Error("what held requests back is hidden")
	}
}

func TestWhereTheTimeWent(t *testing.T) {
	totals := some()
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	if s.page.time.panel.Visible() {
		t.Error("a run of which nothing is known shows where its time went")
	}
	totals.Peaks.Overhead = engine.Overhead{
		Span: time.Minute, Cores: 2 * time.Minute, Machine: 116 * time.Second, Process: 100 * time.Second, Window: 6 * time.Second, Requests: 100,
		Times: engine.Times{engine.ForServices: 30 * time.Second, engine.ForScripts: 60 * time.Second, engine.ForEngine: 10 * time.Second},
	}
	_, s = start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	wantShown(t, s, "Where the time went", "services 30s", "scripts 1m0s", "python steps", "60 %", "window",
		"This machine is the limit: 97 % of its 2 cores are in use; services answered in 300ms, 10 % of the sessions' time was lost here", "do less in python steps")
}

func TestARunThatWasResumed(t *testing.T) {
	totals := some()
	totals.Labels = [5]int64{100, 22, 3, 1}
	totals.Usage.Again = 2
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	wantShown(t, s, "replayed steps\n22", "uncertain steps\n3", "confirmed steps\n1", "perhaps paid twice\n2")
	if s.page.recorded.content.Visible() {
		t.Error("a run that asked services shows recorded steps")
	}
}

func TestARunThatWasReplayed(t *testing.T) {
	totals := some()
	totals.Labels = [5]int64{engine.Recorded: 321}
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	wantShown(t, s, "recorded steps\n321")
	if !s.page.recorded.content.Visible() || s.page.resumed.content.Visible() {
		t.Error("a replay shows other steps than the recorded ones")
	}
}

func TestPickAnotherRun(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("new", engine.EndFinished), record("old", engine.EndStopped)}, totals: some()}
	q, s := start(t, desk)
	s.pick.SetSelectedIndex(1)
	if s.page.content.Visible() {
		t.Error("the figures of one run are shown as another's")
	}
	wait(q, s)
	if desk.times("totals old") != 1 || s.chosen != "old" {
		t.Errorf("chosen is %s, asked was %q", s.chosen, desk.asked)
	}
	wantShown(t, s, "stopped", "The scenario names no success criteria.")
}

func TestSelectBeforeItIsShown(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("new", engine.EndFinished), record("old", engine.EndStopped)}, totals: some()}
	q := uitest.Start(t)
	s := New(desk, test.NewTempWindow(t, nil))
	s.Select("old")
	if n := desk.times("runs"); n != 0 {
		t.Errorf("a screen that is not visible looked at the store %d times", n)
	}
	s.Show()
	wait(q, s)
	if desk.times("totals old") != 1 || desk.times("totals new") != 0 {
		t.Errorf("asked was %q", desk.asked)
	}
}

func TestMoreRunsThanAreOffered(t *testing.T) {
	desk := &fakeDesk{totals: some()}
	for i := range 1000 {
		desk.runs = append(desk.runs, record(engine.RunID(fmt.Sprint("run ", i)), engine.EndFinished))
	}
	q, s := start(t, desk)
	if got := len(s.pick.Options); got != offered {
		t.Errorf("%d runs are offered, want %d", got, offered)
	}
	s.Select("run 900")
	wait(q, s)
	if got := s.pick.Selected; !strings.Contains(got, "run 900") || len(s.pick.Options) != offered+1 {
		t.Errorf("picked is %q of %d", got, len(s.pick.Options))
	}
}

func TestARunInProgressIsFollowed(t *testing.T) {
	r := record("r", engine.NotEnded)
	r.InProgress = true
	desk := &fakeDesk{runs: []engine.RunRecord{r}, totals: some()}
	q, s := start(t, desk)
	wantShown(t, s, "in progress", "100 of 8,928 sessions so far", "Criteria are judged when the run has ended.", "exact so far")
	tick := func(n int) {
		t.Helper()
		for range n {
			s.Tick()
			wait(q, s)
		}
	}
	desk.set(func() { desk.runs[0].Done++ })
	tick(refreshTicks)
	if runs, totals := desk.times("runs"), desk.times("totals r"); runs != 2 || totals != 1 {
		t.Errorf("after a while the runs were read %d times and the figures %d times, want 2 and 1", runs, totals)
	}
	tick(figuresTicks)
	if n := desk.times("totals r"); n != 2 {
		t.Errorf("after a longer while the figures were read %d times, want twice", n)
	}
	desk.set(func() {
		desk.runs[0].InProgress, desk.runs[0].Ending, desk.runs[0].Verdict = false, engine.EndFinished, six()
	})
	tick(refreshTicks)
	if n := desk.times("totals r"); n != 3 {
		t.Errorf("when it had ended the figures were read %d times, want at once again", n)
	}
	wantShown(t, s, "finished", "1 of 6 criteria missed.")
	tick(3 * figuresTicks)
	if n := desk.times("totals r"); n != 3 {
		t.Errorf("the figures of a run that is over were read %d times", n)
	}
}

func TestALateAnswerIsDropped(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("new", engine.EndFinished), record("old", engine.EndStopped)}, totals: some()}
	_, s := start(t, desk)
	answers := make(chan func(), 2)
	async.Replace(func(f func()) { answers <- f })
	hold := make(chan struct{})
	desk.set(func() { desk.hold = hold })
	s.Select("old") // is held up
	s.Select("new") // is there
	(<-answers)()
	close(hold)
	(<-answers)()
	if s.chosen != "new" || s.of.run != "new" || !s.page.content.Visible() {
		t.Errorf("chosen is %s, shown are the figures of %s", s.chosen, s.of.run)
	}
}

func TestTheWholeOfAnError(t *testing.T) {
	message := "no such field\nprice"
	desk := &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some(), errors: []engine.ErrorNote{{Class: engine.BadAnswer, Count: 1234, Cycle: 2, Agent: 99, Path: "browse", Message: message}}}
	_, s := start(t, desk)
	s.page.showError("bad_answer")
	shown := s.win.Canvas().Overlays().Top()
	if shown == nil {
		t.Fatal("nothing is shown")
	}
	for _, text := range []string{"bad_answer", "The last of 1,234: cycle 2, agent 99, step browse", message} {
		if !uitest.Shows(shown, text) {
			t.Errorf("%q is not shown, but %q", text, uitest.Texts(shown))
		}
	}
}

func TestExportAsksWhere(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()}
	q, s := start(t, desk)
	home := t.TempDir()
	t.Setenv("HOME", home)
	q.Tap(s.Content(), "Export CSV…")
	picker := s.win.Canvas().Overlays().Top()
	if picker == nil {
		t.Fatal("nothing is asked")
	}
	q.Tap(picker, "Export here")
	wait(q, s)
	if n := desk.times("export r to " + home); n != 1 {
		t.Errorf("asked was %q", desk.asked)
	}
}

func TestExport(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()}
	q, s := start(t, desk)
	s.pickPath = func(_, _ string, then func(string)) { then("/there") }
	q.Tap(s.Content(), "Export CSV…")
	wait(q, s)
	if n := desk.times("export r to /there"); n != 1 {
		t.Errorf("asked was %q", desk.asked)
	}
	if got, want := s.said.Text(), "Exported to /there/throng-r: metrics.csv"; !strings.HasPrefix(got, want) {
		t.Errorf("said is %q, want %q", got, want)
	}
	desk.set(func() { desk.exportErr = engine.ErrNoRoom })
	q.Tap(s.Content(), "Export CSV…")
	wait(q, s)
	if got, want := s.said.Text(), "The export failed; the run is as it was. There is no room on the disk"; !strings.HasPrefix(got, want) {
		t.Errorf("said is %q, want %q", got, want)
	}
}

// TestOtherWays are the report and Parquet: asked for and told of like CSV.
func TestOtherWays(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()}
	q, s := start(t, desk)
	var asked []string
	s.pickPath = func(title, _ string, then func(string)) {
		asked = append(asked, title)
		then("/there")
	}
	do := func(name string) {
		for _, a := range s.Actions() {
			if a.Name == name && a.Menu == "File" && a.Enabled() {
				a.Do()
				wait(q, s)
				return
			}
		}
		t.Fatalf("%s is not offered", name)
	}
	q.Tap(s.Content(), "Report…")
	wait(q, s)
	if got, want := s.said.Text(), "The report is /there/throng-r.html: one file"; !strings.HasPrefix(got, want) || desk.times("report r to /there") != 1 {
		t.Errorf("said is %q, want %q; asked was %q", got, want, desk.asked)
	}
	do("Export Parquet…")
	if got, want := s.said.Text(), "Exported to /there/throng-r, with the columns"; !strings.HasPrefix(got, want) || desk.times("parquet r to /there") != 1 {
		t.Errorf("said is %q, want %q; asked was %q", got, want, desk.asked)
	}
	if want := []string{"Report: an HTML file is made in this folder", "Export Parquet: a new folder is made in this one"}; !slices.Equal(asked, want) {
		t.Errorf("asked was %q, want %q", asked, want)
	}
	desk.set(func() { desk.exportErr = engine.ErrNoRoom })
	do("Report…")
	if got, want := s.said.Text(), "There is no report; the run is as it was. There is no room on the disk"; !strings.HasPrefix(got, want) {
		t.Errorf("said is %q, want %q", got, want)
	}
}

func TestAudit(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()}
	q, s := start(t, desk)
	for _, c := range []struct {
		audited string
		err     error
		want    string
	}{
		{"312 figures recomputed, all equal; 14 recorded only", nil, "Audited: 312 figures recomputed, all equal; 14 recorded only."},
		{"312 figures recomputed, 2 of them differ; 14 recorded only", nil, "Audited: 312 figures recomputed, 2 of them differ; 14 recorded only. Which they are, says: throngctl audit r"},
		{"", engine.ErrNotFound, "The audit failed; it changes nothing. It is not there any more: it was deleted, perhaps in another window. Not found."},
	} {
		desk.set(func() { desk.audited, desk.auditErr = c.audited, c.err })
		q.Tap(s.Content(), "Audit")
		wait(q, s)
		if got := s.said.Text(); got != c.want {
			t.Errorf("said is %q, want %q", got, c.want)
		}
	}
	desk.set(func() { desk.runs[0].InProgress, desk.runs[0].Done = true, 5 })
	s.load()
	wait(q, s)
	if n := desk.times("audit r"); n != 3 || !s.audit.Disabled() {
		t.Errorf("%d audits; a run in progress can be audited: %v", n, !s.audit.Disabled())
	}
}

func TestTheStoreCannotBeRead(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()}
	q, s := start(t, desk)
	for _, fail := range []func(){
		func() { desk.runsErr = fmt.Errorf("disk I/O error") },
		func() { desk.runsErr, desk.totalsErr, desk.runs[0].Done = nil, fmt.Errorf("disk I/O error"), 1 },
	} {
		desk.set(fail)
		s.load()
		wait(q, s)
		if !s.trouble.Visible() || !strings.Contains(s.trouble.Text(), "Disk I/O error") {
			t.Errorf("said is %q", s.trouble.Text())
		}
		wantShown(t, s, "after 51s", "requests\n150") // as far as is known
	}
	desk.set(func() { desk.totalsErr = nil })
	s.load()
	wait(q, s)
	if s.trouble.Visible() {
		t.Errorf("the store can be read again, and still %q is said", s.trouble.Text())
	}
}

// TestWhatWasToldIsShownInWords holds how messages by hand stand among the changes.
func TestWhatWasToldIsShownInWords(t *testing.T) {
	for said, want := range map[string]string{
		`{"text":"storm","data":{"wind":9}}`: "told mara: storm; the result is inexact from here on",
		`{"text":null,"data":{"wind":9}}`:    `told mara: {"wind":9}; the result is inexact from here on`,
	} {
		rows := changeRows([]engine.ChangeRow{{
			What: engine.InjectChange, Old: "mara", New: `{"cycle":2,"to":[1],"said":` + said + `}`, Who: "user", Inexact: &engine.Inexact{},
		}})
		if cells := rows[0].Cells; cells[6].Text != want || cells[3].Text+cells[4].Text != "" {
			t.Errorf("%s is shown as %+v, want %s", said, cells, want)
		}
	}
}

// TestOrdersAndMovesAreShownInWords holds that nothing is shown that is for the engine or has no glyph.
func TestOrdersAndMovesAreShownInWords(t *testing.T) {
	rows := changeRows([]engine.ChangeRow{
		{What: engine.RetireChange, Old: "lena", New: `{"cycle":3,"agent":17}`, Who: "user"},
		{What: engine.LimitChange, Old: "25", New: "20", Who: "resources", Why: "25 → 20: CPU 91 %"},
	})
	if cells := rows[0].Cells; cells[6].Text != "agent lena" || cells[3].Text+cells[4].Text != "" {
		t.Errorf("a retired agent is shown as %+v", cells)
	}
	if got := rows[1].Cells[6].Text; got != "25 to 20: CPU 91 %" {
		t.Errorf("a move is shown as %q", got)
	}
}

// TestResultsFitASmallWindow: beside the navigation of a window of 1000 there are 869.
func TestResultsFitASmallWindow(t *testing.T) {
	totals := some()
	totals.Usage = engine.Usage{Calls: 1200, Input: 50_000, Output: 12_000, Cost: 12_000_000, Hits: 300}
	totals.Waits = engine.Waits{engine.RateGate: 90 * time.Second}
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{foreseen("r")}, totals: totals})
	if got := s.page.content.MinSize().Width; got > 869 {
		t.Errorf("the page wants %v", got)
	}
}
