package experiments

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// empty is shown while there are no experiments.
type empty struct {
	open, create *widget.Button
	content      *fyne.Container
}

const about = "An experiment runs a scenario many times: at every combination of values that you choose, and with several seeds. " +
	"It shows which differences are real, and how sure that is. It is a file whose name ends in " + Extension + "."

func newEmpty(a *adder) *empty {
	title := widget.NewLabelWithStyle("No experiments yet", fyne.TextAlignCenter, fyne.TextStyle{Bold: true})
	title.SizeName = theme.SizeNameSubHeadingText
	text := widget.NewLabel(about)
	text.Alignment, text.Wrapping = fyne.TextAlignCenter, fyne.TextWrapWord
	e := &empty{
		open:   widget.NewButtonWithIcon("Open file…", theme.FolderOpenIcon(), a.open),
		create: widget.NewButtonWithIcon("New experiment…", theme.DocumentCreateIcon(), a.create),
	}
	e.create.Importance = widget.HighImportance
	buttons := container.NewCenter(container.NewHBox(e.create, e.open))
	e.content = container.NewVBox(layout.NewSpacer(), title, text, buttons, layout.NewSpacer())
	e.content.Hide()
	return e
}

// faults lists the mistakes of a file.
type faults struct {
	list    *fyne.Container
	edit    *widget.Button
	content fyne.CanvasObject
}

func newFaults(edit, again func()) *faults {
	f := &faults{list: form.NewPanels(), edit: widget.NewButtonWithIcon("Open as text", theme.DocumentIcon(), edit)}
	buttons := container.NewHBox(f.edit, widget.NewButtonWithIcon("Check again", theme.ViewRefreshIcon(), again))
	f.content = container.NewVScroll(widgets.NewPanel("Mistakes in the file", form.NewStack(f.list, buttons)))
	f.content.Hide()
	return f
}

func (f *faults) show(all []view.Problem) {
	f.list.RemoveAll()
	for _, p := range all {
		n := form.NewNote("")
		text := place(p)
		if isMistake(p) {
			n.SetProblem(text)
		} else {
			n.SetWarning(text)
		}
		f.list.Add(n)
	}
	f.content.Refresh()
}

// place returns a problem with its place in the file.
func place(p view.Problem) string {
	if p.Line == 0 {
		return p.String()
	}
	return fmt.Sprintf("Line %d, column %d: %s", p.Line, p.Col, p)
}

// located returns the first mistake with its place.
func located(all []view.Problem) string {
	for _, p := range all {
		if isMistake(p) {
			return place(p)
		}
	}
	return ""
}

func isMistake(p view.Problem) bool { return !p.Warning }
