package runs

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/export"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// chooseCheckpoint chooses a checkpoint by its number.
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

// work changes a run in the background and disables its buttons meanwhile. It calls done if the work succeeds, and again, if it is not
// nil, after the user has entered missing secrets.
func work[T any](s *Screen, run engine.RunID, doing string, again func(), f func(context.Context, engine.RunID) (T, error), done func(T)) {
	s.working[run] = doing
	s.draw()
	async.Work(func() (T, error) { return f(context.Background(), run) }, func(result T, err error) {
		delete(s.working, run)
		s.list.say("", widgets.Good)
		if err != nil {
			s.say(run, words.Trouble(err), widgets.Bad)
			if run == s.chosen && concerns(err, engine.LimitSetting) {
				s.detail.limit.SetValidationError(err)
			}
			if again != nil {
				Unlock(s.desk, s.win, err, again)
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

// say shows the result of an operation on a run.
func (s *Screen) say(run engine.RunID, text string, tone widgets.Tone) {
	if run != s.chosen {
		text = "Run " + string(run) + ": " + text
	}
	s.list.say(text, tone)
}

// concerns reports whether err is, or has joined in it, an error of a field.
func concerns(err error, field string) bool {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return concerns(err, field) })
	}
	var problem *engine.FieldError
	return errors.As(err, &problem) && problem.Field == field
}

// openExports opens the menu of the formats at the button.
func (l *list) openExports() { export.Open(export.Menu(l.exportMarked), l.export) }

// exportMarked exports the marked runs, each into a new folder or file.
func (l *list) exportMarked(f export.Format) {
	s, runs := l.screen, l.markedIDs()
	s.pickPath(f.Folder(), func(dir string) {
		for _, run := range runs {
			work(s, run, "Exporting…", nil, func(ctx context.Context, run engine.RunID) (string, error) {
				return s.desk.ExportAs(ctx, run, dir, f.ID)
			}, func(path string) {
				s.say(run, export.Said(f.ID, path), widgets.Good)
				if len(runs) > 1 {
					path = dir
				}
				l.saved = path
				l.reveal.Show()
				l.panel.Refresh()
			})
		}
	})
}

// showSaved opens the folder of the last export.
func (l *list) showSaved() {
	if err := export.OpenFolder(l.saved); err != nil {
		l.say("Cannot open "+l.saved+". "+words.Trouble(err), widgets.Bad)
	}
}

func (s *Screen) send() {
	run, remote := s.chosen, s.desk.Remote()
	work(s, run, "Sending to "+remote+"…", nil, func(ctx context.Context, run engine.RunID) (struct{}, error) {
		return struct{}{}, s.desk.Send(ctx, run)
	}, func(struct{}) {
		s.say(run, "Sending the results to "+remote+". Settings shows the progress.", widgets.Good)
	})
}

// noted updates the list after a note was stored.
func (s *Screen) noted(run engine.RunID, text string) {
	for i := range s.runs {
		if s.runs[i].ID == run && s.runs[i].Note != text {
			s.runs = slices.Clone(s.runs)
			s.runs[i].Note = text
			s.draw()
		}
	}
}

// missing returns the texts that are not among others.
func missing(texts, others []string) (all []string) {
	for _, t := range texts {
		if !slices.Contains(others, t) {
			all = append(all, t)
		}
	}
	return all
}
