package compare

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// empty is shown while there is nothing to compare.
type empty struct {
	content     *fyne.Container
	title, text *widget.Label
	launch      *widget.Button
	setup       func()
}

func newEmpty() *empty {
	e := &empty{text: widget.NewLabel(""), title: widget.NewLabelWithStyle("", fyne.TextAlignCenter, fyne.TextStyle{Bold: true})}
	e.title.SizeName = theme.SizeNameSubHeadingText
	e.text.Alignment, e.text.Wrapping = fyne.TextAlignCenter, fyne.TextWrapWord
	e.launch = &widget.Button{Text: "Open Setup", Icon: theme.MediaPlayIcon(), Importance: widget.HighImportance, OnTapped: func() { e.setup() }}
	e.launch.Hide()
	e.content = container.NewVBox(layout.NewSpacer(), e.title, e.text, container.NewCenter(e.launch), layout.NewSpacer())
	e.content.Hide()
	return e
}

func (e *empty) lead(setup func()) { e.setup, e.launch.Hidden = setup, setup == nil }

// say shows what is missing; "" hides it.
func (e *empty) say(title, text string) {
	e.title.SetText(title)
	e.text.SetText(text)
	e.content.Hidden = title == ""
}
