package settings

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// authority is the row of the CA certificates for the server's certificate.
type authority struct {
	desk             Desk
	row              *form.Row
	about            *form.Note
	imports, removes *widget.Button
	done             func(good string, err error) // called after a change or its failure
}

func newAuthority(desk Desk, win fyne.Window, done func(good string, err error)) *authority {
	a := &authority{desk: desk, about: form.NewNote(""), done: done}
	a.imports = widget.NewButtonWithIcon("Import…", theme.FolderOpenIcon(), func() {
		widgets.PickFile(win, "The server's CA, a PEM file", "Open", []string{".pem", ".crt", ".cer", ".cert", ".ca-bundle"}, a.take)
	})
	a.removes = widget.NewButton("Remove", a.remove)
	a.row = form.NewRow("Server's CA", container.NewBorder(nil, nil, nil, container.NewHBox(a.removes, a.imports), a.about))
	a.show(Connection{})
	return a
}

// show shows the certificates.
func (a *authority) show(c Connection) {
	switch {
	case c.CAProblem != "":
		a.about.SetProblem(c.CAProblem)
	case c.CA != "":
		a.about.SetGood(c.CA)
	default:
		a.about.SetText("None. The server is verified only with verify-ca or verify-full, by the CAs of the system.")
	}
	if c.CA == "" && c.CAProblem == "" {
		a.removes.Hide()
	} else {
		a.removes.Show()
	}
}

func (a *authority) take(path string) {
	async.Work(func() (string, error) { return a.desk.ImportCA(context.Background(), path) }, func(name string, err error) {
		a.done("The server's certificate must now be signed by "+name+".", err)
	})
}

func (a *authority) remove() {
	async.Work(func() (struct{}, error) { return struct{}{}, a.desk.RemoveCA(context.Background()) }, func(_ struct{}, err error) {
		a.done("The CA was removed.", err)
	})
}
