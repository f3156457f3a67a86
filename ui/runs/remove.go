package runs

import (
	"context"
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Deletion says how to delete a run.
type Deletion struct {
	Send  bool // send unsent rows to the configured database first
	There bool // also delete its rows in that database, permanently
	Now   bool // delete it permanently instead of moving it to the trash
}

// Choices for rows that are not in the database yet.
const (
	sendFirst  = "Send them first"
	deleteThem = "Delete without sending"
)

// removal is the dialog that deletes a run.
type removal struct {
	screen *Screen
	run    engine.RunID
	unsent *widget.RadioGroup // nil if everything has arrived
	there  *widget.Check      // nil if nothing was sent to the configured database
	now    *widget.Check
	weight *widgets.Text
	dialog *dialog.CustomDialog
	remove *widget.Button
}

// askDelete shows what would be deleted and asks.
func (s *Screen) askDelete() {
	run := s.chosen
	work(s, run, "Calculating…", s.desk.Footprint, func(d view.Footprint) {
		if run == s.chosen {
			r := newRemoval(s, run, d)
			widgets.Ask(s.win, r.dialog, widgets.Pressing(r.remove))
		}
	})
}

func newRemoval(s *Screen, run engine.RunID, d view.Footprint) *removal {
	r := &removal{screen: s, run: run, weight: widgets.NewCaption("")}
	parts := []fyne.CanvasObject{widget.NewLabel(footprintText(run, d))}
	parts = append(parts, r.askUnsent(d.Sendings)...)
	remote := s.desk.Remote()
	if slices.ContainsFunc(d.Sendings, func(to view.Sending) bool { return to.Target == remote }) && remote != "" {
		r.there = widget.NewCheck("Also delete its rows in "+remote+", permanently", func(on bool) { r.weigh(on) })
		parts = append(parts, r.there, r.weight)
	} else if len(d.Sendings) > 0 {
		parts = append(parts, widget.NewLabel("The rows in "+d.Sendings[0].Target+" are kept."))
	}
	r.now = widget.NewCheck(nowText, nil)
	parts = append(parts, r.now)
	r.dialog = dialog.NewCustomWithoutButtons("Delete this run?", container.NewVBox(parts...), s.win)
	r.remove = &widget.Button{Text: "Delete", Importance: widget.DangerImportance, OnTapped: r.confirm}
	r.dialog.SetButtons([]fyne.CanvasObject{widget.NewButton("Cancel", r.dialog.Hide), r.remove})
	r.enable()
	return r
}

// askUnsent asks what to do with rows that have not arrived, if there are any.
func (r *removal) askUnsent(all []view.Sending) (parts []fyne.CanvasObject) {
	choices := []string{deleteThem}
	for _, to := range all {
		if to.Unsent == 0 {
			continue
		}
		parts = append(parts, widget.NewLabel(fmt.Sprintf("%s not yet in %s.", count(to.Unsent, "row"), to.Target)))
		if to.Target == r.screen.desk.Remote() {
			choices = []string{sendFirst, deleteThem}
		}
	}
	if len(parts) == 0 {
		return nil
	}
	r.unsent = widget.NewRadioGroup(choices, func(string) { r.enable() })
	return append(parts, r.unsent)
}

// enable enables the button after the user has chosen what to do with those rows.
func (r *removal) enable() {
	enable(r.remove, r.unsent == nil || r.unsent.Selected != "")
}

// weigh shows how many rows of the database would be deleted.
func (r *removal) weigh(on bool) {
	if !on {
		r.weight.SetText("")
		return
	}
	r.weight.SetText("Counting its rows there…")
	async.Work(func() (int64, error) { return r.screen.desk.WeighThere(context.Background(), r.run) }, func(rows int64, err error) {
		switch {
		case !r.there.Checked:
		case err != nil:
			r.there.SetChecked(false)
			r.there.Disable()
			r.weight.SetText("Cannot delete them now: " + err.Error())
		default:
			r.weight.SetText(count(rows, "row") + " in the database.")
		}
	})
}

func (r *removal) confirm() {
	d := Deletion{Send: r.unsent != nil && r.unsent.Selected == sendFirst, There: r.there != nil && r.there.Checked, Now: r.now.Checked}
	r.dialog.Hide()
	r.screen.delete(r.run, d)
}

func (s *Screen) delete(run engine.RunID, d Deletion) {
	work(s, run, "Deleting…", func(ctx context.Context, run engine.RunID) (struct{}, error) {
		return struct{}{}, s.desk.Delete(ctx, run, d)
	}, func(struct{}) {
		text := s.runText(run)
		if run == s.chosen {
			s.choose(s.neighbor(run))
		}
		if d.Now {
			s.undo.say(text+" is permanently deleted.", widgets.Good)
			return
		}
		s.undo.deleted(deletion{text, []Thing{{Run: run}}})
	})
}

// nowText is the choice that skips the trash.
const nowText = "Delete permanently. This cannot be undone"

// neighbor returns the run before one, or else after it; "" without either.
func (s *Screen) neighbor(run engine.RunID) engine.RunID {
	i := slices.IndexFunc(s.runs, func(r engine.RunRecord) bool { return r.ID == run })
	switch {
	case i >= 0 && i+1 < len(s.runs):
		return s.runs[i+1].ID
	case i > 0:
		return s.runs[i-1].ID
	default:
		return ""
	}
}

// deleteCheckpoint moves the chosen checkpoint to the trash. It does not ask, because the user can undo it.
func (s *Screen) deleteCheckpoint() {
	c := s.checkpoint()
	if c == nil || c.Newest {
		return
	}
	run, number := s.chosen, c.Number
	text := fmt.Sprintf("Checkpoint %d of %s", number, s.runText(run))
	work(s, run, "Deleting…", func(ctx context.Context, run engine.RunID) (struct{}, error) {
		return struct{}{}, s.desk.DeleteCheckpoint(ctx, run, number)
	}, func(struct{}) {
		s.undo.deleted(deletion{text, []Thing{{run, number}}})
	})
}
