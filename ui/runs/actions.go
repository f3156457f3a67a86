package runs

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// chooseCheckpoint is called with the number of the one that a person selected.
func (s *Screen) chooseCheckpoint(number string) {
	s.older = 0
	if n, err := strconv.Atoi(number); err == nil {
		s.older = n
	}
	if c := s.checkpoint(); c != nil && c.Newest {
		s.older = 0
	}
	s.draw()
}

// work does something to a run. Meanwhile its buttons are disabled; done hears what came of it, if it went well.
func work[T any](s *Screen, run engine.RunID, doing string, f func(context.Context, engine.RunID) (T, error), done func(T)) {
	s.working[run] = doing
	s.draw()
	async.Work(func() (T, error) { return f(context.Background(), run) }, func(result T, err error) {
		delete(s.working, run)
		s.say(run, "", widgets.Good)
		if err != nil {
			s.say(run, problem(err), widgets.Bad)
			if run == s.chosen && concerns(err, "limit") {
				s.detail.limit.SetValidationError(err)
			}
		} else {
			done(result)
		}
		s.draw()
		if s.visible {
			s.load()
		}
	})
}

// say notes what came of something that was done to a run.
func (s *Screen) say(run engine.RunID, text string, tone widgets.Tone) {
	switch {
	case run == s.chosen:
		s.detail.note(text, tone)
	case text != "":
		s.detail.note("Run "+string(run)+": "+text, tone)
	}
}

// problem says what is wrong in a person's words.
func problem(err error) string {
	switch {
	case errors.Is(err, engine.ErrInUse):
		return "The run is in progress, so nothing was changed. " + err.Error()
	case errors.Is(err, engine.ErrNotFound):
		return "The run is not there any more. " + err.Error()
	case errors.Is(err, engine.ErrNoRoom):
		return "There is no room on the disk; nothing that was kept is lost. " + err.Error()
	default:
		return err.Error()
	}
}

// concerns reports whether an error, or one that is joined in it, is a mistake in a field.
func concerns(err error, field string) bool {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return concerns(err, field) })
	}
	var mistake *engine.FieldError
	return errors.As(err, &mistake) && mistake.Field == field
}

func (s *Screen) resume() {
	r := s.run()
	limit, err := parseLimit(s.detail.limit.Text)
	if err != nil {
		s.detail.note(err.Error(), widgets.Bad)
		s.win.Canvas().Focus(s.detail.limit)
		return
	}
	if limit == r.Limit {
		limit = 0
	}
	bound := s.detail.largerBound(r)
	work(s, r.ID, "Resuming…", func(ctx context.Context, run engine.RunID) (struct{}, error) {
		return struct{}{}, s.desk.Resume(ctx, run, limit, bound)
	}, func(struct{}) { s.resumed() })
}

func (s *Screen) export() {
	run := s.chosen
	s.pickPath(func(dir string) {
		work(s, run, "Exporting…", func(ctx context.Context, run engine.RunID) (string, error) {
			return s.desk.Export(ctx, run, dir)
		}, func(path string) { s.say(run, exported(path), widgets.Good) })
	})
}

func (s *Screen) send() {
	run, remote := s.chosen, s.desk.Remote()
	work(s, run, "Sending to "+remote+"…", func(ctx context.Context, run engine.RunID) (struct{}, error) {
		return struct{}{}, s.desk.Send(ctx, run)
	}, func(struct{}) {
		s.say(run, "Its results are on their way to "+remote+"; Settings shows how that goes.", widgets.Good)
	})
}

// askDelete shows what would go.
func (s *Screen) askDelete() {
	run := s.chosen
	work(s, run, "Weighing what would go…", s.desk.Doomed, func(d Doomed) {
		if run != s.chosen {
			return
		}
		text := doomedText(run, d)
		if s.desk.Remote() != "" {
			text += "\nWhat was sent to " + s.desk.Remote() + " stays there."
		}
		ask := dialog.NewCustomConfirm("Delete this run?", "Delete", "Keep", widget.NewLabel(text), func(yes bool) {
			if yes {
				s.delete(run)
			}
		}, s.win)
		ask.SetConfirmImportance(widget.DangerImportance)
		ask.Show()
	})
}

func (s *Screen) delete(run engine.RunID) {
	work(s, run, "Deleting…", func(ctx context.Context, run engine.RunID) (struct{}, error) {
		return struct{}{}, s.desk.Delete(ctx, run)
	}, func(struct{}) {
		if run == s.chosen {
			s.choose(s.neighbour(run))
		}
		s.detail.note("Run "+string(run)+" is deleted.", widgets.Good)
	})
}

// neighbour is the run before one, or else after it; "" without either.
func (s *Screen) neighbour(run engine.RunID) engine.RunID {
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
