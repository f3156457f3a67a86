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
	"github.com/throng-sim/throng/engine/outcomes"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/uitest"
)

// fakeDesk has the same figures for all runs and records calls.
type fakeDesk struct {
	mu                  sync.Mutex
	runs                []engine.RunRecord
	totals              engine.Totals
	changes             []engine.ChangeRow
	doubts              engine.UnconfirmedList
	errors              []engine.ErrorNote
	runsErr             error
	totalsErr           error
	exportErr, auditErr error
	details             *view.Details
	detailsErr          error
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

// set changes the desk between calls.
func (d *fakeDesk) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// times returns how often a call was made.
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

func (d *fakeDesk) Unconfirmed(_ context.Context, _ engine.RunID, most int) (engine.UnconfirmedList, error) {
	u := d.doubts
	u.First = u.First[:min(most, len(u.First))]
	return u, nil
}

func (d *fakeDesk) Failed(_ context.Context, _ engine.RunID, t *engine.Totals) (string, error) {
	if _, all := t.Failures(0); all == 0 {
		return "", nil
	}
	return "4: shopper-25 and others", nil
}

func (d *fakeDesk) ExportAs(_ context.Context, run engine.RunID, dir, format string) (string, error) {
	d.ask("%s %s to %s", format, run, dir)
	return dir + "/throng-" + string(run), d.exportErr
}

func (d *fakeDesk) Details(context.Context, engine.RunID) (*view.Details, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.details == nil {
		return &view.Details{Outcomes: &outcomes.Outcomes{}}, d.detailsErr
	}
	return d.details, d.detailsErr
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

func criterion(metric, text, shown string, passed bool) engine.Judgment {
	return engine.Judgment{Criterion: engine.Criterion{Metric: metric, Text: text}, Shown: shown, Passed: passed}
}

// some are the totals of 100 sessions that took 10 ms, 20 ms and so on.
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
	t.Inexact = nil
	return t
}

// start shows the screen with a desk.
func start(t *testing.T, desk *fakeDesk) (*uitest.Queue, *Screen) {
	t.Helper()
	q := uitest.Start(t)
	win := test.NewTempWindow(t, nil)
	s := New(desk, nil, win)
	win.SetContent(s.Content())
	win.Resize(fyne.NewSize(1130, 780))
	s.page.diagnostics.turn()
	s.page.inputs.turn()
	s.Show()
	q.Until("the store is read", func() bool { return !s.loading })
	return q, s
}

func wantShown(t *testing.T, s *Screen, wanted ...string) {
	t.Helper()
	for _, text := range wanted {
		if !uitest.Shows(s.Content(), text) {
			t.Errorf("%q is not shown in %q", text, uitest.Texts(s.Content()))
		}
	}
}

func wait(q *uitest.Queue, s *Screen) {
	q.Until("done", func() bool { return len(s.exporting) == 0 && len(s.auditing) == 0 && !s.loading })
}

// six are six criteria. Five are met.
func six() []engine.Judgment {
	return []engine.Judgment{
		criterion("agents_completed", ">= 100%", "100%", true), criterion("error_rate", "< 5%", "0%", true), criterion("cycle_time", "< 60s", "2.3 s", true),
		criterion("memory", "< 12GB", "0.0625 GB", true), criterion("db_connections", "<= 55", "4", true), criterion("checkpoint_gap", "<= 5m", "6 min 1 s", false),
	}
}

// foreseen is a run with a forecast.
func foreseen(id engine.RunID) engine.RunRecord {
	r := record(id, engine.EndFinished)
	r.Forecast = &engine.Forecast{
		Cycle: engine.Between(2, 3, engine.FromProfile), Length: engine.Exactly(30, engine.Guessed), Sessions: engine.Exactly(100, engine.FromFile),
		Requests: engine.Exactly(100, engine.FromFile), RequestRate: engine.Between(27_900, 41_900, engine.Guessed), Calls: engine.Exactly(0, engine.FromFile),
		Memory: engine.Exactly(60e6, engine.Guessed),
	}
	return r
}

// Speakers implements Desk.
func (d *fakeDesk) Speakers(context.Context, engine.RunID) (Source, error) { return pair{}, nil }

// pair is a run of one conversation.
type pair struct{}

func (pair) Agents() int     { return 1 }
func (pair) Name(int) string { return "pair-3" }
func (pair) Search(context.Context, string, int) (found []int, more bool, err error) {
	return []int{0}, false, nil
}

func (pair) Transcript(context.Context, view.TranscriptQuery) (view.Transcript, error) {
	return view.Transcript{Lines: []view.Line{{ID: "pair-3", Speaker: "Ada", Text: "The harbor first."}}}, nil
}

func (pair) Events(context.Context, view.EventQuery) (view.Events, error) {
	return view.Events{Rows: []view.EventRow{
		{ID: "pair-3", Name: "order", Data: `{"total": 41.5, "coupon": "SPRING"}`}, {ID: "pair-4", Name: "order", Data: `{"total": 7}`},
	}}, nil
}
