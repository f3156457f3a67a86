package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
)

// none is shown before the first run.
type none struct {
	text       *widget.Label
	open       *widget.Button
	experiment func() string // title of the experiment that this window executes; "" if none; may be nil
	content    fyne.CanvasObject
}

const noRun = "No run is in progress. Launch one in Setup, or resume one in Runs."

func newNone() *none {
	n := &none{text: widget.NewLabel(noRun), open: widget.NewButton("Open Experiments", nil)}
	n.text.Alignment, n.text.Wrapping = fyne.TextAlignCenter, fyne.TextWrapWord
	n.open.Hide()
	n.content = container.NewVBox(layout.NewSpacer(), n.text, container.NewCenter(n.open), layout.NewSpacer())
	return n
}

// draw says what is in progress.
func (n *none) draw() {
	text, title := noRun, ""
	if n.experiment != nil {
		title = n.experiment()
	}
	if title != "" {
		text = "The experiment “" + title + "” is in progress. Its runs are in Experiments."
	}
	if n.text.Text != text {
		n.text.SetText(text)
	}
	if n.open.Visible() != (title != "") {
		see(n.open, title != "")
		n.content.Refresh()
	}
}

// Experiments sets where the screen learns the title of the experiment that this window executes, "" if none, and how to open it.
func (s *Screen) Experiments(title func() string, open func()) {
	s.none.experiment, s.none.open.OnTapped = title, open
}
