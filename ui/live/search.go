package live

import (
	"context"
	"errors"
	"strings"

	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
)

// mostFound is the maximum number of agents of a search.
const mostFound = 10_000

// search finds agents by id, or by an expression over their attributes.
type search struct {
	agents *agents
	entry  *form.Entry
	empty  *widget.Button // clears the field
	note   *form.Note
	cancel context.CancelFunc // cancels the search in progress
	number int                // of the newest search; results of older ones are dropped
}

func newSearch(a *agents) *search {
	s := &search{agents: a, entry: form.NewEntry(), note: form.NewNote("")}
	s.entry.SetPlaceHolder("ID or expression, for example age > 40")
	s.entry.OnSubmitted = s.find
	s.entry.OnChanged = func(text string) {
		see(s.empty, text != "")
		if strings.TrimSpace(text) == "" {
			s.all()
		}
	}
	s.entry.Escaped = s.escape
	s.empty = widget.NewButtonWithIcon("", theme.CancelIcon(), s.clear)
	s.empty.Importance = widget.LowImportance
	s.empty.Hide()
	s.entry.ActionItem = s.empty
	s.note.Hide()
	return s
}

// focus focuses the field.
func (s *search) focus() { focus(s.entry) }

// escape clears the search, or closes the open agent if there is no search.
func (s *search) escape() {
	if s.entry.Text == "" {
		s.agents.close()
		return
	}
	s.clear()
}

// clear shows all agents again.
func (s *search) clear() {
	if s.entry.Text != "" {
		s.entry.SetText("") // also shows all agents
		return
	}
	s.all()
}

func (s *search) all() {
	s.stop()
	s.say("", nil)
	s.agents.grid.Only(nil)
	s.agents.explain()
}

// stop cancels the search in progress.
func (s *search) stop() {
	s.number++
	if s.cancel != nil {
		s.cancel()
		s.cancel = nil
	}
}

// find searches for agents. If there is one result, it opens the agent.
func (s *search) find(text string) {
	job := s.agents.job
	text = strings.TrimSpace(text)
	if text == "" || job == nil || job.Find == nil {
		return
	}
	s.stop()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	number := s.number
	s.say("searching…", nil)
	type answer struct {
		found []int
		more  bool
	}
	async.Work(func() (answer, error) {
		found, more, err := job.Find(ctx, text, mostFound)
		return answer{found, more}, err
	}, func(got answer, err error) {
		cancel()
		if s.number != number {
			return
		}
		s.cancel = nil
		s.shows(got.found, got.more, err)
	})
}

// shows shows the result.
func (s *search) shows(found []int, more bool, err error) {
	a := s.agents
	switch {
	case err != nil:
		s.say("", err)
		return
	case len(found) == 0:
		s.say("No agents found. Enter part of an ID, or an expression such as age > 40.", nil)
		return
	case more:
		s.say("The first "+engine.FormatCount(int64(len(found)))+"; there are more.", nil)
	case len(found) == 1:
		s.say("1 agent", nil)
	default:
		s.say(engine.FormatCount(int64(len(found)))+" agents", nil)
	}
	a.grid.Only(found)
	a.explain()
	if len(found) == 1 {
		a.open(found[0])
	}
}

// say shows a sentence below the field, or an error and its hint.
func (s *search) say(text string, err error) {
	before := s.note.Visible()
	switch mistake, ok := errors.AsType[*engine.FieldError](err); {
	case ok && mistake.Hint != "":
		s.note.SetProblem(mistake.Problem + ": " + mistake.Hint)
	case ok:
		s.note.SetProblem(mistake.Problem)
	case err != nil:
		s.note.SetProblem("The search failed: " + err.Error() + ". Try again.")
	default:
		s.note.SetText(text)
	}
	see(s.note, text != "" || err != nil)
	if before != s.note.Visible() || s.note.Visible() {
		s.agents.body.Refresh()
	}
}
