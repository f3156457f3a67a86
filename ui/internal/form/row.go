package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Row is a field with its title above and its help and what is wrong with it below.
type Row struct {
	widget.BaseWidget
	field         fyne.CanvasObject
	marker        marker // shows that the value is wrong; nil where nothing does
	title         *Note
	aside         *widgets.Text
	help, problem *Note

	wrong string // what is wrong with the value as it is
	told  string // what somebody who was asked found, until the value changes
}

// NewRow puts a title above a field.
func NewRow(title string, field fyne.CanvasObject) *Row {
	r := &Row{field: field, title: NewNote(title), aside: widgets.NewCaption(""), help: NewNote(""), problem: NewNote("")}
	r.marker, _ = field.(marker)
	r.aside.Hide()
	r.help.Hide()
	r.problem.Hide()
	r.ExtendBaseWidget(r)
	return r
}

// Parts is what the row is made of.
func (r *Row) Parts() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.title, r.aside, r.field, r.help, r.problem}
}

// Marking names the entry inside the field that shows that the value is wrong.
func (r *Row) Marking(entry fyne.CanvasObject) *Row {
	r.marker, _ = entry.(marker)
	return r
}

// Focus gives the keyboard to the entry of the row, if it has one.
func (r *Row) Focus(c fyne.Canvas) {
	if e, ok := r.marker.(fyne.Focusable); ok {
		c.Focus(e)
	}
}

// Title returns what stands above the field.
func (r *Row) Title() string { return r.title.Text() }

// SetTitle puts another title above the field.
func (r *Row) SetTitle(title string) { r.title.SetText(title) }

// SetHelp says what the field is for; "" nothing.
func (r *Row) SetHelp(text string) {
	r.help.SetText(text)
	show(r.help, text != "")
}

// SetAside says something short beside the title, at the right.
func (r *Row) SetAside(text string) {
	r.aside.SetText(text)
	show(r.aside, text != "")
}

// Problem returns what is shown as wrong; "" nothing.
func (r *Row) Problem() string {
	if r.wrong != "" {
		return r.wrong
	}
	return r.told
}

// Changed forgets what somebody found wrong with the value before.
func (r *Row) Changed() { r.set(r.wrong, "") }

func (r *Row) set(wrong, told string) {
	r.wrong, r.told = wrong, told
	text := r.Problem()
	r.problem.SetProblem(text)
	show(r.problem, text != "")
	if r.marker != nil {
		r.marker.mark(text)
	}
}

// marker is a field that shows that it is wrong.
type marker interface{ mark(problem string) }

func show(o fyne.CanvasObject, visible bool) {
	switch {
	case visible && !o.Visible():
		o.Show()
	case !visible && o.Visible():
		o.Hide()
	}
}

// CreateRenderer implements [fyne.Widget].
func (r *Row) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(NewStack(newHeadline(r.title, r.aside), r.field, r.help, r.problem))
}
