package runs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
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

// deleteMarked shows what would be deleted and asks.
func (l *list) deleteMarked() {
	s, runs := l.screen, l.markedIDs()
	if len(runs) > 1 {
		s.askSeveral(runs)
		return
	}
	run := s.chosen
	work(s, run, "Calculating…", nil, s.desk.Footprint, func(d view.Footprint) {
		if run == s.chosen {
			r := newRemoval(s, run, d)
			widgets.Ask(s.win, r.dialog, widgets.Pressing(r.remove))
		}
	})
}

// several are runs to delete together.
type several struct {
	runs  []engine.RunID
	names []string
	kept  []string // names of runs with rows that are not in their database yet
	bytes int64
}

// askSeveral measures several runs and asks whether to move them to the trash. Runs with unsent rows are kept.
func (s *Screen) askSeveral(runs []engine.RunID) {
	s.list.say("Calculating…", widgets.Neutral)
	names := map[engine.RunID]string{}
	for _, run := range runs {
		names[run] = s.runText(run)
	}
	async.Work(func() (all several, err error) {
		for _, run := range runs {
			d, err := s.desk.Footprint(context.Background(), run)
			if err != nil {
				return all, err
			}
			if slices.ContainsFunc(d.Sendings, func(to view.Sending) bool { return to.Unsent > 0 }) {
				all.kept = append(all.kept, names[run])
				continue
			}
			all.runs, all.names, all.bytes = append(all.runs, run), append(all.names, names[run]), all.bytes+d.Bytes
		}
		return all, nil
	}, func(all several, err error) {
		s.list.say("", widgets.Neutral)
		if err != nil {
			s.list.say(words.Trouble(err), widgets.Bad)
			return
		}
		s.confirmSeveral(all)
	})
}

func (s *Screen) confirmSeveral(all several) {
	kept := ""
	if len(all.kept) > 0 {
		kept = "\n\nKept, because they have unsent rows: " + strings.Join(all.kept, ", ") + ". Delete them one by one."
	}
	if len(all.runs) == 0 {
		widgets.Tell(s.win, "Nothing to delete", words.NewParagraph(s.win, strings.TrimSpace(kept)))
		return
	}
	text := fmt.Sprintf("%s, about %s:\n%s\n\nYou can restore them from the trash for %d days.%s",
		count(int64(len(all.runs)), "run"), engine.FormatBytes(all.bytes), strings.Join(all.names, "\n"), trashDays, kept)
	ask := dialog.NewCustomWithoutButtons("Delete these runs?", words.NewParagraph(s.win, text), s.win)
	remove := &widget.Button{Text: "Delete", Importance: widget.DangerImportance, OnTapped: func() {
		ask.Hide()
		s.deleteSeveral(all)
	}}
	ask.SetButtons([]fyne.CanvasObject{widget.NewButton("Cancel", ask.Hide), remove})
	widgets.Ask(s.win, ask, widgets.Pressing(remove))
}

// deleteSeveral moves runs to the trash, until the first error.
func (s *Screen) deleteSeveral(all several) {
	for _, run := range all.runs {
		s.working[run] = "Deleting…"
	}
	s.draw()
	async.Work(func() (gone []Thing, err error) {
		for _, run := range all.runs {
			if err := s.desk.Delete(context.Background(), run, Deletion{}); err != nil {
				return gone, err
			}
			gone = append(gone, Thing{Run: run})
		}
		return gone, nil
	}, func(gone []Thing, err error) {
		for _, run := range all.runs {
			delete(s.working, run)
		}
		s.undo.deleted(deletion{count(int64(len(gone)), "run"), gone})
		if err != nil {
			s.list.say("Not every run was deleted. "+words.Trouble(err), widgets.Bad)
		}
		s.load()
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
	work(s, run, "Deleting…", nil, func(ctx context.Context, run engine.RunID) (struct{}, error) {
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

// neighbor returns the run below one in the list, or else above it; "" without either.
func (s *Screen) neighbor(run engine.RunID) engine.RunID {
	runs := s.list.shown
	i := slices.IndexFunc(runs, func(r engine.RunRecord) bool { return r.ID == run })
	switch {
	case i >= 0 && i+1 < len(runs):
		return runs[i+1].ID
	case i > 0:
		return runs[i-1].ID
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
	work(s, run, "Deleting…", nil, func(ctx context.Context, run engine.RunID) (struct{}, error) {
		return struct{}{}, s.desk.DeleteCheckpoint(ctx, run, number)
	}, func(struct{}) {
		s.undo.deleted(deletion{text, []Thing{{run, number}}})
	})
}
