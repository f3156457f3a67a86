package setup

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// head shows the scenario's title and description, or why it cannot be read.
type head struct {
	panel    *widgets.Panel
	of       subject // of what it shows
	title    *form.Note
	about    *form.Note
	path     *form.Note
	tour     *form.Note // what the tour has set
	fork     *form.Note // where the fork starts
	changed  *form.Note // differences from its parent
	lost     *fyne.Container
	leave    *widget.Button // starts from the beginning instead
	cancel   *widget.Button // ends the setup of the fork
	again    *widget.Button
	edit     *editing
	warnings *fyne.Container
	problem  *form.Note
	trace    *widget.Label
}

func newHead(again, leave, cancel func()) *head {
	h := &head{
		title: form.NewNote(""), about: form.NewNote(""), path: form.NewNote(""), warnings: form.NewStack(), problem: form.NewNote(""),
		tour: form.NewNote(""), fork: form.NewNote(""), changed: form.NewNote(""), lost: form.NewStack(),
	}
	h.leave = widget.NewButtonWithIcon("From the beginning instead", theme.MediaSkipPreviousIcon(), leave)
	h.leave.Importance = widget.LowImportance
	h.cancel = widget.NewButtonWithIcon("Cancel fork", theme.CancelIcon(), cancel)
	h.cancel.Importance = widget.LowImportance
	h.title.TextSize = theme.SizeNameSubHeadingText
	h.title.Say("Loading scenarios…")
	h.about.TextSize = theme.SizeNameText
	h.again = widget.NewButtonWithIcon("Reload", theme.ViewRefreshIcon(), again)
	h.again.Importance = widget.LowImportance
	h.edit = newEditing()
	h.trace = newTrace("")
	for _, o := range []fyne.CanvasObject{h.about, h.path, h.tour, h.fork, h.changed, h.leave, h.cancel, h.again, h.problem, h.trace} {
		o.Hide()
	}
	parts := form.NewStack(h.title, h.about, h.tour, h.path, h.fork, h.changed, h.lost, h.warnings, h.problem, h.trace)
	h.panel = widgets.NewPanel("", container.NewBorder(nil, nil, nil, container.NewVBox(h.edit.object, h.again, h.leave, h.cancel), parts))
	return h
}

// newTrace returns a monospace text for the errors in a file.
func newTrace(text string) *widget.Label {
	l := widget.NewLabelWithStyle(text, fyne.TextAlignLeading, fyne.TextStyle{Monospace: true})
	l.Wrapping = fyne.TextWrapWord
	l.Selectable = true
	return l
}

// show shows a scenario.
func (h *head) show(x subject, sc *Scenario, builtIn bool) {
	h.begin(sc.Title)
	if h.of != x || sc.Fork == nil { // a fork of the same subject is updated by differ
		h.forget()
	}
	h.of = x
	h.edit.of(x)
	say(h.about, sc.About)
	switch {
	case sc.Fork != nil:
		h.fork.Say(forked(sc.Fork))
		h.fork.Show()
		h.leave.Show()
		h.cancel.Show()
	case !builtIn:
		say(h.path, x.scenario)
		h.again.Show()
	}
	for _, w := range sc.Warnings {
		note := form.NewNote("")
		h.warnings.Add(note)
		if !strings.Contains(w, "\n") {
			note.SetWarning(w)
			continue
		}
		note.SetWarning("The scenario is valid, with warnings:")
		h.warnings.Add(newTrace(w))
	}
	h.panel.Refresh()
}

// differ shows the differences between a fork and its parent, and what the fork cannot restore.
func (h *head) differ(sc *Scenario, found Requirements) {
	if sc == nil || sc.Fork == nil {
		return
	}
	say(h.changed, otherwise(found.Changed))
	h.lost.RemoveAll()
	for _, text := range found.Lost {
		note := form.NewNote("")
		note.SetWarning(text)
		h.lost.Add(note)
	}
	h.panel.Refresh()
}

// forget clears the differences of a fork.
func (h *head) forget() {
	say(h.changed, "")
	h.lost.RemoveAll()
	h.panel.Refresh()
}

// begin shows only a title.
func (h *head) begin(title string) {
	h.title.Say(title)
	say(h.about, "")
	say(h.path, "")
	say(h.fork, "")
	h.leave.Hide()
	h.cancel.Hide()
	h.again.Hide()
	h.warnings.RemoveAll()
	h.fail(nil)
}

// hint shows what the tour has set; "" clears it.
func (h *head) hint(text string) {
	h.tour.Say(text)
	h.tour.SetColor(theme.ColorNamePrimary)
	h.tour.Hidden = text == ""
	h.panel.Refresh()
}

// fail shows why the scenario cannot be read; nil clears it.
func (h *head) fail(err error) {
	if err == nil {
		h.problem.Hide()
		h.trace.Hide()
		return
	}
	h.problem.SetProblem("The scenario has errors.")
	h.problem.Show()
	h.trace.SetText(err.Error())
	h.trace.Show()
	h.again.Show()
	h.panel.Refresh()
}

// say shows a text in a note, and hides the note if the text is empty.
func say(n *form.Note, text string) {
	n.SetText(text)
	if text == "" {
		n.Hide()
	} else {
		n.Show()
	}
}
