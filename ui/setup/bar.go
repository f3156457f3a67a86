package setup

import (
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// bar stands below all: what would be launched, what is wrong with it, and the launch.
type bar struct {
	panel    fyne.CanvasObject
	summary  *form.Note
	mistakes *widget.Button
	missing  *widget.Button
	checks   *widget.Button
	problem  *form.Note
	forecast *form.Note
	launch   *widget.Button
	cancel   *widget.Button // of a start that waits for its time
}

func newBar(launch, cancel, reveal, unlock, check func()) *bar {
	b := &bar{summary: form.NewNote(""), problem: form.NewNote(""), forecast: form.NewNote("")}
	b.forecast.Lines = 1
	b.forecast.Hide()
	b.summary.TextSize = theme.SizeNameText
	b.mistakes = widget.NewButtonWithIcon("", theme.NewErrorThemedResource(theme.ErrorIcon()), reveal)
	b.mistakes.Importance = widget.LowImportance
	b.mistakes.Hide()
	b.missing = widget.NewButtonWithIcon("", theme.NewWarningThemedResource(theme.WarningIcon()), unlock)
	b.missing.Importance = widget.LowImportance
	b.missing.Hide()
	b.checks = widget.NewButtonWithIcon("", nil, check)
	b.checks.Importance = widget.LowImportance
	b.checks.Hide()
	b.problem.Hide()
	b.launch = widget.NewButtonWithIcon("Launch", theme.MediaPlayIcon(), launch)
	b.launch.Importance = widget.HighImportance
	b.cancel = widget.NewButtonWithIcon("Cancel", theme.CancelIcon(), cancel)
	b.cancel.Hide()
	text := form.NewStack(b.problem, b.summary, b.forecast)
	b.panel = widgets.NewPanel("", container.New(&footing{}, text, b.launch, b.cancel, b.checks, b.missing, b.mistakes))
	return b
}

// show says what would be launched and counts what is wrong.
func (b *bar) show(summary string, mistakes []*form.Row) {
	b.summary.Say(summary)
	if len(mistakes) == 0 {
		b.mistakes.Hide()
		return
	}
	var titles []string
	for _, row := range mistakes[:min(len(mistakes), 3)] {
		titles = append(titles, row.Title())
	}
	if len(mistakes) > len(titles) {
		titles = append(titles, "…")
	}
	text := fmt.Sprintf("%s: %s", count(len(mistakes), "mistake"), strings.Join(titles, ", "))
	if b.mistakes.Text != text {
		b.mistakes.SetText(text)
	}
	b.mistakes.Show()
}

// foresee says what it would take, or what of that will not fit; "" is not known.
func (b *bar) foresee(text string, advice []string) {
	if len(advice) > 0 {
		b.forecast.SetWarning(advice[0])
	} else {
		b.forecast.SetText(text)
	}
	if text == "" && len(advice) == 0 {
		b.forecast.Hide()
	} else {
		b.forecast.Show()
	}
}

// miss names the secrets that a launch would ask for in vain.
func (b *bar) miss(missing []Missing) {
	if len(missing) == 0 {
		b.missing.Hide()
		return
	}
	text := missing[0].Secret + " is missing"
	if len(missing) > 1 {
		text = count(len(missing), "secret") + " are missing"
	}
	if b.missing.Text != text {
		b.missing.SetText(text)
	}
	b.missing.Show()
}

// check counts what was found that a launch may suffer from. A missing secret has its own button.
func (b *bar) check(all []engine.Check) {
	problems, warnings := 0, 0
	for _, c := range all {
		way, _ := c.Way()
		switch {
		case way == engine.MendSecret:
		case c.Grade == engine.GradeProblem:
			problems++
		case c.Grade == engine.GradeWarning:
			warnings++
		}
	}
	text, icon := "", fyne.Resource(theme.NewWarningThemedResource(theme.WarningIcon()))
	switch {
	case problems > 0:
		text, icon = count(problems, "problem"), theme.NewErrorThemedResource(theme.ErrorIcon())
	case warnings > 0:
		text = count(warnings, "warning")
	}
	if text == "" {
		b.checks.Hide()
		return
	}
	if b.checks.Text != text {
		b.checks.Text = text
		b.checks.SetIcon(icon)
	}
	b.checks.Show()
}

// say says why nothing was launched; "" takes that back.
func (b *bar) say(problem string) {
	b.problem.SetProblem(problem)
	if problem == "" {
		b.problem.Hide()
	} else {
		b.problem.Show()
	}
}

// write shows how far the writing of the population is, and that the button gives it up.
func (b *bar) write(at *written) {
	text := fmt.Sprintf("Stop writing personas (%d/%d)", at.done, at.total)
	if b.launch.Text != text {
		b.launch.SetText(text)
	}
	b.launch.Enable()
}

// wait shows how long a launch still waits for its time, and that the button starts it at once.
func (b *bar) wait(left time.Duration) {
	text := "Start now (" + (left + time.Second - 1).Truncate(time.Second).String() + " left)"
	if b.launch.Text != text {
		b.launch.SetText(text)
	}
	b.launch.Enable()
}

// work shows that a launch is under way.
func (b *bar) work(at bool) {
	if at {
		b.launch.SetText("Launching…")
		b.launch.Disable()
		return
	}
	b.launch.SetText("Launch")
	b.launch.Enable()
}
