// Package checks shows a list of checks: each with its result as an icon and a word, and a button if it can be fixed here. It takes values
// and calls back.
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

// List is a list of checks. Call its methods on the UI goroutine.
type List struct {
	widget.BaseWidget
	// OnMend is called with the check whose button is pressed; without it there are no buttons.
	OnMend func(c engine.Check)

	brief  bool
	checks []engine.Check
	rows   []*row // as many as were ever needed
	stack  *fyne.Container
}

// New returns an empty list.
func New() *List {
	l := &List{stack: form.NewStack()}
	l.ExtendBaseWidget(l)
	return l
}

// SetBrief hides passed and unknown checks.
func (l *List) SetBrief(brief bool) {
	if l.brief != brief {
		l.brief = brief
		l.fill()
	}
}

// Set sets the checks. Unchanged ones are not drawn again.
func (l *List) Set(all []engine.Check) {
	if !slices.Equal(l.checks, all) {
		l.checks = slices.Clone(all)
		l.fill()
	}
}

// Checks returns the checks.
func (l *List) Checks() []engine.Check { return l.checks }

// Shown returns the number of visible checks.
func (l *List) Shown() int {
	n := 0
	for _, c := range l.checks {
		if !l.brief || c.Grade >= engine.GradeWarning {
			n++
		}
	}
	return n
}

// fill updates the rows.
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

// Parts returns the parts of the list.
func (l *List) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{l.stack} }

// CreateRenderer implements [fyne.Widget].
func (l *List) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(l.stack) }

// Summarize sets a note to the summary, with the icon of the worst result.
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

// Summary summarizes the results in one line.
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
	add(engine.GradeUnknown, "unknown", "unknown")
	return strings.Join(parts, ", ")
}

// looks are the icon and the color of a grade.
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
