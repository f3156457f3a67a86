package runs

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/uitest"
)

// asked waits for a dialog on the screen and returns it.
func asked(q *uitest.Queue, s *Screen) fyne.CanvasObject {
	q.Until("asked", func() bool { return s.win.Canvas().Overlays().Top() != nil })
	return s.win.Canvas().Overlays().Top()
}

// find returns the visible objects of a kind.
func find[T fyne.CanvasObject](o fyne.CanvasObject) (all []T) {
	uitest.Walk(o, func(o fyne.CanvasObject) bool {
		if one, ok := o.(T); ok {
			all = append(all, one)
		}
		return true
	})
	return all
}

// TestDeleteAsksForUnsentRows checks that rows that were not sent are deleted only after explicit confirmation.
func TestDeleteAsksForUnsentRows(t *testing.T) {
	desk := two()
	desk.remote = "db.example.com/throng"
	desk.footprint.Sendings = []view.Sending{{Target: "db.example.com/throng", Unsent: 1234}}
	q, s, _ := start(t, desk)
	q.Tap(s.Content(), "Delete…")
	ask := asked(q, s)
	if text := "1,234 rows not yet in db.example.com/throng."; !uitest.Shows(ask, text) {
		t.Errorf("%q is not shown in %q", text, uitest.Texts(ask))
	}
	if !uitest.Button(ask, "Delete").Disabled() {
		t.Error("the run can be deleted before a choice about the rows")
	}
	find[*widget.RadioGroup](ask)[0].SetSelected(sendFirst)
	find[*widget.Check](ask)[0].SetChecked(true)
	q.Until("the rows are counted", func() bool { return uitest.Shows(ask, "12,345 rows in the database.") })
	q.Tap(ask, "Delete")
	wait(q, s)
	wantOrders(t, desk, "weigh new", "weigh new there", "delete new, sent first, there too")
}

// TestUnsentRowsOfAnotherDatabase checks that rows for a database other than the current one cannot be sent, only
// deleted.
func TestUnsentRowsOfAnotherDatabase(t *testing.T) {
	desk := two()
	desk.remote = "db.example.com/throng"
	desk.footprint.Sendings = []view.Sending{{Target: "old.example.com/throng", Unsent: 1}}
	q, s, _ := start(t, desk)
	q.Tap(s.Content(), "Delete…")
	ask := asked(q, s)
	choice := find[*widget.RadioGroup](ask)[0]
	if len(choice.Options) != 1 || !uitest.Shows(ask, "1 row not yet in old.example.com/throng.") {
		t.Errorf("offered %q, shown %q", choice.Options, uitest.Texts(ask))
	}
	choice.SetSelected(deleteThem)
	q.Tap(ask, "Delete")
	wait(q, s)
	wantOrders(t, desk, "weigh new", "delete new")
}

// TestDeleteCheckpoint moves a checkpoint to the trash and restores it.
func TestDeleteCheckpoint(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	button := uitest.Button(s.Content(), "Delete checkpoint")
	if !button.Disabled() {
		t.Error("the newest checkpoint can be deleted")
	}
	s.detail.points.Select("1")
	s.chooseCheckpoint("1")
	q.Tap(s.Content(), "Delete checkpoint")
	wait(q, s)
	wantOrders(t, desk, "delete checkpoint 1 of new")
	wantShown(t, s, "Deleted: Checkpoint 1 of Shoppers (new). It stays in the trash for 30 days.")
	if len(s.checkpoints) != 1 || !button.Disabled() {
		t.Errorf("%d checkpoints are shown", len(s.checkpoints))
	}
	q.Tap(s.Content(), "Undo")
	q.Until("restored", func() bool { return !s.undo.working && !s.loading })
	wantOrders(t, desk, "delete checkpoint 1 of new", "restore new 1")
	wantShown(t, s, "Checkpoint 1 of Shoppers (new): restored.")
	if len(s.checkpoints) != 2 {
		t.Errorf("%d checkpoints are shown", len(s.checkpoints))
	}
}

func TestCleanUp(t *testing.T) {
	desk := two()
	desk.old = Old{Runs: 2, Checkpoints: 5, Kept: 1, Bytes: 3_000_000, Things: []Thing{{"a", 0}, {"b", 3}}}
	q, s, _ := start(t, desk)
	s.CleanUp()
	ask := asked(q, s)
	remove := uitest.Button(ask, "Delete")
	if !remove.Disabled() {
		t.Error("something can be deleted before anything was asked for")
	}
	days := find[*form.Entry](ask)[1]
	days.SetText("many")
	if !remove.Disabled() || !uitest.Shows(ask, "1 to 100,000") {
		t.Errorf("the problem is not reported: %q", uitest.Texts(ask))
	}
	days.SetText("30")
	q.Until("weighed", func() bool { return uitest.Shows(ask, "2 runs and 5 checkpoints of other runs, about 3 MB.") })
	if !uitest.Shows(ask, "1 run is kept") {
		t.Errorf("shown: %q", uitest.Texts(ask))
	}
	q.Tap(ask, "Delete")
	q.Until("deleted", func() bool { return s.win.Canvas().Overlays().Top() == nil })
	wantOrders(t, desk, "what is older than {Checkpoints:0 OlderThan:720h0m0s Runs:0}", "prune {Checkpoints:0 OlderThan:720h0m0s Runs:0}")
	wantShown(t, s, "2 runs and 5 checkpoints of other runs. It stays in the trash for 30 days.")
	q.Tap(s.Content(), "Undo")
	q.Until("restored", func() bool { return !s.undo.working })
	wantOrders(t, desk, "what is older than {Checkpoints:0 OlderThan:720h0m0s Runs:0}", "prune {Checkpoints:0 OlderThan:720h0m0s Runs:0}", "restore a 0", "restore b 3")
}
