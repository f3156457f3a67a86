package settings

import (
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
)

// fromSaved and fromDefault are where values come from that can be changed here; others are the environment's.
const (
	fromSaved   = "saved"
	fromDefault = "default"
)

// defaults is the table of run settings.
type defaults struct {
	desk    Desk
	win     fyne.Window
	panel   fyne.CanvasObject
	page    fyne.Scrollable // that the panel is on
	rows    *fyne.Container
	problem *form.Note
	shown   []Setting
	editor  *editor // nil while no row is edited
}

func newDefaults(desk Desk, win fyne.Window) *defaults {
	d := &defaults{desk: desk, win: win, rows: form.NewStack(), problem: form.NewNote("")}
	d.problem.Hide()
	about := form.NewNote("What new runs begin with, where neither the scenario nor Setup says otherwise.")
	d.panel = widgets.NewPanel("Defaults", form.NewStack(about, d.problem, d.rows))
	return d
}

func (d *defaults) load() {
	async.Work(func() ([]Setting, error) { return d.desk.Saved(context.Background()) }, func(settings []Setting, err error) {
		if err != nil {
			d.problem.SetProblem("The settings cannot be read: " + err.Error())
			d.problem.Show()
			return
		}
		d.problem.Hide()
		if slices.Equal(d.shown, settings) {
			return
		}
		d.shown = settings
		d.show()
	})
}

// show draws the table, with the editor below its row.
func (d *defaults) show() {
	head := d.line(widgets.NewCaption("Setting"), widgets.NewCaption("Value"), widgets.NewCaption("From"), widgets.NewCaption("Meaning"), container.NewStack())
	d.rows.Objects = []fyne.CanvasObject{head, widget.NewSeparator()}
	for _, s := range d.shown {
		d.rows.Add(d.row(s))
		if d.editor != nil && d.editor.setting.Name == s.Name {
			d.rows.Add(d.editor.object)
		}
	}
	d.rows.Refresh()
}

// row shows a setting; one that the environment sets cannot be changed here.
func (d *defaults) row(s Setting) fyne.CanvasObject {
	name, value, from, help := form.NewNote(""), form.NewNote(""), form.NewNote(s.From), form.NewNote(s.Help)
	name.TextSize, value.TextSize = theme.SizeNameText, theme.SizeNameText
	name.Say(s.Name)
	value.Say(s.Value)
	var end fyne.CanvasObject = container.NewStack()
	if editable(s) {
		edit := widget.NewButtonWithIcon("", theme.DocumentCreateIcon(), func() { d.edit(s) })
		edit.Importance = widget.LowImportance
		end = form.NewCompact(edit)
	} else {
		from.SetText(s.From + " (environment)")
	}
	return d.line(name, value, from, help, end)
}

func editable(s Setting) bool { return s.From == "" || s.From == fromSaved || s.From == fromDefault }

func (d *defaults) line(cells ...fyne.CanvasObject) fyne.CanvasObject {
	size := theme.TextSize()
	return container.New(&sheet{first: 11 * size, weights: []float32{2, 4, 6}, last: 2 * size, height: size + 3*theme.Padding()}, cells...)
}

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
	forget := widget.NewButton("Use the default", func() { e.save(d, "") })
	if s.From != fromSaved {
		forget.Hide()
	}
	cancel := widget.NewButton("Cancel", d.close)
	e.buttons = []*widget.Button{save, forget, cancel}
	e.row = form.NewRow(s.Name, container.NewBorder(nil, nil, nil, container.NewHBox(save, forget, cancel), e.entry)).Marking(e.entry)
	e.row.SetHelp(s.Help)
	e.entry.OnChanged = func(string) { e.row.Changed() }
	e.object = container.NewPadded(e.row)
	return e
}

// save keeps a value; "" forgets it.
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

// fail shows why the value was not kept.
func (e *editor) fail(err error) {
	mistake, ok := errors.AsType[*engine.FieldError](err)
	if !ok {
		mistake = &engine.FieldError{Field: e.setting.Name, Problem: err.Error()}
	}
	var only form.Form
	only.Add(e.row, mistake.Field)
	_ = only.Tell(mistake) // it has a row
}
