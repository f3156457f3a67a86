package editor

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/code"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// steps lists the steps of a session, and shows the details of one.
type steps struct {
	object fyne.CanvasObject
	list   *widget.List
	view   *code.Editor
	rows   []row
	chosen int
	wide   int // width of the view in characters when it was filled
	show   func(*engine.TrialStep)
}

// row is a row of the list: a step, or the agent before or after the session.
type row struct {
	depth    int
	title    string
	kind     string
	about    string
	icon     fyne.Resource
	step     *engine.TrialStep // nil if it is not a step
	sections []view.Section
}

func newSteps(show func(*engine.TrialStep)) *steps {
	s := &steps{show: show, view: code.NewView(), chosen: -1}
	s.list = widget.NewList(func() int { return len(s.rows) }, newStepRow, func(i widget.ListItemID, o fyne.CanvasObject) {
		fillStepRow(o.(*fyne.Container), &s.rows[i])
	})
	s.list.HideSeparators = true
	s.list.OnSelected = s.choose
	split := container.NewVSplit(s.list, s.view)
	split.Offset = 0.45
	s.object = container.New(&refit{s.fit}, split)
	return s
}

// refit resizes its only object to its own size, then calls done.
type refit struct{ done func() }

// Layout implements [fyne.Layout].
func (r *refit) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Resize(size)
	r.done()
}

// MinSize implements [fyne.Layout].
func (r *refit) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

// fit wraps the lines again if the width has changed.
func (s *steps) fit() {
	switch {
	case s.view.Columns() == s.wide:
	case s.chosen >= 0:
		s.fill(&s.rows[s.chosen])
	default:
		s.empty()
	}
}

// empty shows a placeholder in the view.
func (s *steps) empty() {
	s.wide = s.view.Columns()
	s.view.SetText(strings.TrimRight(wrapped("Choose a step to see its input and output.", "  ", s.wide), "\n"))
}

// newStepRow returns the template of a row.
func newStepRow() fyne.CanvasObject {
	icon, title, kind, about := widget.NewIcon(nil), widget.NewLabel(""), widgets.NewCaption(""), widgets.NewCaption("")
	title.Truncation = fyne.TextTruncateEllipsis
	return container.NewBorder(nil, nil, icon, container.NewHBox(container.NewCenter(kind), container.NewCenter(about)), title)
}

func fillStepRow(c *fyne.Container, r *row) {
	title, icon := c.Objects[0].(*widget.Label), c.Objects[1].(*widget.Icon)
	right := c.Objects[2].(*fyne.Container)
	title.SetText(strings.Repeat("     ", r.depth) + r.title)
	icon.SetResource(r.icon)
	right.Objects[0].(*fyne.Container).Objects[0].(*widgets.Text).SetText(r.kind)
	right.Objects[1].(*fyne.Container).Objects[0].(*widgets.Text).SetText("  " + r.about + " ")
	right.Refresh()
	c.Refresh()
}

// set shows another session; nil if none.
func (s *steps) set(t *engine.Trial) {
	s.rows, s.chosen = nil, -1
	s.list.UnselectAll()
	s.view.SetText("")
	if t == nil {
		s.empty()
		return
	}
	s.rows = append(s.rows, row{title: "Agent before the session", icon: theme.AccountIcon(), sections: view.TrialStart(t)})
	failed := -1
	t.Walk(func(depth int, step *engine.TrialStep) {
		r := row{depth: depth, title: named(step), kind: step.Kind, about: brief(step), icon: iconOf(step), step: step, sections: view.StepSections(step)}
		if step.Status == engine.StepFailed || step.Status == engine.StepTimedOut {
			failed = len(s.rows)
		}
		s.rows = append(s.rows, r)
	})
	s.rows = append(s.rows, row{title: "Agent after the session", icon: theme.AccountIcon(), sections: view.TrialResults(t)})
	s.list.Refresh()
	s.list.ScrollToTop()
	if failed < 0 {
		failed = min(1, len(s.rows)-1)
	}
	s.list.Select(failed)
}

// named returns a step's name with its iteration.
func named(s *engine.TrialStep) string {
	name := s.Name
	if s.Label != "" {
		name = s.Label
	}
	if s.Pass > 0 {
		name += fmt.Sprintf(", iteration %d", s.Pass)
	}
	return name
}

// brief describes how a step ended in a few words.
func brief(s *engine.TrialStep) string {
	switch s.Status {
	case engine.StepSkipped, engine.StepCanceled:
		return s.Status.String()
	case engine.StepOK:
		text := engine.FormatDuration(s.Took)
		if n := s.Retries; n > 0 {
			text += fmt.Sprintf(", %d retries", n)
		}
		return text
	case engine.StepFailed, engine.StepTimedOut:
	}
	return s.Status.String() + ", " + engine.FormatDuration(s.Took)
}

// iconOf returns an icon for how a step ended.
func iconOf(s *engine.TrialStep) fyne.Resource {
	switch s.Status {
	case engine.StepOK:
		return theme.NewSuccessThemedResource(theme.ConfirmIcon())
	case engine.StepSkipped:
		return theme.NewDisabledResource(theme.MediaSkipNextIcon())
	case engine.StepCanceled:
		return theme.NewDisabledResource(theme.CancelIcon())
	case engine.StepFailed, engine.StepTimedOut:
	}
	return theme.NewErrorThemedResource(theme.ErrorIcon())
}

// choose shows the details of a row, and the definition of its step.
func (s *steps) choose(i widget.ListItemID) {
	if i >= len(s.rows) || i == s.chosen {
		return
	}
	s.chosen = i
	r := &s.rows[i]
	s.fill(r)
	if r.step != nil && s.show != nil {
		s.show(r.step)
	}
}

// fill shows the details of a row.
func (s *steps) fill(r *row) {
	columns := s.view.Columns()
	s.wide = columns
	var b strings.Builder
	if r.step != nil {
		b.WriteString(wrapped(words.Drawn(strings.TrimSuffix(r.step.Path+" ("+r.step.Kind+"): "+view.StepSummary(r.step), ", ")), "", columns))
		if where := view.StepLocation(r.step); where != "" {
			b.WriteString("  " + where + "\n")
		}
	}
	for _, section := range r.sections {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(wrapped(words.Drawn(section.Title), "", columns))
		b.WriteString(wrapped(section.Text, "  ", columns))
	}
	s.view.SetText(strings.TrimRight(b.String(), "\n"))
}

// wrapped wraps the lines of a text at columns, with an indentation.
func wrapped(text, indent string, columns int) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		for runes := []rune(line); ; {
			n := len(runes)
			if n > columns-len(indent) {
				n = columns - len(indent)
				for k := n; k > n/2; k-- {
					if runes[k] == ' ' {
						n = k + 1
						break
					}
				}
			}
			b.WriteString(indent + string(runes[:n]) + "\n")
			if runes = runes[n:]; len(runes) == 0 {
				break
			}
		}
	}
	return b.String()
}
