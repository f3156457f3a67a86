package runs

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Resumption is how a run goes on. The zero value leaves all as it was.
type Resumption struct {
	Limit   int    // of sessions in flight, if it is above 0
	Bound   string // of the kind that ended the run, as written; "" leaves it
	AsItWas bool   // with the scenario that is kept with the run, although its file means something else now
}

// Changed says that a run's scenario means something else now than when the run was started.
type Changed struct {
	What       string
	Checkpoint int  // a fork can begin at; 0 is none
	Readable   bool // the scenario as it is now
}

func (c *Changed) Error() string { return c.What }

// resume goes on with the chosen run, as a person wants it.
func (s *Screen) resume() {
	r := s.run()
	limit, err := parseLimit(s.detail.limit.Text)
	if err != nil {
		s.detail.say(err.Error(), widgets.Bad)
		s.win.Canvas().Focus(s.detail.limit)
		return
	}
	if limit == r.Limit {
		limit = 0
	}
	s.goOn(r.ID, Resumption{Limit: limit, Bound: s.detail.largerBound(r)})
}

// Ask chooses a run that was not resumed since its scenario changed, and asks how to go on with it.
func (s *Screen) Ask(run engine.RunID, c *Changed) {
	s.Select(run)
	s.askChanged(run, Resumption{}, c)
}

// resumption is what came of one.
type resumption struct {
	note    string
	changed *Changed
}

func (s *Screen) goOn(run engine.RunID, how Resumption) {
	work(s, run, "Resuming…", func(ctx context.Context, run engine.RunID) (r resumption, err error) {
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
			widgets.Tell(s.win, "The run goes on", words.NewParagraph(s.win, r.note))
		}
		s.resumed()
	})
}

// askChanged lets a person go on with the scenario as it was, or begin a fork with it as it is.
func (s *Screen) askChanged(run engine.RunID, how Resumption, c *Changed) {
	text := words.NewParagraph(s.win, c.What+".\n\nThe run can go on with the scenario that is kept with it. With the new one another run begins: a fork, at the start of a cycle.")
	ask := dialog.NewCustomWithoutButtons("The scenario is another one now", text, s.win)
	was := &widget.Button{Text: "Go on as it was", Importance: widget.HighImportance, OnTapped: func() {
		ask.Hide()
		how.AsItWas = true
		s.goOn(run, how)
	}}
	buttons := []fyne.CanvasObject{widget.NewButton("Cancel", ask.Hide)}
	if c.Readable && c.Checkpoint > 0 {
		buttons = append(buttons, widget.NewButton("Fork with the new one…", func() {
			ask.Hide()
			s.toFork(run, c.Checkpoint, true)
		}))
	}
	ask.SetButtons(append(buttons, was))
	widgets.Ask(s.win, ask, widgets.Pressing(was))
}

// fork begins to set up a run that starts at the chosen checkpoint.
func (s *Screen) fork() {
	if c := s.checkpoint(); c != nil {
		s.toFork(c.Run, c.Number, false)
	}
}
