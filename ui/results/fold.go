package results

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// fold is a part of the page that opens and closes. It is closed at first.
type fold struct {
	content *fyne.Container
	button  *widget.Button
	about   *form.Note // next to the title
	inner   fyne.CanvasObject
}

func newFold(title string, about *form.Note, inner fyne.CanvasObject) *fold {
	f := &fold{about: about, inner: inner}
	f.button = widget.NewButtonWithIcon(title, theme.MenuExpandIcon(), f.turn)
	f.button.Importance, f.button.Alignment = widget.LowImportance, widget.ButtonAlignLeading
	inner.Hide()
	var head fyne.CanvasObject = container.NewHBox(f.button)
	if about != nil {
		head = container.NewBorder(nil, nil, f.button, nil, about)
	}
	f.content = form.NewPanels(widgets.NewPanel("", head), inner)
	return f
}

// turn opens or closes the fold.
func (f *fold) turn() {
	if f.inner.Visible() {
		f.inner.Hide()
		f.button.SetIcon(theme.MenuExpandIcon())
	} else {
		f.inner.Show()
		f.button.SetIcon(theme.MenuDropDownIcon())
	}
	f.content.Refresh()
}
