package setup

import (
	"maps"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
)

// Editing opens the editor. Functions may be nil; their buttons are then hidden.
type Editing struct {
	New  func() // asks what a new scenario begins with
	Edit func(name string)
	Try  func(name string) // runs one agent
	Keep func(o Order)     // writes the values of the form into the scenario's file
}

// SetEditing sets how scenarios are edited. Call it before the screen is shown.
func (s *Screen) SetEditing(e Editing) {
	s.editing = e
	s.head.edit.ways = e
	s.gallery.create(e.New)
	s.gallery.edit = e.Edit
}

// OrderOf returns the parameters and settings of a scenario; ok is false if the form shows another scenario or has mistakes.
func (s *Screen) OrderOf(name string) (given map[string]string, settings *engine.Settings, ok bool) {
	if s.scenario == nil || s.shown != (subject{scenario: name}) || len(s.mistakes()) > 0 {
		return nil, nil, false
	}
	o, _, _ := s.order()
	return o.Given, &o.Settings, true
}

// editing are the buttons that open the editor.
type editing struct {
	object *fyne.Container
	ways   Editing
	name   string
}

func newEditing() *editing {
	e := &editing{}
	button := func(text string, icon fyne.Resource, do func()) fyne.CanvasObject {
		b := widget.NewButtonWithIcon(text, icon, do)
		b.Alignment = widget.ButtonAlignLeading
		return b
	}
	e.object = container.NewVBox(
		button("Edit scenario…", theme.DocumentCreateIcon(), func() { e.ways.Edit(e.name) }),
		button("Try one agent…", theme.AccountIcon(), func() { e.ways.Try(e.name) }),
	)
	e.object.Hide()
	return e
}

// of offers to edit a scenario; a fork's is kept with its parent and cannot be.
func (e *editing) of(x subject) {
	e.name = x.scenario
	e.object.Hidden = x.isFork() || e.ways.Edit == nil || e.ways.Try == nil
	e.object.Refresh()
}

// offerKeep offers to save the form's parameters, length and addresses in the file, if they differ from it.
func (s *Screen) offerKeep(o Order) {
	as := s.scenario.Settings
	differs := len(o.Given) > 0 || o.Settings.Cycles > 0 && o.Settings.Cycles != as.Cycles || !maps.Equal(o.Settings.Services, as.Services)
	if hidden := !differs || s.editing.Keep == nil || s.scenario.Fork != nil; hidden != s.parameters.keep.Hidden {
		s.parameters.keep.Hidden = hidden
		s.parameters.panel.Refresh()
	}
}

// newKeep returns the button that saves the form's values in the file.
func newKeep(s *Screen) *widget.Button {
	b := widget.NewButtonWithIcon("Save to file…", theme.DocumentSaveIcon(), func() {
		o, _, _ := s.order()
		if o.Settings.Cycles == s.scenario.Settings.Cycles {
			o.Settings.Cycles = 0 // the length is unchanged
		}
		s.editing.Keep(o)
	})
	b.Importance = widget.LowImportance
	b.Hide()
	return b
}
