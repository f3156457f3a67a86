package live

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Names of orders.
const (
	adjustOrder = "Adjusting"
)

// adjustForm lists the settings that can change during the run.
type adjustForm struct {
	form.Form
	tunables []engine.Tunable
	fields   []adjustField
	dialog   *dialog.CustomDialog
	change   *widget.Button
	notice   *widgets.Notice
}

// adjustSettings opens the form for the settings.
func (o *orders) adjustSettings() {
	f := &adjustForm{notice: widgets.NewNotice()}
	var rows []fyne.CanvasObject
	for _, t := range o.job.Tunables() {
		if t.Name == engine.LimitSetting { // it has its own control
			continue
		}
		field := newAdjustField(t.Name)
		field.put(t.Value)
		row := f.Add(form.NewRow(cmp.Or(t.Title, t.Name), field.object), t.Name)
		row.SetHelp(t.Help)
		f.tunables, f.fields, rows = append(f.tunables, t), append(f.fields, field), append(rows, row)
	}
	f.change = widget.NewButton("Change", func() { o.adjust(f) })
	f.change.Importance = widget.HighImportance
	aside := 2 * theme.Padding() // for the scroll bar
	scroll := container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 0, 0, aside), form.NewColumns(16, rows...)))
	f.dialog = dialog.NewCustomWithoutButtons("Adjust the run", container.NewBorder(nil, f.notice, nil, nil, scroll), o.screen.win)
	f.dialog.SetButtons([]fyne.CanvasObject{widget.NewButton("Close", f.dialog.Hide), f.change})
	o.adjusting = f
	size := o.screen.win.Canvas().Size()
	f.dialog.Resize(fyne.NewSize(min(size.Width*0.8, 900), size.Height*0.8))
	widgets.Ask(o.screen.win, f.dialog, widgets.Pressing(f.change))
}

// adjustField is the field of a setting.
type adjustField struct {
	object fyne.CanvasObject
	text   func() string
	put    func(string)
}

// newAdjustField returns a menu if there are few values, otherwise an entry.
func newAdjustField(name string) adjustField {
	var options []string
	switch name {
	case engine.GovernorSetting:
		for _, g := range engine.Governors {
			options = append(options, g.Name)
		}
	case engine.BreakerName:
		options = engine.Breakers
	default:
		e := form.NewEntry()
		return adjustField{e, func() string { return strings.TrimSpace(e.Text) }, e.SetText}
	}
	choice := widget.NewSelect(options, nil)
	return adjustField{form.NewFrame(choice), func() string { return choice.Selected }, choice.SetSelected}
}

// adjust applies the changed values: all of them, or none if a value is invalid. Each error is shown at its field.
func (o *orders) adjust(f *adjustForm) {
	var wanted []engine.Assignment
	for i, field := range f.fields {
		if text := field.text(); text != f.tunables[i].Value {
			wanted = append(wanted, engine.Assignment{Name: f.tunables[i].Name, Value: text})
		}
	}
	if len(wanted) == 0 {
		f.dialog.Hide()
		return
	}
	var changes []engine.Change
	var mistakes error
	o.order(adjustOrder, func(r Run) (err error) {
		if changes, err = r.Apply(wanted, user, byHand); errors.Is(err, engine.ErrEnded) {
			return err
		}
		mistakes = err
		return nil
	}, func() {
		if mistakes != nil {
			if err := f.Tell(mistakes); err != nil {
				f.notice.Say(err.Error(), widgets.Bad)
			}
			return
		}
		var done []string
		for _, c := range changes {
			done = append(done, fmt.Sprintf("%s %s to %s", c.Name, c.Old, c.New))
		}
		if len(done) > 0 {
			o.report("Changed: "+strings.Join(done, ", ")+".", widgets.Good)
		}
		f.dialog.Hide()
	})
}
