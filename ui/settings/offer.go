package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
)

// offer asks once whether results go to the database that DATABASE_URL of the environment names.
type offer struct {
	row     *fyne.Container
	note    *form.Note
	use, no *widget.Button
}

func newOffer(answer func(use bool)) *offer {
	o := &offer{note: form.NewNote("")}
	o.use = widget.NewButton("Use", func() { answer(true) })
	o.no = widget.NewButton("No", func() { answer(false) })
	o.row = form.NewStack(o.note, container.NewHBox(o.use, o.no))
	o.row.Hide()
	return o
}

// show makes the offer of a database by host and name; "" is none.
func (o *offer) show(target string) {
	if target == "" {
		o.row.Hide()
		return
	}
	o.note.SetWarning("DATABASE_URL in the environment points to " + target + ". Throng does not use it. Send results there?")
	o.row.Show()
}
