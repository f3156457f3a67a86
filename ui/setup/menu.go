package setup

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/action"
)

// Actions returns the actions on the form, for the menus and shortcuts.
func (s *Screen) Actions() []action.Action {
	const ctrl, shift = action.Command, action.Command | fyne.KeyModifierShift
	shown := func() bool { return s.visible && s.scenario != nil }
	return []action.Action{
		{Name: "Undo", Menu: "Edit", Key: fyne.KeyZ, Modifier: ctrl, Do: s.edits.undo, Enabled: func() bool { return shown() && len(s.edits.past) > 0 }},
		{Name: "Redo", Menu: "Edit", Key: action.RedoKey.Key, Modifier: action.RedoKey.Modifier, Do: s.edits.redo, Enabled: func() bool { return shown() && len(s.edits.future) > 0 }},
		{Name: "Launch", Menu: "Run", Key: fyne.KeyReturn, Modifier: ctrl, Do: s.launch, Enabled: func() bool { return s.visible && !s.bar.launch.Disabled() }},
		action.Press(s.bar.mistakes, action.Action{Name: "Go to the first mistake", Menu: "View", Key: fyne.KeyJ, Modifier: shift}),
		action.Press(s.bar.missing, action.Action{Name: "Go to the missing secret", Menu: "View", Key: fyne.KeyY, Modifier: shift}),
		{Name: "Change a secret or password", Menu: "View", Do: s.services.change, Enabled: func() bool { return shown() && s.services.haveSecrets() }},
		action.Press(s.head.again, action.Action{Name: "Reload", Menu: "File", Key: fyne.KeyR, Modifier: ctrl}),
		action.Press(s.head.leave, action.Action{Name: "From the beginning instead", Menu: "Run", Key: fyne.KeyB, Modifier: shift}),
		action.Press(s.parameters.reset, action.Action{Name: "Reset parameters to defaults", Menu: "Run", Key: fyne.KeyR, Modifier: shift}),
		{Name: "Add or remove favorite", Menu: "File", Do: func() { s.gallery.star(s.gallery.chosen) }, Enabled: func() bool { return s.gallery.find(s.gallery.chosen) != nil }},
		{Name: "Another seed", Menu: "Run", Key: fyne.KeyN, Modifier: shift, Do: s.length.roll, Enabled: func() bool { return s.scenario != nil }},
	}
}
