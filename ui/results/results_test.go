package results

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestShowsTheNewestRun(t *testing.T) {
	newest := record("new", engine.EndFinished)
	newest.Verdict = six()
	desk := &fakeDesk{
		runs: []engine.RunRecord{newest, record("old", engine.EndStopped)}, totals: some(),
		errors: []engine.ErrorNote{{Class: engine.BadAnswer, Count: 4, Cycle: 2, Agent: 99, Name: "shopper-99", Path: "browse", Message: "no such field\nprice"}},
		changes: []engine.ChangeRow{
			{At: began.Add(time.Second), Cycle: 1, What: engine.LimitSetting, Old: "50", New: "80", Who: "user", Why: "the slider"},
			{At: began.Add(time.Minute), Cycle: 2, What: "retired", Who: "user", Inexact: &engine.Inexact{}},
		},
	}
	_, s := start(t, desk)
	wantShown(t, s,
		"finished", "after 51 s, 100 of 8,928 sessions", "1 of 6 criteria missed (checkpoint_gap was 6 min 1 s, wanted <= 5m); 4 of 100", "sessions failed or timed out; the result is exact.",
		"agents_completed", ">= 100%", "pass", "checkpoint_gap", "<= 5m", "FAIL", "6 min 1 s", // criteria
		engine.FormatDuration(desk.totals.Total.Quantile(0.5)), engine.FormatDuration(desk.totals.Service.Quantile(0.95)), "1 s", "queued", // latency
		"62 MB", "2.3 s", "51 s", "checkpoint gap", // peaks
		"bad_answer", "shopper-99", "browse", "no such field…", "Failed agents: 4: shopper-25 and others.", // errors
		"2026-01-02 15:04:06", "Concurrency limit", "50", "80", "user", "the slider", "the result is inexact from here on", // changes
	)
	for name, want := range map[string]string{
		"sessions": "100", "ok": "88", "stopped by a step": "8", "failed": "4", "timed out": "0", "acted": "50", "events": "99", "steps": "200", "requests": "150", "retries": "50", "refused (429)": "0",
	} {
		for i, f := range s.page.totals.figures {
			if got := s.page.totals.values[i].Text(); f.name == name && got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
	if s.page.resumed.content.Visible() {
		t.Error("a run that was never resumed shows effects of resuming")
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
	wantShown(t, s, "No runs yet", "Launch a scenario in Setup.")
	if !s.export.Disabled() || s.page.content.Visible() {
		t.Error("without a run there are results")
	}
}

func TestARunThatCalledModels(t *testing.T) {
	totals := some()
	totals.Usage = engine.Usage{Calls: 1200, Input: 50_000, Output: 12_000, Cost: 12_000_000, Hits: 300}
	totals.Shared = engine.RequestCounts{Usage: engine.Usage{Calls: 34, Input: 6000, Cost: 300_000}, Requests: 5000, Labels: engine.Labels{engine.Resent: 7}}
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	wantShown(t, s, "model calls", "1,234", "tokens in", "56,000", "tokens out", "12,000", "$0.0123", "cached answers", "300", "5,150", "sent again, executed once", "7")

	totals.Usage.Unpriced, totals.Usage.Estimated = 34, 1200
	_, s = start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	wantShown(t, s, "56,000, estimated", "$0.0123 and cost unknown for 34 calls")
}

func TestForecastAndFact(t *testing.T) {
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{foreseen("r")}, totals: some()})
	wantShown(t, s, "Forecast and actual", "whole run", "30 s", "51 s", "+70%", "as forecast", "27,900–41,900", "60 MB", "62 MB", "+4%", "Basis of the forecast: a guess")
	_, s = start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()})
	if s.page.fact.Visible() {
		t.Error("a run without a forecast shows one")
	}
}

func TestAThrottledRun(t *testing.T) {
	totals := some()
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	if s.page.held.Visible() {
		t.Error("a run without throttling shows its cause")
	}
	totals.Waits = engine.Waits{engine.ThrottledByRate: 90 * time.Second}
	totals.Shared.Waits = engine.Waits{engine.ThrottledByRate: 30 * time.Second, engine.ThrottledByJournal: time.Second}
	_, s = start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	wantShown(t, s, "Throttled time, all requests", "rate limiter", "2 min", "journal", "1 s", "429")
	if !s.page.held.Visible() {
		t.Error("the throttling cause is hidden")
	}
}

func TestWhereTheTimeWent(t *testing.T) {
	totals := some()
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	if s.page.time.panel.Visible() {
		t.Error("a run where nothing is known shows where its time went")
	}
	totals.Peaks.Overhead = engine.Overhead{
		Span: time.Minute, Cores: 2 * time.Minute, Machine: 116 * time.Second, Process: 100 * time.Second, Window: 6 * time.Second, Requests: 100,
		Times: engine.Times{engine.ForServices: 30 * time.Second, engine.ForScripts: 60 * time.Second, engine.ForEngine: 10 * time.Second},
	}
	_, s = start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals})
	wantShown(t, s, "Time spent", "services 30 s", "scripts 1 min", "python steps", "60%", "window",
		"This machine is the limit: 97% of its 2 cores are in use; services answered in 300 ms, 10% engine overhead", "do less in python steps")
}

func TestARunThatWasResumed(t *testing.T) {
	totals := some()
	totals.Labels = engine.Labels{engine.Fresh: 100, engine.Replayed: 22, engine.Resent: 3, engine.Confirmed: 1, engine.Unconfirmed: 2}
	doubts := engine.UnconfirmedList{All: 2, First: []engine.UnconfirmedRow{{Path: "pay.order", Request: "POST /orders", Name: "shopper-7"}}}
	totals.Usage.Again = 2
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: totals, doubts: doubts})
	wantShown(t, s, "replayed steps\n22", "sent again, executed once\n3", "already executed\n1", "unconfirmed\n2", "Unconfirmed requests", "2 requests may have been carried out more than once", "shopper-7", "POST /orders", "possibly paid twice\n2")
	if s.page.recorded.content.Visible() {
		t.Error("a run with requests to services shows recorded steps")
	}
}

func TestARunThatWasReplayed(t *testing.T) {
	totals := some()
	totals.Labels = engine.Labels{engine.Recorded: 321}
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
	wantShown(t, s, "stopped", "The run was stopped: no success criteria; 4 of 100 sessions failed or timed out; the")
}

func TestSelectBeforeItIsShown(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("new", engine.EndFinished), record("old", engine.EndStopped)}, totals: some()}
	q := uitest.Start(t)
	s := New(desk, nil, test.NewTempWindow(t, nil))
	s.Select("old")
	if n := desk.times("runs"); n != 0 {
		t.Errorf("a screen that is not visible looked at the store %d times", n)
	}
	s.Show()
	wait(q, s)
	if desk.times("totals old") != 1 || desk.times("totals new") != 0 {
		t.Errorf("got calls %q", desk.asked)
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
	wantShown(t, s, "in progress", "100 of 8,928 sessions so far", "Success criteria are evaluated at the end.", "exact so far")
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
		t.Errorf("when it had ended the figures were read %d times, want immediately again", n)
	}
	wantShown(t, s, "finished", "1 of 6 criteria missed")
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
			t.Errorf("%q is not shown in %q", text, uitest.Texts(shown))
		}
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
			t.Errorf("got %q", s.trouble.Text())
		}
		wantShown(t, s, "after 51 s", "requests\n150") // as far as is known
	}
	desk.set(func() { desk.totalsErr = nil })
	s.load()
	wait(q, s)
	if s.trouble.Visible() {
		t.Errorf("the store can be read again, but the screen still shows %q", s.trouble.Text())
	}
}

// TestWhatWasToldIsShownInWords checks how broadcast messages are described in the list of changes.
func TestWhatWasToldIsShownInWords(t *testing.T) {
	for said, want := range map[string]string{
		`{"text":"storm","data":{"wind":9}}`: "to mara: storm; the result is inexact from here on",
		`{"text":null,"data":{"wind":9}}`:    `to mara: {"wind":9}; the result is inexact from here on`,
	} {
		rows := changeRows([]engine.ChangeRow{{
			What: engine.InjectChange, Old: "mara", New: `{"cycle":2,"to":[1],"said":` + said + `}`, Who: "user", Inexact: &engine.Inexact{},
		}})
		if cells := rows[0].Cells; cells[6].Text != want || cells[3].Text+cells[4].Text != "" {
			t.Errorf("%s is shown as %+v, want %s", said, cells, want)
		}
	}
}

// TestOrdersAndMovesAreShownInWords checks that changes are described without internal data or missing glyphs.
func TestOrdersAndMovesAreShownInWords(t *testing.T) {
	rows := changeRows([]engine.ChangeRow{
		{What: engine.RetireChange, Old: "lena", New: `{"cycle":3,"agent":17}`, Who: "user"},
		{What: engine.LimitSetting, Old: "25", New: "20", Who: "resources", Why: "25 → 20: CPU 91%"},
	})
	if cells := rows[0].Cells; cells[6].Text != "agent lena" || cells[3].Text+cells[4].Text != "" {
		t.Errorf("a retired agent is shown as %+v", cells)
	}
	if got := rows[1].Cells[6].Text; got != "25 to 20: CPU 91%" {
		t.Errorf("a move is shown as %q", got)
	}
}

// TestResultsFitASmallWindow checks that the page fits a window 1000 wide, which leaves 869 next to the navigation.
func TestResultsFitASmallWindow(t *testing.T) {
	totals := some()
	totals.Usage = engine.Usage{Calls: 1200, Input: 50_000, Output: 12_000, Cost: 12_000_000, Hits: 300}
	totals.Waits = engine.Waits{engine.ThrottledByRate: 90 * time.Second}
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{foreseen("r")}, totals: totals})
	if got := s.page.content.MinSize().Width; got > 869 {
		t.Errorf("the page wants %v", got)
	}
}
