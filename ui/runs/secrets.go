package runs

import (
	"context"
	"errors"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"

	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// LockedError says that a run cannot resume because secrets are missing.
type LockedError struct {
	Secrets []string // their names
	Kept    string   // where they are stored if they are entered now
}

// Error implements error.
func (e *LockedError) Error() string {
	return "Missing secrets: " + strings.Join(e.Secrets, ", ") + ". Enter them and try again."
}

// Unlock asks for the secrets that an error of [Desk].Resume names, stores those that are entered, and calls then. It reports whether err
// names missing secrets.
func Unlock(desk Desk, win fyne.Window, err error, then func()) bool {
	var locked *LockedError
	if !errors.As(err, &locked) {
		return false
	}
	entries := map[string]*form.Entry{}
	rows := []fyne.CanvasObject{words.NewParagraph(win, "The run needs these secrets to resume. They are stored "+locked.Kept+".")}
	for _, name := range locked.Secrets {
		e := form.NewEntry()
		e.Password = true
		entries[name] = e
		rows = append(rows, form.NewRow(name, e))
	}
	ask := dialog.NewCustomConfirm("Missing secrets", "Resume", "Not now", form.NewStack(rows...), func(yes bool) {
		if yes {
			keep(desk, win, entries, then)
		}
	}, win)
	widgets.Ask(win, ask, ask.Confirm)
	win.Canvas().Focus(entries[locked.Secrets[0]])
	return true
}

// keep stores the entered secrets and calls then. Resuming asks again for those that are still missing.
func keep(desk Desk, win fyne.Window, entries map[string]*form.Entry, then func()) {
	given := map[string]string{}
	for name, e := range entries {
		if e.Text != "" {
			given[name] = e.Text
		}
	}
	if len(given) == 0 {
		return
	}
	async.Work(func() (struct{}, error) {
		var problems []error
		for name, value := range given {
			problems = append(problems, desk.KeepSecret(context.Background(), name, value))
		}
		return struct{}{}, errors.Join(problems...)
	}, func(_ struct{}, err error) {
		if err != nil {
			widgets.Complain(win, err)
			return
		}
		then()
	})
}
