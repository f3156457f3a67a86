// Package permit asks a person which addresses a scenario file may call.
package permit

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Question is what is asked about a file.
type Question struct {
	File   string // its name; "" is the scenario
	Verb   string // on the button, such as Allow and launch
	AtOnce int    // sessions in flight; 0 says nothing of them
	Of     []engine.Destination
}

// Ask shows one dialog with all addresses, and what is sent to each. allowed are the addresses, as a launch takes them; nil
// is that the person said no.
func Ask(win fyne.Window, q Question, then func(allowed []string)) {
	all := engine.Merged(q.Of)
	rows := []fyne.CanvasObject{note(q.about(), false)}
	for _, d := range all {
		rows = append(rows, row(d))
	}
	rows = append(rows, note("Allow this only if you know what the file does there. The answer is kept for this file: "+
		"only another address or another secret is asked about again.", false))
	content := form.NewPanels(rows...)
	size := win.Canvas().Size()
	width := min(size.Width*0.8, 44*theme.TextSize())
	content.Resize(fyne.NewSize(width, 0))
	height := min(content.MinSize().Height, size.Height*0.6)
	var shown fyne.CanvasObject = content
	if content.MinSize().Height > height {
		shown = container.NewVScroll(content)
	}
	ask := dialog.NewCustomConfirm(q.title(), q.Verb, "Cancel", container.NewGridWrap(fyne.NewSize(width, height), shown), func(yes bool) {
		if !yes {
			then(nil)
			return
		}
		allowed := []string{}
		for _, d := range all {
			allowed = append(allowed, d.Address())
		}
		then(allowed)
	}, win)
	widgets.Ask(win, ask, ask.Confirm)
}

func (q Question) title() string {
	if q.File == "" {
		return "Allow the scenario to use these addresses?"
	}
	return "Allow " + q.File + " to use these addresses?"
}

func (q Question) about() string {
	switch {
	case q.AtOnce == 1:
		return "The file calls addresses outside of Throng, with 1 session at a time. Nothing has been sent there yet."
	case q.AtOnce > 1:
		return fmt.Sprintf("The file calls addresses outside of Throng, with up to %s sessions at once. Nothing has been sent there yet.", engine.FormatCount(int64(q.AtOnce)))
	}
	return "The file calls addresses outside of Throng. Nothing has been sent there yet."
}

// row is an address with what is sent there.
func row(d engine.Destination) fyne.CanvasObject {
	where := "on another machine"
	if d.Local() {
		where = "on this machine"
	}
	what := "Requests"
	if d.Database != "" {
		what = "SQL statements"
	}
	head := form.NewNote("")
	head.TextSize = theme.SizeNameText
	head.Say(d.Address())
	parts := []fyne.CanvasObject{head, note(fmt.Sprintf("%s from %s, %s", what, d.Service, where), false)}
	if len(d.Secrets) > 0 {
		parts = append(parts, note("Gets "+secrets(d.Secrets), true))
	}
	if d.Results {
		parts = append(parts, note("This database holds the results of your runs.", true))
	}
	return widgets.NewPanel("", form.NewStack(parts...))
}

func note(text string, warns bool) *form.Note {
	n := form.NewNote(text)
	if warns {
		n.SetWarning(text)
	}
	return n
}

// secrets names them, as what they are.
func secrets(names []string) string {
	if len(names) == 1 {
		return "the secret " + names[0]
	}
	return "the secrets " + strings.Join(names, ", ")
}
