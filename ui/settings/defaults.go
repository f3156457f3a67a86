package settings

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// fromSaved and fromDefault are the sources of values that can be changed here; other values are from the environment.
const (
	fromSaved   = "saved"
	fromDefault = "default"
)

// defaults is the table of run settings: one group of them at a time.
type defaults struct {
	desk    Desk
	win     fyne.Window
	panel   fyne.CanvasObject
	page    fyne.Scrollable // the page of the panel
	title   *widgets.Text
	rows    *fyne.Container
	shown   []Setting
	group   string // the shown one
	looked  string // rows that do not match this search are left out
	changed func(err error)
	editor  *editor // nil while no row is edited
}

func newDefaults(desk Desk, win fyne.Window) *defaults {
	d := &defaults{desk: desk, win: win, title: widgets.NewHeading(""), rows: form.NewPanels(), changed: func(error) {}}
	about := form.NewNote("New runs start with these values. Scenarios and Setup can override them.")
	d.panel = widgets.NewPanel("", form.NewStack(d.title, about, d.rows))
	return d
}

// load reads the settings, and calls changed with an error or if they are others.
func (d *defaults) load() {
	async.Work(func() ([]Setting, error) { return d.desk.Saved(context.Background()) }, func(settings []Setting, err error) {
		if err == nil && slices.Equal(d.shown, settings) {
			return
		}
		if err == nil {
			d.shown = settings
		}
		d.changed(err)
	})
}

// open shows a group, without the settings that do not match a search.
func (d *defaults) open(group, looked string) {
	d.group, d.looked = group, looked
	d.show()
}

// show draws the group, with the editor below its row.
func (d *defaults) show() {
	d.title.SetText(d.group)
	d.rows.Objects = nil
	for _, s := range d.shown {
		if s.Group != d.group || !s.matches(d.looked) {
			continue
		}
		line := form.NewStack(d.row(s))
		if d.editor != nil && d.editor.setting.Name == s.Name {
			line.Add(d.editor.object)
		}
		d.rows.Add(line)
	}
	d.rows.Refresh()
}

// row returns the row of a setting. Settings of the environment cannot be changed here.
func (d *defaults) row(s Setting) fyne.CanvasObject {
	title, value, from := form.NewNote(""), form.NewNote(""), form.NewNote(s.From)
	title.TextSize, value.TextSize = theme.SizeNameText, theme.SizeNameText
	title.Say(s.Title)
	value.Say(s.inForce())
	if s.From != "" && s.From != fromDefault { // the value was chosen
		from.SetColor(theme.ColorNamePrimary)
	}
	end := container.NewStack()
	if editable(s) {
		edit := widget.NewButtonWithIcon("", theme.DocumentCreateIcon(), func() { d.edit(s) })
		edit.Importance = widget.LowImportance
		end.Add(form.NewCompact(edit))
	} else {
		from.SetText(s.From + " (environment)")
		from.SetColor(theme.ColorNamePrimary)
	}
	return container.New(&aside{ends: []float32{12, 2}}, form.NewStack(title, form.NewNote(words.Sentence(s.Help))), form.NewStack(value, from), end)
}

// inForce formats the value in force, and why that is not what was set.
func (s Setting) inForce() string {
	text := tidy(cmp.Or(s.Shown, s.Value))
	if s.Why != "" {
		text += ", " + s.Why
	}
	return text
}

func editable(s Setting) bool { return s.From == "" || s.From == fromSaved || s.From == fromDefault }

// edit opens the editor of a setting.
func (d *defaults) edit(s Setting) {
	d.editor = newEditor(d, s)
	d.show()
	d.win.Canvas().Focus(d.editor.entry)
}

// close closes the editor.
func (d *defaults) close() {
	d.editor = nil
	d.show()
}

// editor changes one setting.
type editor struct {
	setting Setting
	object  fyne.CanvasObject
	row     *form.Row
	entry   *form.Entry
	buttons []*widget.Button
}

func newEditor(d *defaults, s Setting) *editor {
	e := &editor{setting: s, entry: form.NewEntry()}
	e.entry.Page = d.page
	e.entry.SetText(s.Value)
	e.entry.OnSubmitted = func(string) { e.save(d, e.entry.Text) }
	save := widget.NewButton("Save", func() { e.save(d, e.entry.Text) })
	save.Importance = widget.HighImportance
	forget := widget.NewButton("Use default", func() { e.save(d, "") })
	if s.From != fromSaved {
		forget.Hide()
	}
	cancel := widget.NewButton("Cancel", d.close)
	e.buttons = []*widget.Button{save, forget, cancel}
	e.row = form.NewRow(s.Title, container.NewBorder(nil, nil, nil, container.NewHBox(save, forget, cancel), e.entry)).Marking(e.entry)
	e.row.SetHelp(s.Help)
	e.entry.OnChanged = func(string) { e.row.Changed() }
	e.object = container.NewPadded(e.row)
	return e
}

// save saves a value; "" resets it.
func (e *editor) save(d *defaults, value string) {
	value = strings.TrimSpace(value)
	for _, b := range e.buttons {
		b.Disable()
	}
	async.Work(func() (struct{}, error) { return struct{}{}, d.desk.Save(context.Background(), e.setting.Name, value) }, func(_ struct{}, err error) {
		for _, b := range e.buttons {
			b.Enable()
		}
		if err != nil {
			e.fail(err)
			return
		}
		if d.editor == e {
			d.close()
		}
		d.load()
	})
}

// fail shows why the value was not saved.
func (e *editor) fail(err error) {
	mistake, ok := errors.AsType[*engine.FieldError](err)
	if !ok {
		mistake = &engine.FieldError{Field: e.setting.Name, Problem: err.Error()}
	}
	var only form.Form
	only.Add(e.row, mistake.Field)
	_ = only.Tell(mistake) // it has a row
}
