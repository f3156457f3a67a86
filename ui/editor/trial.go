package editor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/permit"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// trial runs one session and shows the input and output of its steps.
type trial struct {
	screen   *Screen
	object   fyne.CanvasObject
	page     *fyne.Container
	agent    *form.Entry
	run      *widget.Button
	copy     *widget.Button
	state    *form.Note
	steps    *steps
	result   *engine.Trial  // nil before the first
	problems []view.Problem // at the lines of steps that failed
	busy     bool           // a trial is in progress, or the user is being asked about it
	cancel   context.CancelCauseFunc
	began    time.Time
	older    bool // the scenario was edited since
}

func newTrial(s *Screen) *trial {
	t := &trial{screen: s, agent: form.NewEntry(), state: form.NewNote("")}
	t.agent.SetPlaceHolder("ID (default: first)")
	t.agent.OnSubmitted = func(string) { t.press() }
	t.run = widget.NewButtonWithIcon("Try", theme.MediaPlayIcon(), t.press)
	t.run.Importance = widget.HighImportance
	t.copy = widget.NewButtonWithIcon("", theme.ContentCopyIcon(), t.copied)
	t.copy.Disable()
	t.steps = newSteps(t.reveal)
	top := container.NewBorder(nil, nil, nil, container.NewHBox(t.run, t.copy), t.agent)
	t.page = newPage(2, top, t.state, t.steps.object)
	t.object = widgets.NewPanel("", t.page)
	t.forget()
	return t
}

// forget shows that nothing was tried yet.
func (t *trial) forget() {
	t.result, t.problems, t.older = nil, nil, false
	t.copy.Disable()
	t.steps.set(nil)
	defer t.page.Refresh()
	t.state.SetText("Runs one session of one agent with the edited scenario and shows the request, response and result of each step (F5). " +
		"Nothing is stored. Requests to services other than the mocks are real.")
}

// stale marks the shown trial as one of an older text.
func (t *trial) stale() {
	t.problems = nil
	if t.result != nil && !t.older {
		t.older = true
		t.say()
	}
}

// Try tries one agent.
func (s *Screen) Try() {
	if s.trial.cancel == nil {
		s.trial.press()
	}
}

// press tries an agent or, while a trial is in progress, cancels it.
func (t *trial) press() {
	switch {
	case t.cancel != nil:
		t.cancel(errCut)
		t.run.SetText("Stopping…")
		t.run.Disable()
		return
	case t.screen.doc == nil || t.busy:
		return
	}
	t.screen.side.choose(trialPart)
	doc, order := t.screen.doc, t.order()
	t.begin()
	async.Work(func() ([]engine.Destination, error) { return t.screen.desk.Unallowed(context.Background(), order) }, func(of []engine.Destination, err error) {
		switch {
		case t.screen.doc != doc: // another document is open now
			t.end()
		case err != nil:
			t.refused(err)
		case len(of) > 0:
			t.ask(order, of)
		default:
			t.start(order)
		}
	})
}

var errCut = errors.New("stopped by the user")

// order returns the request of the form.
func (t *trial) order() Trial {
	o := Trial{Order: t.screen.order(), Agent: strings.TrimSpace(t.agent.Text)}
	if _, settings, ok := t.screen.ways.Order(t.screen.doc.Name); ok {
		o.Settings = settings
	}
	return o
}

// begin shows that a trial is in progress.
func (t *trial) begin() {
	t.began, t.busy = time.Now(), true
	t.run.SetText("Trying…")
	t.run.Disable()
	t.state.SetText("Trying…")
}

// ask asks the user to allow the addresses that the file would call.
func (t *trial) ask(order Trial, of []engine.Destination) {
	q := permit.Question{File: filepath.Base(order.Name), Verb: "Allow and try", AtOnce: 1, Of: of}
	permit.Ask(t.screen.win, q, func(allowed []string) {
		if allowed != nil {
			order.Allow = append(slices.Clone(order.Allow), allowed...)
			t.start(order)
			return
		}
		t.end()
		t.state.SetText("Canceled. Nothing was sent.")
	})
}

func (t *trial) start(order Trial) {
	ctx, cancel := context.WithCancelCause(context.Background())
	t.cancel = cancel
	t.run.SetText("Stop")
	t.run.SetIcon(theme.MediaStopIcon())
	t.run.Enable()
	doc := t.screen.doc
	async.Work(func() (*engine.Trial, error) { return t.screen.desk.Try(ctx, order) }, func(result *engine.Trial, err error) {
		cancel(nil)
		t.end()
		if t.screen.doc != doc {
			return
		}
		if err != nil && result == nil {
			t.refused(err)
			return
		}
		t.show(result)
	})
}

// end enables the next trial.
func (t *trial) end() {
	t.cancel, t.busy = nil, false
	t.run.SetText("Try")
	t.run.SetIcon(theme.MediaPlayIcon())
	t.run.Enable()
}

// refused shows why there is no session.
func (t *trial) refused(err error) {
	t.end()
	text := err.Error()
	if field, ok := errors.AsType[*engine.FieldError](err); ok && field.Field == "agents" {
		text = field.Problem
		if field.Hint != "" {
			text += "; " + field.Hint
		}
	}
	t.state.SetProblem("The trial failed: " + text)
	t.page.Refresh()
}

// show shows a session.
func (t *trial) show(result *engine.Trial) {
	t.result, t.problems, t.older = result, nil, false
	t.copy.Enable()
	result.Walk(func(_ int, s *engine.TrialStep) {
		if s.Error != "" && s.File != "" && s.Kind != "if" && s.Kind != "for" && s.Kind != "while" && s.Kind != "chain" {
			t.problems = append(t.problems, view.Problem{File: s.File, Line: s.Line, Text: "in the trial of " + result.ID + ": " + s.Error, Warning: result.Outcome.Commits()})
		}
	})
	t.steps.set(result)
	t.say()
	t.screen.mark()
	t.screen.side.choose(trialPart)
}

// say describes how the session ended.
func (t *trial) say() {
	r := t.result
	text := fmt.Sprintf("%s, chain %s: %s", r.ID, r.Chain, words.Drawn(view.TrialOutcome(r)))
	if cost := view.UsageText(&r.Usage); cost != "" {
		text += " · " + cost
	}
	switch {
	case t.older:
		t.state.SetText(text + " · edited since then; try it again")
	case r.Outcome.Commits():
		t.state.SetGood(text)
	case r.Outcome == engine.Cut:
		t.state.SetWarning(text)
	default:
		t.state.SetProblem(text)
	}
	t.page.Refresh()
}

// tick shows the duration of the trial.
func (t *trial) tick() {
	if t.cancel == nil {
		return
	}
	if s := int(time.Since(t.began).Seconds()); s > 0 {
		t.state.SetText(fmt.Sprintf("Trying for %d s…", s))
	}
}

// reveal shows the definition of a step.
func (t *trial) reveal(s *engine.TrialStep) {
	if sh := t.screen.sheet(s.File); sh != nil && s.Line > 0 && !t.older {
		if sh != t.screen.shown {
			t.screen.choose(sh)
		}
		sh.editor.Go(s.Line, 1)
	}
}

// copied copies the session to the clipboard as JSON.
func (t *trial) copied() {
	if t.result == nil {
		return
	}
	fyne.CurrentApp().Clipboard().SetContent(view.TrialJSON(t.result))
}
