package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Row is a field with its title above, and its help and error below.
type Row struct {
	widget.BaseWidget
	field         fyne.CanvasObject
	marker        marker // shows that the value is wrong; may be nil
	title         *Note
	aside         *widgets.Text
	help, problem *Note

	wrong string // the error of the current value
	told  string // an error from elsewhere, for example a server, until the value changes
}

// NewRow returns a row with a title above a field.
func NewRow(title string, field fyne.CanvasObject) *Row {
	r := &Row{field: field, title: NewNote(title), aside: widgets.NewCaption(""), help: NewNote(""), problem: NewNote("")}
	r.marker, _ = field.(marker)
	r.aside.Hide()
	r.help.Hide()
	r.problem.Hide()
	r.ExtendBaseWidget(r)
	return r
}

// Parts returns the parts of the row.
func (r *Row) Parts() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.title, r.aside, r.field, r.help, r.problem}
}

// Marking sets the entry inside the field that shows that the value is wrong.
func (r *Row) Marking(entry fyne.CanvasObject) *Row {
	r.marker, _ = entry.(marker)
	return r
}

// Focus focuses the entry of the row, if it has one.
func (r *Row) Focus(c fyne.Canvas) {
	if e, ok := r.marker.(fyne.Focusable); ok {
		c.Focus(e)
	}
}

// Title returns the title.
func (r *Row) Title() string { return r.title.Text() }

// SetTitle sets the title.
func (r *Row) SetTitle(title string) { r.title.SetText(title) }

// SetHelp sets the help; "" removes it. A problem is shown in its place.
func (r *Row) SetHelp(text string) {
	r.help.SetText(text)
	show(r.help, text != "" && r.Problem() == "")
}

// SetAside sets a short text at the right of the title.
func (r *Row) SetAside(text string) {
	r.aside.SetText(text)
	show(r.aside, text != "")
}

// Problem returns the shown error; "" if none.
func (r *Row) Problem() string {
	if r.wrong != "" {
		return r.wrong
	}
	return r.told
}

// Changed clears the error from elsewhere after a change of the value.
func (r *Row) Changed() { r.set(r.wrong, "") }

func (r *Row) set(wrong, told string) {
	r.wrong, r.told = wrong, told
	text := r.Problem()
	r.problem.SetProblem(text)
	show(r.problem, text != "")
	show(r.help, text == "" && r.help.Text() != "")
	if r.marker != nil {
		r.marker.mark(text)
	}
}

// marker is a field that can show that it is wrong.
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
	return widgets.NewRenderer(r, NewStack(newHeadline(r.title, r.aside), r.field, container.New(footnote{}, r.help, r.problem)))
}

// footnote shows the help or, in its place, the problem. It keeps the height of the help, at least one line, so that a problem moves
// nothing below it.
type footnote struct{}

// Layout implements [fyne.Layout].
func (footnote) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Move(fyne.Position{})
		Fit(o, size.Width)
	}
}

// MinSize implements [fyne.Layout]. The height is for the width of the last layout.
func (footnote) MinSize(objects []fyne.CanvasObject) (size fyne.Size) {
	size.Height = fyne.MeasureText("M", theme.CaptionTextSize(), fyne.TextStyle{}).Height
	for _, o := range objects {
		if n := o.(*Note); n.Text() != "" {
			least := n.MinSize()
			size = fyne.NewSize(max(size.Width, least.Width), max(size.Height, least.Height))
		}
	}
	return size
}
