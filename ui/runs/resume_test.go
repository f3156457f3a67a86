package runs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestResumeWithALargerBudget checks that a run whose budget is used up can be resumed with twice the budget, or with
// another one that the user enters.
func TestResumeWithALargerBudget(t *testing.T) {
	desk := two()
	out := &desk.runs[0]
	out.Ending, out.Settings.Budget.Requests = engine.EndOutOfBudget, 1500
	out.Reason = "the budget of 1,500 requests is used up: 1,500 spent"
	q, s, _ := start(t, desk)
	wantShown(t, s, "New budget", "requests")
	for _, c := range []struct{ text, want string }{{"", "3000"}, {"1,700", "1700"}, {" 0 ", "0"}} {
		if c.text != "" {
			s.detail.entry.SetText(c.text)
		}
		s.draw()
		q.Tap(s.Content(), "Resume")
		wait(q, s)
		orders := desk.orders()
		if got, want := orders[len(orders)-1], "resume new with 0 and "+c.want; got != want {
			t.Errorf("got calls %q, want %q", got, want)
		}
	}
	s.choose("old")
	if got := s.detail.until.Text(); strings.Contains(got, "budget") {
		t.Errorf("a run that has finished is offered a budget: %s", got)
	}
}

// TestMakeLonger checks that a finished run can be resumed only after its length was changed.
func TestMakeLonger(t *testing.T) {
	desk := two()
	r := &desk.runs[0]
	finished(r)
	desk.checkpoints["new"] = nil
	q, s, _ := start(t, desk)
	wantShown(t, s, "New length", "cycles", "To extend it, enter a new length")
	resume := uitest.Button(s.Content(), "Resume")
	for _, text := range []string{"24", "30", " 24 ", "48"} {
		s.detail.entry.SetText(text)
		if longer := strings.TrimSpace(text) != "24"; resume.Disabled() == longer {
			t.Errorf("with a length of %s it can be resumed: %v", text, !resume.Disabled())
		}
	}
	q.Tap(s.Content(), "Resume")
	wait(q, s)
	orders := desk.orders()
	if got, want := orders[len(orders)-1], "resume new with 0 and 48"; got != want {
		t.Errorf("got calls %q, want %q", got, want)
	}
	r.Settings.Cycles, r.Cycles, r.Cycle = 48, 48, 48 // it has continued
	s.load()
	wait(q, s)
	if got := s.detail.entry.Text; got != "48" || !resume.Disabled() {
		t.Errorf("after that it is offered a length of %s, to be resumed: %v", got, !resume.Disabled())
	}
	r.Fetched = &engine.Fetched{Database: "db"}
	s.load()
	wait(q, s)
	if s.detail.entry.Visible() {
		t.Error("another machine's run can be extended here")
	}
}

func TestResume(t *testing.T) {
	for _, c := range []struct {
		name, limit, want string
	}{
		{"as it was", "50", "resume new with 0"},
		{"with nothing written", " ", "resume new with 0"},
		{"with another limit", "1,200", "resume new with 1200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			desk := two()
			q, s, h := start(t, desk)
			s.detail.limit.SetText(c.limit)
			q.Tap(s.Content(), "Resume")
			wait(q, s)
			wantOrders(t, desk, c.want)
			if h.resumed != 1 {
				t.Errorf("the window received it %d times", h.resumed)
			}
		})
	}
}

func TestResumeWithAWrongLimit(t *testing.T) {
	desk := two()
	q, s, h := start(t, desk)
	for _, text := range []string{"0", "many", "-1", "1000001"} {
		s.detail.limit.SetText(text)
		q.Tap(s.Content(), "Resume")
		wantShown(t, s, "The limit must be a whole number from 1 to 1,000,000.")
	}
	wantOrders(t, desk)
	if h.resumed != 0 {
		t.Error("the window was notified that the run continues")
	}
}

func TestResumeIsRefused(t *testing.T) {
	desk := two()
	desk.err = fmt.Errorf("start: %w", errors.Join(&engine.FieldError{Field: "ceiling", Problem: "is low"}, &engine.FieldError{Field: engine.LimitSetting, Problem: "is high", Hint: "lower it"}))
	q, s, h := start(t, desk)
	var marked error
	s.detail.limit.SetOnValidationChanged(func(err error) { marked = err })
	q.Tap(s.Content(), "Resume")
	wait(q, s)
	if got := s.list.status.Text(); !strings.Contains(got, "max-concurrent: is high (lower it)") || !strings.Contains(got, "ceiling: is low") {
		t.Errorf("got %q", got)
	}
	if marked == nil {
		t.Error("the limit is not marked")
	}
	if h.resumed != 0 {
		t.Error("the window was notified that the run continues")
	}
	if b := uitest.Button(s.Content(), "Resume"); b.Disabled() {
		t.Error("the resume cannot be tried again")
	}
}

func TestResumeIsRefusedLate(t *testing.T) {
	desk := two()
	desk.hold, desk.err = make(chan struct{}), &engine.FieldError{Field: engine.LimitSetting, Problem: "is high"}
	q, s, _ := start(t, desk)
	q.Tap(s.Content(), "Resume")
	s.Select("old")
	var marked error
	s.detail.limit.SetOnValidationChanged(func(err error) { marked = err })
	close(desk.hold)
	wait(q, s)
	wantShown(t, s, "Run new: max-concurrent: is high")
	if marked != nil {
		t.Errorf("another run's limit is marked: %v", marked)
	}
}

// resumeFrom is the text of the primary button for a checkpoint.
func resumeFrom(c engine.CheckpointRecord) string {
	return "Resume from " + moment(c.At, time.Now()) + "…"
}

// TestResumeFromAnOlderCheckpoint selects an older checkpoint in the list and on the timeline, and continues from there.
func TestResumeFromAnOlderCheckpoint(t *testing.T) {
	desk := two()
	q, s, h := start(t, desk)
	older := points("new")[1]
	s.detail.points.OnSelected("1")
	wantShown(t, s, "Resume continues from the start of cycle 0 as a new run with the same scenario and settings: no session is kept, and the 300 already done in cycle 0 run again. This run stays as it is.")
	s.detail.points.OnSelected("2")
	if s.detail.resume.Text != "Resume" {
		t.Errorf("the newest checkpoint offers %q", s.detail.resume.Text)
	}
	s.detail.checkpointLine.TypedKey(&fyne.KeyEvent{Name: fyne.KeyLeft})
	if got := s.detail.points.Selected(); got != "1" {
		t.Fatalf("the timeline selected %q", got)
	}
	q.Tap(s.Content(), resumeFrom(older))
	dialog := s.win.Canvas().Overlays().Top()
	if !uitest.Shows(dialog, "A new run continues from checkpoint 1, at the start of cycle 0, with the same scenario and settings: no session is kept, and the 300 already done in cycle 0 run again. Shoppers and its results stay as they are.") {
		t.Errorf("the dialog shows %q", uitest.Texts(dialog))
	}
	q.Tap(dialog, "Cancel")
	q.Tap(s.Content(), resumeFrom(older))
	q.Tap(s.win.Canvas().Overlays().Top(), "Change settings…")
	if want := []string{"new at 1, renewed false"}; !slices.Equal(h.forks, want) {
		t.Errorf("set up were %q, want %q", h.forks, want)
	}
	s.detail.limit.SetText("80")
	q.Tap(s.Content(), resumeFrom(older))
	q.Tap(s.win.Canvas().Overlays().Top(), "Resume")
	wait(q, s)
	wantOrders(t, desk, "resume new from 1 with 80")
	if h.resumed != 1 {
		t.Errorf("Live was opened %d times", h.resumed)
	}
}

// TestCheckpointsOfOneMinute offers two checkpoints of the same cycle and minute: their names differ in the seconds, and the sentences in the
// sessions that run again.
func TestCheckpointsOfOneMinute(t *testing.T) {
	desk := two()
	all := []engine.CheckpointRecord{
		{Run: "new", Number: 3, At: began.Add(30 * time.Minute), Cycle: 9, Done: 3500, Kept: 3348, Total: 8928, Newest: true},
		{Run: "new", Number: 2, At: began.Add(48 * time.Second), Cycle: 7, Done: 2972, Kept: 2604, Total: 8928},
		{Run: "new", Number: 1, At: began.Add(12 * time.Second), Cycle: 7, Done: 2842, Kept: 2604, Total: 8928},
	}
	desk.checkpoints["new"] = all
	q, s, _ := start(t, desk)
	for number, want := range map[string]string{"1": "the 238 already done in cycle 7 run again", "2": "the 368 already done in cycle 7 run again"} {
		s.detail.points.OnSelected(number)
		c := s.checkpoint()
		q.Tap(s.Content(), "Resume from "+moment(c.At, time.Now())+c.At.Local().Format(":05")+"…")
		dialog := s.win.Canvas().Overlays().Top()
		if !uitest.Shows(dialog, "2,604 sessions are kept, and "+want) || !uitest.Shows(dialog, "Resume from "+moment(c.At, time.Now())+c.At.Local().Format(":05")+"?") {
			t.Errorf("checkpoint %s: the dialog shows %q", number, uitest.Texts(dialog))
		}
		q.Tap(dialog, "Cancel")
	}
}

// TestResumeFromOfACompleteRun continues a complete run from its newest checkpoint, which is before its end, or extends it.
func TestResumeFromOfACompleteRun(t *testing.T) {
	desk := two()
	finished(&desk.runs[0])
	q, s, _ := start(t, desk)
	q.Tap(s.Content(), resumeFrom(points("new")[0]))
	q.Tap(s.win.Canvas().Overlays().Top(), "Resume")
	wait(q, s)
	s.detail.entry.SetText("48")
	q.Tap(s.Content(), "Resume")
	wait(q, s)
	wantOrders(t, desk, "resume new from 2 with 0", "resume new with 0 and 48")
}

func TestTheChosenCheckpointStays(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	s.detail.points.OnSelected("1")
	desk.set(func() { // another is taken: the older one stays chosen
		newer := points("new")
		newer[0].Newest = false
		desk.checkpoints["new"] = append([]engine.CheckpointRecord{{Run: "new", Number: 3, At: began.Add(time.Hour), Done: 800, Total: 8928, Newest: true}}, newer...)
	})
	s.load()
	wait(q, s)
	if got := s.detail.points.Selected(); got != "1" {
		t.Errorf("selected is checkpoint %q, want still 1", got)
	}
	s.detail.points.OnSelected("3")
	if b := uitest.Button(s.Content(), "Resume"); b == nil || b.Disabled() {
		t.Error("the newest checkpoint cannot be resumed")
	}

	s.detail.points.OnSelected("1")
	desk.set(func() { desk.checkpoints["new"] = desk.checkpoints["new"][:1] }) // the others were pruned
	s.load()
	wait(q, s)
	if b, got := uitest.Button(s.Content(), "Resume"), s.detail.points.Selected(); b == nil || b.Disabled() || got != "3" {
		t.Errorf("after the selected checkpoint was removed, %q is selected", got)
	}
	wantShown(t, s, "16 sessions completed since this checkpoint")

	desk.set(func() { desk.checkpoints["new"] = nil })
	s.load()
	wait(q, s)
	wantShown(t, s, "No checkpoints yet.", "816 sessions completed since the start of the run")
}
