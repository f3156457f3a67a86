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

// LockedError says that a run cannot go on without secrets that are kept nowhere. Nothing was changed.
type LockedError struct {
	Secrets []string // their names
	Kept    string   // where they would be kept if they were given now
}

// Error implements error.
func (e *LockedError) Error() string {
	return "It needs secrets that are kept nowhere: " + strings.Join(e.Secrets, ", ") + ". Nothing was changed."
}

// Unlock asks for the secrets that an error of [Desk].Resume says are missing, keeps those that are given, and calls then.
// It reports whether that is what the error says.
func Unlock(desk Desk, win fyne.Window, err error, then func()) bool {
	var locked *LockedError
	if !errors.As(err, &locked) {
		return false
	}
	entries := map[string]*form.Entry{}
	rows := []fyne.CanvasObject{words.NewParagraph(win, "The run goes on when these are given. They are kept "+locked.Kept+".")}
	for _, name := range locked.Secrets {
		e := form.NewEntry()
		e.Password = true
		entries[name] = e
		rows = append(rows, form.NewRow(name, e))
	}
	ask := dialog.NewCustomConfirm("Secrets are missing", "Resume", "Not now", form.NewStack(rows...), func(yes bool) {
		if yes {
			keep(desk, win, entries, then)
		}
	}, win)
	widgets.Ask(win, ask, ask.Confirm)
	win.Canvas().Focus(entries[locked.Secrets[0]])
	return true
}

// keep keeps what was entered and calls then; what was left empty is asked for again by whoever misses it.
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
