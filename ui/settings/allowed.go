package settings

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/visible"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Allowed is a scenario file and the addresses that it may call.
type Allowed struct {
	File      string
	Addresses []AllowedAddress
}

// AllowedAddress is an address that a file may call, and the names of the secrets that it may send there.
type AllowedAddress struct {
	Address string
	Secrets []string
	At      time.Time
}

// nothingAllowed is shown if there are no permissions.
const nothingAllowed = "No files yet. Throng asks before the first run of a file that calls other services than the mocks."

// allowed is the panel of scenario files and their permissions.
type allowed struct {
	desk    Desk
	panel   fyne.CanvasObject
	list    *fyne.Container
	answer  *form.Note
	shown   []Allowed
	forgets []*widget.Button // by file
}

var allowedItems = []item{{"Allowed addresses", "permissions of scenario files to send requests and secrets; trust, security, privacy"}, {"Secrets of scenarios", "password, token, API key, credentials"}}

func newAllowed(desk Desk) *allowed {
	a := &allowed{desk: desk, list: form.NewStack(form.NewNote("Loading…")), answer: form.NewNote("")}
	a.answer.Hide()
	about := form.NewNote("Scenario files may send requests and secrets to these addresses. If you forget a file, Throng asks again.")
	where := form.NewNote("Passwords and tokens that a scenario sends are changed in Setup, at its services: choose Change… there.")
	a.panel = widgets.NewPanel(Privacy, form.NewStack(form.NewRow("Secrets of scenarios", where), form.NewRow("Allowed addresses", about), a.list, a.answer))
	return a
}

func (a *allowed) load() {
	async.Work(func() ([]Allowed, error) { return a.desk.Allowed(context.Background()) }, func(all []Allowed, err error) {
		if err != nil {
			a.answer.SetProblem("Cannot read the allowed addresses. " + words.Trouble(err))
			a.answer.Show()
			return
		}
		a.show(all)
	})
}

// show lists the permissions. Unchanged ones are not drawn again.
func (a *allowed) show(all []Allowed) {
	same := func(x, y Allowed) bool {
		return x.File == y.File && slices.EqualFunc(x.Addresses, y.Addresses, func(p, q AllowedAddress) bool { return p.says() == q.says() })
	}
	if len(a.list.Objects) > 0 && len(all) > 0 && slices.EqualFunc(a.shown, all, same) {
		return
	}
	a.shown, a.forgets, a.list.Objects = all, nil, nil
	if len(all) == 0 {
		a.list.Add(form.NewNote(nothingAllowed))
	}
	for _, of := range all {
		folder, name := filepath.Split(of.File)
		file := form.NewNote(visible.Line(name))
		file.TextSize = theme.SizeNameText
		file.SetColor(theme.ColorNameForeground)
		lines := form.NewStack(file)
		if folder != "" {
			lines.Add(form.NewNote("in " + visible.Line(filepath.Clean(folder))))
		}
		for i := range of.Addresses {
			lines.Add(form.NewNote(of.Addresses[i].says()))
		}
		forget := widget.NewButton("Forget", func() { a.forget(of.File) })
		a.forgets = append(a.forgets, forget)
		a.list.Add(container.NewBorder(nil, nil, nil, container.NewVBox(forget), lines))
	}
	a.list.Refresh()
}

// says formats an address in one line.
func (a *AllowedAddress) says() string {
	text := a.Address
	if len(a.Secrets) > 0 {
		text += " with " + strings.Join(a.Secrets, ", ")
	}
	return text + ", since " + a.At.Local().Format(time.DateOnly)
}

// forget removes the permissions of a file.
func (a *allowed) forget(file string) {
	async.Work(func() ([]Allowed, error) {
		if err := a.desk.Forget(context.Background(), file); err != nil {
			return nil, err
		}
		return a.desk.Allowed(context.Background())
	}, func(all []Allowed, err error) {
		a.answer.Show()
		if err != nil {
			a.answer.SetProblem("The permissions of " + visible.Line(file) + " are not changed. " + words.Trouble(err))
			return
		}
		a.answer.SetGood("Forgotten: Throng asks again before the next run of " + visible.Line(file) + ".")
		a.show(all)
	})
}
