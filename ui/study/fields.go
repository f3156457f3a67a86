package study

import (
	"fmt"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// fields are the fields of a survey.
type fields struct {
	scroll  *container.Scroll
	subject *survey.Subject
	changed func()
	filling bool // the program sets the fields

	title    *form.Entry
	moment   *widget.Select
	model    *widget.Select
	filter   *form.Entry
	segments *form.Entry
	separate *widget.Check
	system   string // who answers, of a file; "" describes the agent
	who      *form.Note

	list      *fyne.Container
	questions []*question
}

// fieldEms is the minimum width of a field, in text heights.
const fieldEms = 24

func newFields(s *survey.Subject, changed func()) *fields {
	f := &fields{subject: s, title: form.NewEntry(), filter: form.NewEntry(), segments: form.NewEntry(), who: form.NewNote(""), list: form.NewPanels()}
	f.changed = func() {
		if !f.filling {
			changed()
		}
	}
	typed := func(string) { f.changed() }
	var moments []string
	for i, m := range s.Moments {
		moments = append(moments, momentText(i, m))
	}
	f.moment, f.model = widget.NewSelect(moments, typed), widget.NewSelect(s.Models, typed)
	f.moment.Selected = moments[0]
	f.separate = widget.NewCheck("Ask each question in a call of its own", func(bool) { f.changed() })
	f.title.SetPlaceHolder("Survey")
	f.filter.SetPlaceHolder("all agents")
	f.segments.SetPlaceHolder("none")
	for _, e := range []*form.Entry{f.title, f.filter, f.segments} {
		e.OnChanged = typed
	}
	row := func(title, help string, o fyne.CanvasObject) *form.Row {
		r := form.NewRow(title, o)
		r.SetHelp(help)
		return r
	}
	known := strings.Join(s.Attributes, ", ")
	rows := []fyne.CanvasObject{
		row("Title", "Names the survey in the list of runs", f.title),
		row("Moment", "Agents answer with the memory that they had then", form.NewFrame(widgets.NewWhole(f.moment))),
		row("Agents", `An expression, such as agent.age > 30 and agent.region == "north"`, f.filter),
		row("Count answers by", "Attributes, separated by commas: "+known, f.segments),
	}
	if len(s.Models) > 1 {
		rows = append(rows, row("Model", "Service that answers", form.NewFrame(f.model)))
		f.model.Selected = s.Models[0]
	}
	add := widget.NewButtonWithIcon("Add question", theme.ContentAddIcon(), func() {
		f.add(&survey.Question{Name: f.free(), Kind: survey.Choice})
		f.changed()
	})
	f.scroll = container.NewVScroll(form.NewPanels(f.list, container.NewHBox(add, f.separate), f.who, widgets.NewPanel("Agents of "+s.Title, form.NewColumns(fieldEms, rows...))))
	return f
}

// momentText describes a moment; the first is the newest.
func momentText(i int, m survey.Moment) string {
	text := view.After(m.Cycle)
	if !m.At.IsZero() {
		text += m.At.UTC().Format(", Mon 2 Jan 2006 15:04")
	}
	if i == 0 {
		text = "newest: " + text
	}
	return text
}

// cycle returns the chosen moment.
func (f *fields) cycle() int { return f.subject.Moments[max(f.moment.SelectedIndex(), 0)].Cycle }

// set fills in a survey.
func (f *fields) set(s *survey.Survey) {
	f.filling = true
	defer func() { f.filling = false }()
	f.title.SetText(s.Title)
	f.segments.SetText(strings.Join(s.Segments, ", "))
	f.separate.SetChecked(s.Separate)
	if s.Service != "" {
		f.model.Selected = s.Service
		f.model.Refresh()
	}
	f.system = s.System
	f.who.SetText("The file says who answers: " + s.System)
	f.who.Hidden = s.System == ""
	f.questions, f.list.Objects = nil, nil
	for i := range s.Questions {
		f.add(&s.Questions[i])
	}
}

// survey returns what the fields say.
func (f *fields) survey() *survey.Survey {
	s := &survey.Survey{Title: strings.Join(strings.Fields(f.title.Text), " "), System: f.system, Separate: f.separate.Checked, Segments: split(f.segments.Text, ",")}
	if len(f.subject.Models) > 1 {
		s.Service = f.model.Selected
	}
	for _, q := range f.questions {
		s.Questions = append(s.Questions, q.question())
	}
	return s
}

// empty says which field must be filled in first; "" if none.
func (f *fields) empty() string {
	for _, q := range f.questions {
		switch {
		case strings.TrimSpace(q.ask.Text) == "":
			return "Type each question as you would ask a person."
		case kinds[q.kind.SelectedIndex()] == survey.Choice && len(optionsOf(q.options.Text)) < 2:
			return "A choice needs its options, separated by commas or semicolons."
		}
	}
	return ""
}

// free returns a name that no question has.
func (f *fields) free() string {
	for i := len(f.questions) + 1; ; i++ {
		name := fmt.Sprintf("question_%d", i)
		taken := false
		for _, q := range f.questions {
			taken = taken || q.name.Text == name
		}
		if !taken {
			return name
		}
	}
}

// add adds a question.
func (f *fields) add(q *survey.Question) {
	one := newQuestion(q, f.changed)
	one.remove.OnTapped = func() { f.drop(one) }
	f.questions = append(f.questions, one)
	f.list.Add(one.content)
	f.follow()
}

// drop removes a question.
func (f *fields) drop(q *question) {
	for i := range f.questions {
		if f.questions[i] == q {
			f.questions = append(f.questions[:i], f.questions[i+1:]...)
			break
		}
	}
	f.list.Remove(q.content)
	f.follow()
	f.changed()
}

// follow lets all questions be removed but the last.
func (f *fields) follow() {
	for _, q := range f.questions {
		enable(q.remove, len(f.questions) > 1)
	}
}

// optionsText lists options, separated by semicolons if one has a comma.
func optionsText(all []string) string {
	separator := ", "
	for _, o := range all {
		if strings.Contains(o, ",") {
			separator = "; "
		}
	}
	return strings.Join(all, separator)
}

// optionsOf splits a list of options at its semicolons or, if it has none, at its commas.
func optionsOf(text string) []string {
	if strings.Contains(text, ";") {
		return split(text, ";")
	}
	return split(text, ",")
}

// kinds are the kinds of answers in the order of the selection.
var kinds = []survey.Kind{survey.Choice, survey.Scale, survey.Number, survey.Text}

// kindNames are their names.
var kindNames = []string{"Choice", "Scale", "Number", "Text"}

// question are the fields of a question.
type question struct {
	content *widgets.Panel
	ask     *form.Entry
	name    *form.Entry
	kind    *widget.Select
	options *form.Entry // of a choice
	low     *form.Entry // of a scale
	high    *form.Entry
	remove  *widget.Button
	choice  *fyne.Container
	scale   *fyne.Container
}

func newQuestion(of *survey.Question, changed func()) *question {
	q := &question{ask: form.NewText(), name: form.NewEntry(), options: form.NewEntry(), low: form.NewEntry(), high: form.NewEntry()}
	q.ask.SetMinRowsVisible(2)
	q.remove = widget.NewButtonWithIcon("", theme.DeleteIcon(), nil)
	q.remove.Importance = widget.LowImportance
	q.kind = widget.NewSelect(kindNames, nil)
	for i, k := range kinds {
		if k == of.Kind {
			q.kind.Selected = kindNames[i]
		}
	}
	q.ask.SetPlaceHolder("Would you buy it?")
	q.options.SetPlaceHolder("yes, no, unsure")
	low, high := 1, 5
	if of.Kind == survey.Scale {
		low, high = of.Low, of.High
	}
	q.ask.SetText(of.Ask)
	q.name.SetText(of.Name)
	q.options.SetText(optionsText(of.Options))
	q.low.SetText(strconv.Itoa(low))
	q.high.SetText(strconv.Itoa(high))
	for _, e := range []*form.Entry{q.ask, q.name, q.options, q.low, q.high} {
		e.OnChanged = func(string) { changed() }
	}
	q.choice = container.NewBorder(nil, nil, container.NewCenter(widgets.NewCaption("Options")), nil, q.options)
	q.scale = container.NewHBox(container.NewCenter(widgets.NewCaption("From")), form.NewSized("-1000", q.low), container.NewCenter(widgets.NewCaption("to")), form.NewSized("-1000", q.high))
	q.kind.OnChanged = func(string) {
		q.follow()
		changed()
	}
	name := container.NewBorder(nil, nil, container.NewCenter(widgets.NewCaption("Name")), nil, form.NewSized("a_long_question", q.name))
	kind := container.NewBorder(nil, nil, container.NewCenter(widgets.NewCaption("Answer")), nil, form.NewFrame(q.kind))
	line := container.NewBorder(nil, nil, container.NewHBox(name, kind), q.remove, container.NewStack(q.choice, q.scale))
	q.content = widgets.NewPanel("", form.NewStack(q.ask, line))
	q.follow()
	return q
}

// follow shows the fields of the kind.
func (q *question) follow() {
	kind := kinds[q.kind.SelectedIndex()]
	q.choice.Hidden, q.scale.Hidden = kind != survey.Choice, kind != survey.Scale
	q.content.Refresh()
}

// question returns what the fields say.
func (q *question) question() survey.Question {
	of := survey.Question{Name: strings.TrimSpace(q.name.Text), Ask: strings.TrimSpace(q.ask.Text), Kind: kinds[q.kind.SelectedIndex()]}
	switch of.Kind {
	case survey.Choice:
		of.Options = optionsOf(q.options.Text)
	case survey.Scale:
		of.Low, _ = strconv.Atoi(strings.TrimSpace(q.low.Text)) // a scale without steps is reported
		of.High, _ = strconv.Atoi(strings.TrimSpace(q.high.Text))
	case survey.Number, survey.Text:
	}
	return of
}
