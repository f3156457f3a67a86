package runs

import (
	"errors"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// remove deletes the chosen run.
func remove(q *uitest.Queue, s *Screen) {
	q.Tap(s.Content(), "Delete…")
	q.Tap(asked(q, s), "Delete")
	wait(q, s)
}

// TestUndo undoes deletions, the latest first: with the button, by keyboard, and after the message was closed.
func TestUndo(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	remove(q, s)
	remove(q, s)
	wantShown(t, s, "Greeters (old). It stays in the trash for 30 days.", "No runs yet.")
	done := func() { q.Until("restored", func() bool { return !s.undo.working && !s.loading }) }

	s.Undo()
	done()
	wantShown(t, s, "Greeters (old): restored.")
	if s.chosen != "old" {
		t.Errorf("chosen is %q, want what came back", s.chosen)
	}
	s.list.say("", 0)
	if uitest.Button(s.Content(), "Undo") == nil {
		t.Error("without the message, the earlier deletion cannot be undone")
	}
	s.Undo()
	s.Undo() // twice immediately is once
	done()
	s.Undo() // there is nothing more
	done()
	wantOrders(t, desk, "weigh new", "delete new", "weigh old", "delete old", "restore old 0", "restore new 0")
	wantShown(t, s, "Shoppers (new): restored.")
	if uitest.Button(s.Content(), "Undo") != nil {
		t.Error("there is something to be undone still")
	}
}

// TestUndoFails checks that a failed undo can be retried, unless the run no longer exists.
func TestUndoFails(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	remove(q, s)
	done := func() { q.Until("tried", func() bool { return !s.undo.working }) }
	desk.set(func() { desk.err = errors.Join(engine.ErrNoRoom) })
	q.Tap(s.Content(), "Undo")
	done()
	wantShown(t, s, "There is no room on the disk")
	desk.set(func() { desk.err = engine.ErrNotFound })
	q.Tap(s.Content(), "Undo")
	done()
	wantShown(t, s, "not there any more")
	if uitest.Button(s.Content(), "Undo") != nil {
		t.Error("undo of a missing item can be repeated")
	}
}

// TestDeleteAtOnce checks that a permanent deletion cannot be undone.
func TestDeleteAtOnce(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	q.Tap(s.Content(), "Delete…")
	ask := asked(q, s)
	checks := find[*widget.Check](ask)
	checks[len(checks)-1].SetChecked(true)
	q.Tap(ask, "Delete")
	wait(q, s)
	wantOrders(t, desk, "weigh new", "delete new, permanently")
	wantShown(t, s, "Shoppers (new) is permanently deleted.")
	if uitest.Button(s.Content(), "Undo") != nil {
		t.Error("undo is offered")
	}
}

// TestTrash restores one item of the trash, permanently deletes one, and empties the trash. Both deletions ask first.
func TestTrash(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	s.showTrash()
	q.Until("looked", func() bool { return uitest.Shows(asked(q, s), "The trash is empty.") })
	q.Tap(asked(q, s), "Close")

	s.detail.points.OnSelected("1")
	q.Tap(s.Content(), "Delete checkpoint")
	wait(q, s)
	remove(q, s)
	remove(q, s)
	s.showTrash()
	dialog := asked(q, s)
	q.Until("looked", func() bool { return uitest.Shows(dialog, "checkpoint 1") })
	for _, text := range []string{"Greeters", "Shoppers", "4.1 MB", "30 days", "2 kB"} {
		if !uitest.Shows(dialog, text) {
			t.Errorf("%q is not shown in %q", text, uitest.Texts(dialog))
		}
	}
	q.Tap(dialog, "Restore") // the newest: old
	q.Until("restored", func() bool {
		return uitest.Shows(dialog, "Greeters (old) is restored.") && !slices.Contains(uitest.Texts(dialog), "Greeters") && len(s.runs) == 1 && !s.loading
	})

	table := find[interface {
		fyne.CanvasObject
		Select(string)
	}](dialog)[0]
	table.Select("new 0")
	q.Until("shown", func() bool { return !uitest.Button(dialog, "Delete permanently…").Disabled() })
	q.Tap(dialog, "Delete permanently…")
	if !uitest.Shows(dialog, "Shoppers (new) will be deleted permanently. This cannot be undone.") {
		t.Errorf("no question is asked: %q", uitest.Texts(dialog))
	}
	q.Tap(dialog, "Delete permanently")
	q.Until("deleted", func() bool {
		return uitest.Shows(dialog, "Shoppers (new) is permanently deleted.") && !uitest.Shows(dialog, "4.1 MB")
	})
	q.Tap(dialog, "Empty trash…")
	if !uitest.Shows(dialog, "The item will be deleted permanently, about 2 kB. This cannot be undone.") {
		t.Errorf("no question is asked: %q", uitest.Texts(dialog))
	}
	q.Tap(dialog, "Delete all permanently")
	q.Until("empty", func() bool { return uitest.Shows(dialog, "The trash is empty.") })
	wantOrders(t, desk, "delete checkpoint 1 of new", "weigh new", "delete new", "weigh old", "delete old",
		"restore old 0", "delete new 0 for good", "empty the trash up to 15:04:05")
	q.Tap(dialog, "Close")
	s.undo.undo() // nothing of that is offered any more
	if len(s.undo.past) > 0 || s.undo.working {
		t.Errorf("%+v could be undone", s.undo.past)
	}
}

// TestNote checks that a note about a run is saved and shown in the list.
func TestNote(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	entry := s.detail.noteEntry()
	entry.SetText("slow since the new prices")
	q.Until("listed", func() bool { return s.runs[0].Note == "slow since the new prices" })
	wantShown(t, s, "Saved")
	s.Select("old")
	wait(q, s)
	if entry.Text != "" {
		t.Errorf("the note of another run is %q", entry.Text)
	}
	s.Select("new")
	wait(q, s)
	if entry.Text != "slow since the new prices" {
		t.Errorf("the note is %q", entry.Text)
	}
	hold := make(chan struct{})
	desk.set(func() { desk.hold = hold })
	entry.SetText("and then")
	entry.SetText("and then the end")
	desk.set(func() { desk.hold = nil })
	close(hold)
	if err := s.Close(); err != nil { // the window is closed
		t.Error(err)
	}
	orders := desk.orders()
	if last := orders[len(orders)-1]; last != `note "and then the end" with new` {
		t.Errorf("kept last was %s", last)
	}
}

// TestHistoryOpensTheRun checks that History opens the chosen run.
func TestHistoryOpensTheRun(t *testing.T) {
	q, s, h := start(t, two())
	s.Select("old")
	wait(q, s)
	q.Tap(s.Content(), "History")
	if len(h.replayed) != 1 || h.replayed[0] != "old" {
		t.Errorf("replayed are %q", h.replayed)
	}
}

func (d *detail) noteEntry() *widget.Entry { return find[*widget.Entry](d.note)[0] }

// TestActions checks that every action is in a menu, even if its button has no room, and that no two share a shortcut.
func TestActions(t *testing.T) {
	desk := two()
	_, s, _ := start(t, desk)
	s.win.Resize(fyne.NewSize(760, 700))
	keys := map[string]string{}
	for _, a := range s.Actions() {
		key := a.Keys()
		if other, taken := keys[key]; taken && key != "" {
			t.Errorf("%s has the keys %q of %s", a.Name, key, other)
		}
		keys[key] = a.Name
		switch a.Name {
		case "Delete run…", "Trash…", "Edit note", "History":
			if !a.Can() {
				t.Errorf("%s cannot be done", a.Name)
			}
		case "Undo":
			if a.Can() {
				t.Error("there is nothing to be undone")
			}
		}
	}
}
