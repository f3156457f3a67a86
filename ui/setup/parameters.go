package setup

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// parameters are the fields of the scenario's parameters.
type parameters struct {
	screen *Screen
	panel  *widgets.Panel
	more   *form.Fold      // the other parameters
	first  *fyne.Container // the essential ones, and the length of the run
	long   *fyne.Container // the essential ones with longer texts
	rows   *fyne.Container // of more
	texts  *fyne.Container // rows of longer texts, at full width
	reset  *widget.Button
	keep   *widget.Button
	of     []Parameter // the shown parameters
	fields []*parameter
}

// parameter is the field of one parameter.
type parameter struct {
	Parameter
	row    *form.Row
	object fyne.CanvasObject
	text   func() string
	put    func(text string)
	check  func() error // nil if every text is valid
}

func newParameters(s *Screen) *parameters {
	p := &parameters{screen: s, first: form.NewColumns(13), long: form.NewPanels(), rows: form.NewColumns(16), texts: form.NewPanels()}
	p.reset = widget.NewButtonWithIcon("Reset to defaults", theme.ContentUndoIcon(), p.restore)
	p.reset.Importance = widget.LowImportance
	p.reset.Hide()
	p.keep = newKeep(s)
	title := container.NewBorder(nil, nil, widgets.NewHeading("Run"), container.NewHBox(form.NewCompact(p.keep), form.NewCompact(p.reset)))
	p.more = form.NewFold("More parameters", form.NewPanels(p.texts, p.rows))
	p.panel = widgets.NewPanel("", form.NewStack(title, p.long, p.first, s.length.words))
	return p
}

// fill shows the parameters of a scenario and the given values. If the parameters are the same, it keeps the fields.
func (p *parameters) fill(sc *Scenario, given map[string]string) {
	if p.of != nil && reflect.DeepEqual(p.of, sc.Parameters) && p.holds(given) {
		return
	}
	p.of = sc.Parameters
	p.fields = nil
	p.first.RemoveAll()
	p.long.RemoveAll()
	p.rows.RemoveAll()
	p.texts.RemoveAll()
	p.screen.given.Clear()
	for i, q := range sc.Parameters {
		f := p.field(q)
		text, ok := given[q.Name]
		if !ok {
			text = q.Default
		}
		f.put(text)
		p.fields = append(p.fields, f)
		p.screen.given.Add(f.row, q.Name)
		switch {
		case i < essential && q.long():
			p.long.Add(f.row)
		case i < essential:
			p.first.Add(f.row)
		case q.long():
			p.texts.Add(f.row)
		default:
			p.rows.Add(f.row)
		}
	}
	p.first.Add(p.screen.length.row)
	for _, rows := range []*fyne.Container{p.first, p.long, p.texts, p.rows} {
		if rows.Hidden = len(rows.Objects) == 0; !rows.Hidden {
			rows.Refresh()
		}
	}
	if p.more.Hidden = p.texts.Hidden && p.rows.Hidden; !p.more.Hidden {
		p.more.Refresh()
	}
}

// essential is the number of parameters that are always visible; scenarios list the important ones first.
const essential = 3

// longText is the number of characters from which a text has a field of several lines.
const longText = 24

// long reports whether a parameter needs a field of several lines.
func (q *Parameter) long() bool {
	return q.Kind == Text && utf8.RuneCountInString(q.Default) >= longText
}

// field returns the field of a parameter.
func (p *parameters) field(q Parameter) *parameter {
	f := &parameter{Parameter: q}
	switch q.Kind {
	case Switch:
		check := widget.NewCheck("On", nil)
		check.OnChanged = func(bool) { p.edited(f) }
		f.object, f.text = check, func() string { return strconv.FormatBool(check.Checked) }
		f.put = func(text string) { check.SetChecked(on(text)) }
	case OneOf:
		choice := widget.NewSelect(q.Choices, nil)
		choice.OnChanged = func(string) { p.edited(f) }
		f.object, f.text, f.put = form.NewFrame(choice), func() string { return choice.Selected }, choice.SetSelected
	case Text:
		entry := form.NewEntry()
		if q.long() {
			entry = form.NewText()
		}
		p.typed(f, entry)
		f.object = entry
	default:
		n := form.NewNumber()
		n.Whole, n.Min, n.Max = q.Kind == Whole, q.Min, q.Max
		n.PlaceHolder = q.Default
		p.typed(f, &n.Entry)
		f.object = n
		f.check = func() error {
			_, err := n.Value()
			return err
		}
	}
	f.row = form.NewRow(q.Title, f.object)
	f.row.SetHelp(q.About)
	if e, ok := f.object.(*form.Entry); ok {
		p.screen.seen(f.row, e)
	} else if n, ok := f.object.(*form.Number); ok {
		p.screen.seen(f.row, &n.Entry)
	}
	return f
}

// typed connects a field with its entry.
func (p *parameters) typed(f *parameter, e *form.Entry) {
	e.OnChanged = func(string) { p.edited(f) }
	f.text, f.put = func() string { return e.Text }, e.SetText
}

func (p *parameters) edited(f *parameter) {
	if f.row != nil {
		f.row.Changed()
	}
	p.screen.edited()
}

// given returns the values that differ from their defaults, and the errors.
func (p *parameters) given() (map[string]string, error) {
	given := map[string]string{}
	var mistakes []error
	for _, f := range p.fields {
		if f.check != nil {
			if err := f.check(); err != nil {
				mistakes = append(mistakes, &engine.FieldError{Field: f.Name, Problem: err.Error()})
				continue
			}
		}
		if text := f.text(); f.differs(text) {
			given[f.Name] = text
		}
	}
	return given, errors.Join(mistakes...)
}

// holds reports whether the fields have the given values, except for those with mistakes.
func (p *parameters) holds(given map[string]string) bool {
	for _, f := range p.fields {
		want, ok := given[f.Name]
		if !ok {
			want = f.Default
		}
		if (f.check == nil || f.check() == nil) && f.value(f.text()) != f.value(want) {
			return false
		}
	}
	return true
}

// differs reports whether a text is another value than the default.
func (q *Parameter) differs(text string) bool { return q.value(text) != q.value(q.Default) }

// value parses a text.
func (q *Parameter) value(text string) any {
	switch q.Kind {
	case Number, Whole:
		text = strings.TrimSpace(text)
		if text == "" {
			text = q.Default
		}
		if i, err := strconv.ParseInt(text, 10, 64); err == nil && q.Kind == Whole {
			return i
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	case Switch:
		return on(text)
	case Text, OneOf:
	}
	return text
}

func on(text string) bool {
	b, err := strconv.ParseBool(text)
	return err == nil && b
}

// say shows the allowed values or, for another value than the default, the default.
func (p *parameters) say(given map[string]string) {
	for _, f := range p.fields {
		aside := ""
		if n, ok := f.object.(*form.Number); ok {
			aside = n.Range()
		}
		if _, differs := given[f.Name]; differs && f.Default != "" {
			if aside = "default " + f.Default; p.screen.scenario.Fork != nil {
				aside = "was " + f.Default
			}
		}
		f.row.SetAside(aside)
	}
	if len(given) > 0 || len(p.screen.given.Mistakes()) > 0 {
		p.reset.Show()
	} else {
		p.reset.Hide()
	}
}

// restore restores the defaults.
func (p *parameters) restore() {
	p.screen.filling = true
	for _, f := range p.fields {
		f.put(f.Default)
	}
	p.screen.filling = false
	p.screen.edited()
}
