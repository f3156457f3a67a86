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

// bar is the bottom bar: a summary of the launch, the number of mistakes, and the button to launch.
type bar struct {
	panel    fyne.CanvasObject
	summary  *form.Note
	mistakes *widget.Button
	missing  *widget.Button
	checks   *widget.Button
	problem  *form.Note
	forecast *form.Note
	launch   *widget.Button
	cancel   *widget.Button // cancels a scheduled start
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

// show shows the summary and the number of mistakes.
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

// foresee shows the forecast in short, or its first warning; "" if unknown.
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

// miss shows the names of the missing secrets.
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

// check shows the number of failed preflight checks. A missing secret has its own button.
func (b *bar) check(all []engine.Check) {
	problems, warnings := 0, 0
	for _, c := range all {
		way, _ := c.FixAction()
		switch {
		case way == engine.FixSecret:
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

// say shows why nothing was launched; "" clears it.
func (b *bar) say(problem string) {
	b.problem.SetProblem(problem)
	if problem == "" {
		b.problem.Hide()
	} else {
		b.problem.Show()
	}
}

// write shows the progress of writing the population, on the button that stops it.
func (b *bar) write(at *written) {
	text := fmt.Sprintf("Stop writing personas (%d/%d)", at.done, at.total)
	if b.launch.Text != text {
		b.launch.SetText(text)
	}
	b.launch.Enable()
}

// wait shows the time until a scheduled start, on the button that starts it now.
func (b *bar) wait(left time.Duration) {
	text := "Start now (" + (left + time.Second - 1).Truncate(time.Second).String() + " left)"
	if b.launch.Text != text {
		b.launch.SetText(text)
	}
	b.launch.Enable()
}

// work shows that a launch is in progress.
func (b *bar) work(at bool) {
	if at {
		b.launch.SetText("Launching…")
		b.launch.Disable()
		return
	}
	b.launch.SetText("Launch")
	b.launch.Enable()
}
