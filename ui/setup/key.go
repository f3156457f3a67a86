package setup

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/words"
)

// key is the field for a missing secret of a service.
type key struct {
	desk   Desk
	object *fyne.Container
	note   *form.Note
	entry  *form.Entry
	keep   *widget.Button
	of     Missing
	kept   func()
}

func newKey(desk Desk, kept func()) *key {
	k := &key{desk: desk, note: form.NewNote(""), entry: form.NewEntry(), kept: kept}
	k.entry.Password = true
	k.entry.OnSubmitted = func(string) { k.save() }
	k.keep = widget.NewButton("Save", k.save)
	k.object = form.NewStack(k.note, container.NewBorder(nil, nil, nil, k.keep, k.entry))
	k.object.Hide()
	return k
}

// want asks for a missing secret; one without a name hides the field. Text that is being typed stays.
func (k *key) want(m Missing) {
	if m.Secret != k.of.Secret {
		k.entry.SetText("")
		k.entry.SetPlaceHolder(m.Secret)
	}
	k.of = m
	if m.Secret == "" {
		k.object.Hide()
		return
	}
	k.note.SetWarning(m.Problem + ". Enter it here; it is kept " + m.Kept + ".")
	k.object.Show()
}

// save stores the secret.
func (k *key) save() {
	name, value := k.of.Secret, k.entry.Text
	if name == "" || value == "" {
		return
	}
	k.keep.Disable()
	async.Work(func() (struct{}, error) { return struct{}{}, k.desk.KeepSecret(context.Background(), name, value) }, func(_ struct{}, err error) {
		k.keep.Enable()
		if err != nil {
			k.note.SetProblem("Cannot save the secret. " + words.Trouble(err))
			return
		}
		k.entry.SetText("")
		k.kept()
	})
}
