// Package permit asks the user which addresses a scenario file may call.
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

// Question is a question about a file.
type Question struct {
	File   string // its name; "" means the scenario
	Verb   string // text of the button, for example Allow and launch
	AtOnce int    // sessions in flight; 0 if not relevant
	Of     []engine.Destination
}

// Ask shows a dialog with all addresses and what is sent to each. It calls then with the allowed addresses, or nil if the user declines.
func Ask(win fyne.Window, q Question, then func(allowed []string)) {
	all := engine.Merged(q.Of)
	rows := []fyne.CanvasObject{note(q.about(), false)}
	for _, d := range all {
		rows = append(rows, row(d))
	}
	rows = append(rows, note("Allow this only if you trust the file. Throng remembers the answer for this file "+
		"and asks again for other addresses or secrets.", false))
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
		return "The file calls addresses outside Throng, with 1 session in flight. Nothing has been sent yet."
	case q.AtOnce > 1:
		return fmt.Sprintf("The file calls addresses outside Throng, with up to %s sessions in flight. Nothing has been sent yet.", engine.FormatCount(int64(q.AtOnce)))
	}
	return "The file calls addresses outside Throng. Nothing has been sent yet."
}

// row describes an address and what is sent there.
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
		parts = append(parts, note("Receives "+secrets(d.Secrets), true))
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

// secrets lists the names of secrets.
func secrets(names []string) string {
	if len(names) == 1 {
		return "the secret " + names[0]
	}
	return "the secrets " + strings.Join(names, ", ")
}
