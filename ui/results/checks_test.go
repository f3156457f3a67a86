package results

import (
	"context"
	"errors"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

func (d *fakeDesk) Checks(_ context.Context, run engine.RunID) ([]engine.Check, error) {
	d.ask("checks %s", run)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.checks, d.checksErr
}

func (d *fakeDesk) Send(_ context.Context, run engine.RunID) error {
	d.ask("send %s", run)
	return d.exportErr
}

func (d *fakeDesk) Note(_ context.Context, run engine.RunID, text string) error {
	d.ask("note %q with %s", text, run)
	return nil
}

// checked is a run with checks.
func checked() *fakeDesk {
	return &fakeDesk{
		runs: []engine.RunRecord{record("new", engine.EndFinished), record("old", engine.EndStopped)}, totals: some(),
		checks: []engine.Check{
			{Name: "Errors", Grade: engine.GradeWarning, Text: "4 sessions failed", Fix: engine.FixExport},
			{Name: "Unsent rows", Grade: engine.GradeProblem, Text: "12 rows wait", Hint: "look at the database", Fix: engine.FixSend},
			{Name: "Checkpoints to clean", Grade: engine.GradeOK, Text: "10 of them", Fix: engine.FixFree},
		},
	}
}

func settled(q *uitest.Queue, s *Screen, text string) {
	q.Until(text, func() bool { return uitest.Shows(s.Content(), text) })
}

// TestShowsTheChecks checks that an ended run is checked immediately, that each result is shown as a word, and that its
// button fixes the problem.
func TestShowsTheChecks(t *testing.T) {
	desk := checked()
	q, s := start(t, desk)
	settled(q, s, "1 problem, 1 warning, 1 ok")
	wantShown(t, s, "After the run", "warning", "4 sessions failed", "problem", "12 rows wait", "look at the database", "10 of them")
	if uitest.Button(s.Content(), "Free space…") != nil {
		t.Error("there is a button that leads nowhere")
	}
	q.Tap(s.Content(), "Send now")
	settled(q, s, "Sending the results of run new")
	desk.set(func() { desk.exportErr = errors.New("nothing answers") })
	q.Tap(s.Content(), "Send now")
	settled(q, s, "Cannot send the rows. They are kept on this machine. Nothing answers")
	s.load()
	wait(q, s)
	if n := desk.times("checks new"); n != 1 {
		t.Errorf("the run was looked at %d times", n)
	}
	s.Select("old")
	settled(q, s, "1 problem, 1 warning, 1 ok")
	q.Until("looked at", func() bool { return desk.times("checks old") == 1 })
}

func TestWaysFromTheChecks(t *testing.T) {
	desk := checked()
	q, s := start(t, desk)
	went := ""
	s.Lead(Ways{
		Clean: func() { went += "clean " }, Settings: func() { went += "settings " },
		Replay: func(run engine.RunID) { went += "replay " + string(run) + " " }, Compare: func(run engine.RunID) { went += "compare " + string(run) },
	})
	desk.set(func() {
		desk.checks = append(desk.checks, engine.Check{Name: "Metrics", Grade: engine.GradeUnknown, Fix: engine.FixSettings})
	})
	s.checkAgain()
	settled(q, s, "1 unknown")
	for _, button := range []string{"Free space…", "Open Settings", "History", "Compare…"} {
		q.Tap(s.Content(), button)
	}
	if want := "clean settings replay new compare new"; went != want {
		t.Errorf("went %q, want %q", went, want)
	}
}

func TestARunInProgressIsNotChecked(t *testing.T) {
	desk := checked()
	desk.runs[0].InProgress, desk.runs[0].Ending = true, engine.NotEnded
	_, s := start(t, desk)
	if uitest.Shows(s.Content(), "After the run") || desk.times("checks new") > 0 {
		t.Error("a run in progress is looked at as if it were over")
	}
}

func TestChecksFail(t *testing.T) {
	desk := checked()
	desk.checksErr = errors.New("disk I/O error")
	q, s := start(t, desk)
	settled(q, s, "Cannot check the run. Disk I/O error")
	desk.set(func() { desk.checksErr = nil })
	s.load()
	settled(q, s, "1 problem, 1 warning, 1 ok")
}

// TestLatestErrors checks that the details of an error class list several errors.
func TestLatestErrors(t *testing.T) {
	desk := checked()
	desk.errors = []engine.ErrorNote{{Class: engine.BadAnswer, Count: 4, Cycle: 2, Agent: 99, Name: "shopper-99", Path: "browse", Message: "no such field"}}
	_, s := start(t, desk)
	s.page.showError(engine.BadAnswer.String())
	shown := strings.Join(uitest.Texts(s.win.Canvas().Overlays().Top()), "\n")
	for _, text := range []string{"bad_answer: 4", "The last of 4: cycle 2, agent shopper-99, step browse", "no such field", "Cycle 1, agent shopper-99, step browse, before that", "before: no such field"} {
		if !strings.Contains(shown, text) {
			t.Errorf("%q is not shown, but\n%s", text, shown)
		}
	}
}

// TestOutcomes checks the counts and shares of sessions by outcome.
func TestOutcomes(t *testing.T) {
	_, s := start(t, checked())
	wantShown(t, s, "ok 88 (88%)", "stopped by a step 8 (8.0%)", "failed 4 (4.0%)")
	for n, want := range map[int64]string{0: "0", 1: "1 (under 0.1%)", 7_464_000: "7,464,000 (75%)", 9_960_000: "9,960,000 (99.6%)", 9_999_999: "9,999,999 (over 99.9%)", 10_000_000: "10,000,000 (100%)"} {
		if got := shareText(n, 10_000_000); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

// TestNoteOfResults checks that a note about a run is saved.
func TestNoteOfResults(t *testing.T) {
	desk := checked()
	desk.runs[0].Note = "as ever"
	q, s := start(t, desk)
	var entry *widget.Entry
	uitest.Walk(s.page.note, func(o fyne.CanvasObject) bool {
		if e, ok := o.(*widget.Entry); ok {
			entry = e
		}
		return entry == nil
	})
	if entry.Text != "as ever" {
		t.Errorf("the note is %q", entry.Text)
	}
	entry.SetText("slower")
	settled(q, s, "Saved")
	if n := desk.times(`note "slower" with new`); n != 1 || s.runs[0].Note != "slower" {
		t.Errorf("saved %d times, the run's note is %q", n, s.runs[0].Note)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
