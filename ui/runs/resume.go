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
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Resumption says how to resume a run. The zero value changes nothing.
type Resumption struct {
	Limit   int    // limit if above 0
	Bound   string // new value of the bound that ended the run, as text; "" keeps it
	AsItWas bool   // use the scenario that is stored with the run, even if its file has changed
	// Fleet says which processes execute the sessions; nil is not decided, if the run had workers.
	Fleet *fleet.Use
}

// Changed says that the meaning of a run's scenario has changed since the run was started.
type Changed struct {
	What       string
	Checkpoint int  // for a fork; 0: none
	Readable   bool // the current scenario is valid
}

func (c *Changed) Error() string { return c.What }

// HadWorkers says that workers executed the sessions of a run, so that a person decides what executes the rest.
type HadWorkers struct {
	Plan    fleet.Plan
	Secrets []string // that the services need
}

func (*HadWorkers) Error() string {
	return "Workers executed the sessions of this run. Choose what executes the rest."
}

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
	s.continueRun(run, "The new run continues", how, func(ctx context.Context, how Resumption) (string, error) {
		return s.desk.ResumeFrom(ctx, run, number, how)
	})
}

// IsQuestion reports whether an error of [Desk].Resume asks the user to decide something: it is a *Changed or *HadWorkers.
func IsQuestion(err error) bool { return questionOf(err) != nil }

// Ask chooses a run and asks the question that an error of [Desk].Resume is.
func (s *Screen) Ask(run engine.RunID, question error) {
	s.Select(run)
	s.ask(run, Resumption{}, questionOf(question), func(how Resumption) { s.resumeWith(run, how) })
}

// questionOf returns an error that is a question to the user, not a failure; nil for others.
func questionOf(err error) error {
	if changed, ok := errors.AsType[*Changed](err); ok {
		return changed
	}
	if had, ok := errors.AsType[*HadWorkers](err); ok {
		return had
	}
	return nil
}

// ask asks a question about a run, and calls again with the answer.
func (s *Screen) ask(run engine.RunID, how Resumption, question error, again func(Resumption)) {
	switch q := question.(type) { //nolint:errorlint // see questionOf
	case *Changed:
		s.askChanged(run, how, q, again)
	case *HadWorkers:
		s.workers = fleet.AskUse(s.win, s.desk.Fleet(), q.Plan, q.Secrets, func(u fleet.Use) {
			how.Fleet = &u
			again(how)
		})
	}
}

// resumption is the result of resuming a run.
type resumption struct {
	note     string
	question error // nil if nothing is open
}

func (s *Screen) resumeWith(run engine.RunID, how Resumption) {
	s.continueRun(run, "The run continues", how, func(ctx context.Context, how Resumption) (string, error) {
		return s.desk.Resume(ctx, run, how)
	})
}

// continueRun continues a run with start, after asking what is open.
func (s *Screen) continueRun(run engine.RunID, title string, how Resumption, start func(context.Context, Resumption) (note string, err error)) {
	again := func(how Resumption) { s.continueRun(run, title, how, start) }
	work(s, run, "Resuming…", func() { again(how) }, func(ctx context.Context, _ engine.RunID) (r resumption, err error) {
		if r.note, err = start(ctx, how); err == nil {
			return r, nil
		}
		if r.question = questionOf(err); r.question != nil {
			err = nil
		}
		return r, err
	}, func(r resumption) {
		if r.question != nil {
			s.ask(run, how, r.question, again)
			return
		}
		if r.note != "" {
			widgets.Tell(s.win, title, words.NewParagraph(s.win, r.note))
		}
		s.to.Live()
	})
}

// askChanged asks whether to resume with the stored scenario, or to fork with the current one.
func (s *Screen) askChanged(run engine.RunID, how Resumption, c *Changed, again func(Resumption)) {
	text := words.NewParagraph(s.win, c.What+".\n\nResume the run with the scenario that is stored with it, or start a fork with the new scenario, at the start of a cycle.")
	ask := dialog.NewCustomWithoutButtons("The scenario has changed", text, s.win)
	was := &widget.Button{Text: "Resume as before", Importance: widget.HighImportance, OnTapped: func() {
		ask.Hide()
		how.AsItWas = true
		again(how)
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
