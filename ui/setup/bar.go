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

// bar is the summary of the launch, what stands in its way, and the button to launch.
type bar struct {
	panel    fyne.CanvasObject
	summary  *form.Note
	mistakes *widget.Button
	missing  *widget.Button
	checks   *widget.Button
	problem  *form.Note
	state    *form.Note      // of a launch that takes long
	busy     *fyne.Container // says that a run is in progress
	what     *form.Note      // in busy
	launch   *widget.Button
	early    *widget.Button // starts a scheduled run now
	cancel   *widget.Button // cancels a scheduled start, or stops writing personas
	alone    bool           // the run needs a worker, and none is ready
}

// barActions are the actions of the bar's buttons.
type barActions struct{ launch, early, cancel, reveal, unlock, check, live func() }

// Texts of the button that launches.
const (
	launchNow  = "Launch"
	launchNext = "Launch when it ends"
	launchWith = "Launch when a worker joins"
)

func newBar(do barActions) *bar {
	b := &bar{summary: form.NewNote(""), problem: form.NewNote(""), state: form.NewNote("")}
	b.summary.TextSize = theme.SizeNameText
	b.mistakes = widget.NewButtonWithIcon("", theme.NewErrorThemedResource(theme.ErrorIcon()), do.reveal)
	b.missing = widget.NewButtonWithIcon("", theme.NewWarningThemedResource(theme.WarningIcon()), do.unlock)
	b.checks = widget.NewButtonWithIcon("", nil, do.check)
	for _, w := range []*widget.Button{b.mistakes, b.missing, b.checks} {
		w.Importance, w.Alignment = widget.LowImportance, widget.ButtonAlignLeading
		w.Hide()
	}
	b.problem.Hide()
	b.state.Hide()
	b.launch = widget.NewButtonWithIcon(launchNow, theme.MediaPlayIcon(), do.launch)
	b.launch.Importance = widget.HighImportance
	b.early = widget.NewButton("Start now", do.early)
	b.cancel = widget.NewButton("Cancel", do.cancel)
	b.early.Hide()
	b.cancel.Hide()
	buttons := container.NewBorder(nil, nil, container.NewHBox(b.cancel, b.early), nil, b.launch)
	b.what = form.NewNote("")
	b.busy = container.NewBorder(nil, nil, nil, container.NewVBox(form.NewCompact(widget.NewButton("Open Live", do.live))), b.what)
	b.busy.Hide()
	b.panel = widgets.NewPanel("", form.NewStack(b.summary, b.problem, b.mistakes, b.missing, b.checks, b.busy, b.state, buttons))
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

// tell shows what became of the launch, if nothing is wrong.
func (b *bar) tell(text string) {
	b.problem.SetText(text)
	b.problem.Show()
}

// occupy shows what is in progress, which the next run waits for; "" shows that it need not wait.
func (b *bar) occupy(what string) {
	if what != "" {
		b.what.Say(what)
	}
	b.title(what != "")
	if b.busy.Hidden == (what == "") {
		return
	}
	b.busy.Hidden = what == ""
	b.panel.Refresh()
}

// title sets the text of the button that launches.
func (b *bar) title(busy bool) {
	launch := launchNow
	switch {
	case busy:
		launch = launchNext
	case b.alone:
		launch = launchWith
	}
	if b.launch.Text != launch {
		b.launch.SetText(launch)
	}
}

// need sets whether the run needs a worker, and none is ready.
func (b *bar) need(worker bool) {
	b.alone = worker
	b.title(!b.busy.Hidden)
}

// await shows that the run waits for the first worker.
func (b *bar) await() {
	say(b.state, "Waiting for the first worker to join.")
	b.early.Hide()
	b.cancel.Show()
}

// queue shows that the run waits for the end of another.
func (b *bar) queue() {
	say(b.state, "Queued: starts when it ends.")
	b.early.Hide()
	b.cancel.Show()
}

// write shows the progress of writing the population.
func (b *bar) write(at *written) {
	say(b.state, fmt.Sprintf("Writing personas: %d of %d.", at.done, at.total))
	b.cancel.Show()
}

// wait shows the time until a scheduled start.
func (b *bar) wait(left time.Duration) {
	say(b.state, "Starts in "+engine.FormatDuration((left+time.Second-1).Truncate(time.Second))+".")
	b.cancel.Show()
	b.early.Show()
}

// work shows whether a launch is in progress.
func (b *bar) work(at bool) {
	b.early.Hide()
	b.cancel.Hide()
	say(b.state, "")
	if at {
		say(b.state, "Launching…")
		b.launch.Disable()
		return
	}
	b.launch.Enable()
}
