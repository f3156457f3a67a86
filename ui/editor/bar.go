package editor

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
)

// bar is the toolbar.
type bar struct {
	screen                           *Screen
	object                           fyne.CanvasObject
	back, find, revert, save, saveAs *widget.Button
}

func newBar(s *Screen) *bar {
	b := &bar{screen: s}
	low := func(text string, icon fyne.Resource, do func()) *widget.Button {
		button := widget.NewButtonWithIcon(text, icon, do)
		button.Importance = widget.LowImportance
		return button
	}
	b.back = low("Setup", theme.NavigateBackIcon(), s.leaveScreen)
	b.find = low("Find", theme.SearchIcon(), func() { s.find.open() })
	b.revert = low("Revert", theme.ContentUndoIcon(), s.revert)
	b.saveAs = widget.NewButtonWithIcon("Save as…", theme.FolderOpenIcon(), func() { s.saveAs(nil) })
	b.save = widget.NewButtonWithIcon("Save", theme.DocumentSaveIcon(), s.Save)
	b.object = container.NewCenter(container.NewHBox(b.back, b.find, b.revert, b.saveAs, b.save))
	return b
}

// follow enables the buttons for what is possible now.
func (b *bar) follow() {
	able := func(button *widget.Button, can bool) {
		if can == !button.Disabled() {
			return
		}
		if can {
			button.Enable()
		} else {
			button.Disable()
		}
	}
	s := b.screen
	open := s.doc != nil
	edited := open && s.Edited()
	able(b.find, open)
	able(b.revert, edited)
	able(b.saveAs, open)
	able(b.save, s.unsaved())
	importance := widget.MediumImportance
	if s.unsaved() {
		importance = widget.HighImportance
	}
	if b.save.Importance != importance {
		b.save.Importance = importance
		b.save.Refresh()
	}
}

// notice is a line above the text that asks a question without blocking the editor.
type notice struct {
	object  *fyne.Container
	text    *form.Note
	buttons *fyne.Container
	resized func()
}

func newNotice(resized func()) *notice {
	n := &notice{text: form.NewNote(""), buttons: container.NewHBox(), resized: resized}
	n.text.TextSize = theme.SizeNameText
	n.object = container.NewBorder(nil, nil, nil, n.buttons, form.NewStack(n.text))
	n.object.Hide()
	return n
}

// ask shows a question with answers; choosing an answer hides it.
func (n *notice) ask(text string, answers ...option) {
	n.text.SetWarning(text)
	n.buttons.Objects = nil
	for _, a := range answers {
		n.buttons.Add(widget.NewButton(a.text, func() {
			n.hide()
			if a.do != nil {
				a.do()
			}
		}))
	}
	n.object.Show()
	n.object.Refresh()
	n.resized()
}

// option is an answer: its button's text, and its action, which may be nil.
type option struct {
	text string
	do   func()
}

func (n *notice) hide() {
	if n.object.Visible() {
		n.object.Hide()
		n.resized()
	}
}

// part is a view of the side panel.
type part struct {
	title  string
	object fyne.CanvasObject
}

// side shows one of several parts, chosen by buttons.
type side struct {
	object  fyne.CanvasObject
	parts   []part
	buttons []*widget.Button
	row     *fyne.Container // the buttons
	page    *fyne.Container
	chosen  int
	changed func()
}

func newSide(parts []part, changed func()) *side {
	s := &side{parts: parts, changed: func() {}, row: container.NewHBox(), page: container.NewStack()}
	for i, p := range parts {
		b := widget.NewButton(p.title, func() { s.choose(i) })
		s.buttons = append(s.buttons, b)
		s.row.Add(b)
	}
	s.object = container.NewBorder(s.row, nil, nil, nil, s.page)
	s.choose(0)
	s.changed = changed
	return s
}

// shows reports whether a part is visible.
func (s *side) shows(i int) bool { return s.chosen == i }

func (s *side) choose(i int) {
	s.chosen = i
	for k, b := range s.buttons {
		if b.Importance = widget.LowImportance; k == i {
			b.Importance = widget.HighImportance
		}
		b.Refresh()
	}
	s.page.Objects = []fyne.CanvasObject{s.parts[i].object}
	s.page.Refresh()
	s.changed()
}

// name changes the title of a part.
func (s *side) name(i int, title string) {
	if s.buttons[i].Text != title {
		s.buttons[i].SetText(title)
		s.row.Refresh()
	}
}

// The parts of the side panel.
const (
	trialPart = iota
	problemsPart
	helpPart
)
