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

// Allowed is what a scenario file was allowed.
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

// nothingAllowed is said where no file was allowed anything.
const nothingAllowed = "No file yet. Throng asks before the first run of a file that calls anything but the built-in services."

// allowed is the panel of what scenario files were allowed.
type allowed struct {
	desk    Desk
	panel   fyne.CanvasObject
	list    *fyne.Container
	answer  *form.Note
	shown   []Allowed
	forgets []*widget.Button // by file
}

func newAllowed(desk Desk) *allowed {
	a := &allowed{desk: desk, list: form.NewStack(form.NewNote("Reading what is saved…")), answer: form.NewNote("")}
	a.answer.Hide()
	about := form.NewNote("Scenario files may send requests and secrets to these addresses. A file that you forget is asked about again.")
	a.panel = widgets.NewPanel("Allowed addresses", form.NewStack(about, a.list, a.answer))
	return a
}

func (a *allowed) load() {
	async.Work(func() ([]Allowed, error) { return a.desk.Allowed(context.Background()) }, func(all []Allowed, err error) {
		if err != nil {
			a.answer.SetProblem("What files were allowed cannot be read. " + words.Trouble(err))
			a.answer.Show()
			return
		}
		a.show(all)
	})
}

// show lists what was allowed; what has not changed is not drawn again.
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

// says is an address in a line.
func (a *AllowedAddress) says() string {
	text := a.Address
	if len(a.Secrets) > 0 {
		text += " with " + strings.Join(a.Secrets, ", ")
	}
	return text + ", since " + a.At.Local().Format(time.DateOnly)
}

// forget takes back what a file was allowed.
func (a *allowed) forget(file string) {
	async.Work(func() ([]Allowed, error) {
		if err := a.desk.Forget(context.Background(), file); err != nil {
			return nil, err
		}
		return a.desk.Allowed(context.Background())
	}, func(all []Allowed, err error) {
		a.answer.Show()
		if err != nil {
			a.answer.SetProblem("What " + visible.Line(file) + " was allowed is kept. " + words.Trouble(err))
			return
		}
		a.answer.SetGood("Forgotten: Throng asks again before the next run of " + visible.Line(file) + ".")
		a.show(all)
	})
}
