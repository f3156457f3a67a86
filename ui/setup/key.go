package setup

import (
	"context"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/words"
)

// keys are the secrets of a service: fields for those that are missing, and for each other one a button that changes it.
type keys struct {
	object *fyne.Container
	all    []*key
	add    func(secret string) *key
}

// want shows the secrets of a service. Text that is being typed stays.
func (k *keys) want(missing []Missing, stored []Stored) {
	was := k.all
	k.all = nil
	find := func(secret string) *key {
		i := slices.IndexFunc(was, func(one *key) bool { return one.secret == secret })
		if i < 0 {
			k.all = append(k.all, k.add(secret))
		} else {
			k.all = append(k.all, was[i])
		}
		return k.all[len(k.all)-1]
	}
	for _, m := range missing {
		find(m.Secret).want(m)
	}
	for _, s := range stored {
		find(s.Secret).have(s)
	}
	objects := make([]fyne.CanvasObject, len(k.all))
	for i, one := range k.all {
		objects[i] = one.object
	}
	if !slices.Equal(objects, k.object.Objects) {
		k.object.Objects = objects
		k.object.Refresh()
	}
}

// key is a secret of a service: a field if it is missing or being changed.
type key struct {
	desk   Desk
	secret string
	object *fyne.Container
	note   *form.Note
	entry  *form.Entry
	field  *fyne.Container
	keep   *widget.Button
	change *widget.Button
	lacks  bool // it is missing
	opened bool // it is being changed
	kept   func()
}

func newKey(desk Desk, secret string, kept func()) *key {
	k := &key{desk: desk, secret: secret, note: form.NewNote(""), entry: form.NewEntry(), kept: kept}
	k.entry.Password = true
	k.entry.SetPlaceHolder(secret)
	k.entry.OnSubmitted = func(string) { k.save() }
	k.keep = widget.NewButton("Save", k.save)
	k.change = widget.NewButton("Change…", k.open)
	k.field = container.NewBorder(nil, nil, nil, k.keep, k.entry)
	k.object = form.NewStack(container.NewBorder(nil, nil, nil, form.NewCompact(k.change), k.note), k.field)
	return k
}

// want asks for the secret, which is missing.
func (k *key) want(m Missing) {
	k.lacks, k.opened = true, false
	k.note.SetWarning(m.Problem + ". Enter it here; it is kept " + m.Kept + ".")
	k.change.Hide()
	k.field.Show()
}

// have says where the secret is, and offers to change it.
func (k *key) have(s Stored) {
	k.note.SetText("The secret " + s.Secret + " is in " + s.Place + ". Another value is kept " + s.Kept + ".")
	if k.lacks = false; !k.opened {
		k.field.Hide()
		k.change.Show()
	}
}

// open shows the field of a secret that is not missing.
func (k *key) open() {
	k.opened = true
	k.change.Hide()
	k.field.Show()
	k.object.Refresh()
	if c := fyne.CurrentApp().Driver().CanvasForObject(k.entry); c != nil {
		c.Focus(k.entry)
	}
}

// save stores the secret.
func (k *key) save() {
	value := k.entry.Text
	if value == "" {
		return
	}
	k.keep.Disable()
	async.Work(func() (struct{}, error) { return struct{}{}, k.desk.KeepSecret(context.Background(), k.secret, value) }, func(_ struct{}, err error) {
		k.keep.Enable()
		if err != nil {
			k.note.SetProblem("Cannot save the secret. " + words.Trouble(err))
			return
		}
		k.entry.SetText("")
		k.opened = false
		k.kept()
	})
}
