package runs

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
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
			s.say(run, words.Trouble(err), widgets.Bad)
			if run == s.chosen && concerns(err, engine.LimitSetting) {
				s.detail.limit.SetValidationError(err)
			}
			Unlock(s.desk, s.win, err, func() {
				if run == s.chosen {
					s.resume()
				}
			})
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
		s.detail.say(text, tone)
	case text != "":
		s.detail.say("Run "+string(run)+": "+text, tone)
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

// noted brings the list up to date with a note that was kept.
func (s *Screen) noted(run engine.RunID, text string) {
	for i := range s.runs {
		if s.runs[i].ID == run && s.runs[i].Note != text {
			s.runs = slices.Clone(s.runs)
			s.runs[i].Note = text
			s.draw()
		}
	}
}
