package runs

import (
	"context"
	"errors"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Resumption says how to resume a run. The zero value changes nothing.
type Resumption struct {
	Limit   int    // limit if above 0
	Bound   string // new value of the bound that ended the run, as text; "" keeps it
	AsItWas bool   // use the scenario that is stored with the run, even if its file has changed
}

// Changed says that the meaning of a run's scenario has changed since the run was started.
type Changed struct {
	What       string
	Checkpoint int  // for a fork; 0: none
	Readable   bool // the current scenario is valid
}

func (c *Changed) Error() string { return c.What }

// resume resumes the chosen run with the settings of the form, or asks whether to continue from the chosen checkpoint.
func (s *Screen) resume() {
	r := s.run()
	limit, err := parseLimit(s.detail.limit.Text)
	if err != nil {
		s.list.say(err.Error(), widgets.Bad)
		s.win.Canvas().Focus(s.detail.limit)
		return
	}
	if limit == r.Limit {
		limit = 0
	}
	how := Resumption{Limit: limit, Bound: s.detail.larger(r)}
	if _, from := resuming(r, s.checkpoint(), s.busy, s.detail.longer(r)); from == fromBefore {
		how.Bound = "" // a fork has a budget and a length of its own
		s.askFrom(r, s.checkpoint(), how)
		return
	}
	s.resumeWith(r.ID, how)
}

// askFrom asks whether to continue from a checkpoint with a fork.
func (s *Screen) askFrom(r *engine.RunRecord, c *engine.CheckpointRecord, how Resumption) {
	run, number := r.ID, c.Number
	text := fmt.Sprintf("A new run continues from checkpoint %d, at the start of cycle %d, with the same scenario and settings: %s. %s and its results stay as they are.",
		number, c.Cycle, view.Continuing(c, r.Kept), r.DisplayName())
	ask := dialog.NewCustomWithoutButtons("Resume from "+s.at(c)+"?", words.NewParagraph(s.win, text), s.win)
	resume := &widget.Button{Text: "Resume", Importance: widget.HighImportance, OnTapped: func() {
		ask.Hide()
		s.resumeFrom(run, number, how)
	}}
	change := widget.NewButton("Change settings…", func() {
		ask.Hide()
		s.to.Fork(run, number, false)
	})
	ask.SetButtons([]fyne.CanvasObject{widget.NewButton("Cancel", ask.Hide), change, resume})
	widgets.Ask(s.win, ask, widgets.Pressing(resume))
}

// resumeFrom starts a fork that continues from a checkpoint.
func (s *Screen) resumeFrom(run engine.RunID, number int, how Resumption) {
	work(s, run, "Resuming…", func() { s.resumeFrom(run, number, how) }, func(ctx context.Context, run engine.RunID) (string, error) {
		return s.desk.ResumeFrom(ctx, run, number, how)
	}, func(note string) {
		if note != "" {
			widgets.Tell(s.win, "The new run continues", words.NewParagraph(s.win, note))
		}
		s.to.Live()
	})
}

// Ask chooses a run whose scenario has changed, and asks how to resume it.
func (s *Screen) Ask(run engine.RunID, c *Changed) {
	s.Select(run)
	s.askChanged(run, Resumption{}, c)
}

// resumption is the result of resuming a run.
type resumption struct {
	note    string
	changed *Changed
}

func (s *Screen) resumeWith(run engine.RunID, how Resumption) {
	work(s, run, "Resuming…", func() { s.resumeWith(run, how) }, func(ctx context.Context, run engine.RunID) (r resumption, err error) {
		r.note, err = s.desk.Resume(ctx, run, how)
		if changed, ok := errors.AsType[*Changed](err); ok { // a question, not a failure
			r.changed, err = changed, nil
		}
		return r, err
	}, func(r resumption) {
		if r.changed != nil {
			s.askChanged(run, how, r.changed)
			return
		}
		if r.note != "" {
			widgets.Tell(s.win, "The run continues", words.NewParagraph(s.win, r.note))
		}
		s.to.Live()
	})
}

// askChanged asks whether to resume with the stored scenario, or to fork with the current one.
func (s *Screen) askChanged(run engine.RunID, how Resumption, c *Changed) {
	text := words.NewParagraph(s.win, c.What+".\n\nResume the run with the scenario that is stored with it, or start a fork with the new scenario, at the start of a cycle.")
	ask := dialog.NewCustomWithoutButtons("The scenario has changed", text, s.win)
	was := &widget.Button{Text: "Resume as before", Importance: widget.HighImportance, OnTapped: func() {
		ask.Hide()
		how.AsItWas = true
		s.resumeWith(run, how)
	}}
	buttons := []fyne.CanvasObject{widget.NewButton("Cancel", ask.Hide)}
	if c.Readable && c.Checkpoint > 0 {
		buttons = append(buttons, widget.NewButton("Fork with new scenario…", func() {
			ask.Hide()
			s.to.Fork(run, c.Checkpoint, true)
		}))
	}
	ask.SetButtons(append(buttons, was))
	widgets.Ask(s.win, ask, widgets.Pressing(was))
}

// fork sets up a run that starts at the chosen checkpoint.
func (s *Screen) fork() {
	if c := s.checkpoint(); c != nil {
		s.to.Fork(c.Run, c.Number, false)
	}
}
