// Package checks shows a check list: what was looked at, how it came out by a sign and a word, and a button where it can be
// mended here. Values in, callbacks out.
package checks

import (
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// List is a check list. Its methods are called on the UI goroutine.
type List struct {
	widget.BaseWidget
	// OnMend is called with the check whose button was pressed; without it there are no buttons.
	OnMend func(c engine.Check)

	brief  bool
	checks []engine.Check
	rows   []*row // as many as were ever needed
	stack  *fyne.Container
}

// New makes an empty list.
func New() *List {
	l := &List{stack: form.NewStack()}
	l.ExtendBaseWidget(l)
	return l
}

// SetBrief leaves out what is well, and what nobody can know.
func (l *List) SetBrief(brief bool) {
	if l.brief != brief {
		l.brief = brief
		l.fill()
	}
}

// Set shows a list; what has not changed is not drawn again.
func (l *List) Set(all []engine.Check) {
	if !slices.Equal(l.checks, all) {
		l.checks = slices.Clone(all)
		l.fill()
	}
}

// Checks returns what was set.
func (l *List) Checks() []engine.Check { return l.checks }

// Shown is how many lines there are to see.
func (l *List) Shown() int {
	n := 0
	for _, c := range l.checks {
		if !l.brief || c.Grade >= engine.GradeWarning {
			n++
		}
	}
	return n
}

// fill brings the rows up to date.
func (l *List) fill() {
	n := 0
	for _, c := range l.checks {
		if l.brief && c.Grade < engine.GradeWarning {
			continue
		}
		if n == len(l.rows) {
			l.rows = append(l.rows, newRow())
			l.stack.Add(l.rows[n].content)
		}
		l.rows[n].show(c, l.OnMend)
		l.rows[n].content.Show()
		n++
	}
	for _, r := range l.rows[n:] {
		r.content.Hide()
	}
	l.stack.Refresh()
}

// Parts is what the list shows.
func (l *List) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{l.stack} }

// CreateRenderer implements [fyne.Widget].
func (l *List) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(l.stack) }

// Summarize says in a note how a list came out, with the sign of the worst.
func Summarize(n *form.Note, all []engine.Check) {
	switch text := Summary(all); engine.WorstGrade(all) {
	case engine.GradeProblem:
		n.SetProblem(text)
	case engine.GradeWarning:
		n.SetWarning(text)
	case engine.GradeOK:
		n.SetGood(text)
	default:
		n.SetText(text)
	}
}

// Summary says in a line how a list came out.
func Summary(all []engine.Check) string {
	var count [engine.GradeProblem + 1]int64
	for _, c := range all {
		count[c.Grade]++
	}
	if n := count[engine.GradeAwaited]; n > 0 {
		return fmt.Sprintf("checking: %d of %d", int64(len(all))-n, len(all))
	}
	var parts []string
	add := func(g engine.Grade, one, more string) {
		switch n := count[g]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, more))
		}
	}
	add(engine.GradeProblem, "problem", "problems")
	add(engine.GradeWarning, "warning", "warnings")
	add(engine.GradeOK, "ok", "ok")
	add(engine.GradeUnknown, "not known", "not known")
	return strings.Join(parts, ", ")
}

// looks is the sign and the colour beside the word of a grade.
var looks = [...]struct {
	icon fyne.ThemeIconName
	tone widgets.Tone
}{
	engine.GradeAwaited: {theme.IconNameMoreHorizontal, widgets.Quiet},
	engine.GradeUnknown: {theme.IconNameQuestion, widgets.Quiet},
	engine.GradeOK:      {theme.IconNameConfirm, widgets.Good},
	engine.GradeWarning: {theme.IconNameWarning, widgets.Warning},
	engine.GradeProblem: {theme.IconNameError, widgets.Bad},
}
