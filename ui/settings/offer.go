package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
)

// offer asks once whether to send results to the database of the environment variable DATABASE_URL.
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

// show offers a database by its host and name; "" hides the offer.
func (o *offer) show(target string) {
	if target == "" {
		o.row.Hide()
		return
	}
	o.note.SetWarning("The environment variable DATABASE_URL points to " + target + ". Do you want to send results there?")
	o.row.Show()
}
