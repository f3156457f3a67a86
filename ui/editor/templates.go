package editor

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// New asks what a new scenario begins with, and opens it. show is called before, to show the editor.
func (s *Screen) New(show func()) {
	async.Work(func() ([]Template, error) { return s.desk.Templates(context.Background()) }, func(all []Template, err error) {
		if err != nil {
			s.failed("Cannot read the templates", err)
			return
		}
		var ask *dialog.CustomDialog
		backend := s.importing(func() { ask.Hide() })
		content := templateList(all, func(name string) {
			ask.Hide()
			s.leave("create a scenario", func() {
				show()
				s.load(name, func() {})
			})
		}, backend)
		size := s.win.Canvas().Size()
		width := min(templateEms*theme.TextSize(), size.Width*0.8)
		content.Resize(fyne.NewSize(width, 0)) // the height of its notes depends on the width
		height := min(content.MinSize().Height, size.Height*0.7)
		ask = dialog.NewCustom("New scenario", "Cancel", container.NewGridWrap(fyne.NewSize(width, height), container.NewVScroll(content)), s.win)
		widgets.Ask(s.win, ask, backend)
	})
}

// templateEms is the width of the list of templates, in text heights.
const templateEms = 38

// importing returns what closes the list of templates and makes a scenario of the user's own backend; nil if that is not possible.
func (s *Screen) importing(hide func()) func() {
	if s.ways.Import == nil {
		return nil
	}
	return func() {
		hide()
		s.leave("create a scenario", s.ways.Import)
	}
}

// templateList returns a button for the user's own backend, unless that is nil, and one for each template, with its description.
func templateList(all []Template, choose func(name string), backend func()) fyne.CanvasObject {
	list := form.NewStack()
	if backend != nil {
		b := widget.NewButtonWithIcon("From your backend…", theme.ComputerIcon(), backend)
		b.Alignment, b.Importance = widget.ButtonAlignLeading, widget.HighImportance
		list.Add(b)
		list.Add(form.NewNote("From its address, an OpenAPI document, a HAR file, curl commands, a Postman collection or a recorded visit."))
	}
	for _, t := range all {
		b := widget.NewButtonWithIcon(t.Title, theme.FileTextIcon(), func() { choose(t.Name) })
		b.Alignment = widget.ButtonAlignLeading
		list.Add(b)
		list.Add(form.NewNote(t.About))
	}
	list.Add(form.NewNote("The examples run on the mocks as they are. Nothing is written until you save it."))
	pad := theme.Padding()
	return container.New(layout.NewCustomPaddedLayout(pad, pad, pad, 3*pad), list) // the scroll bar is at the right
}
