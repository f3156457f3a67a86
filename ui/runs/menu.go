package runs

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/action"
)

// Actions returns the actions on runs, for the menus and shortcuts.
func (s *Screen) Actions() []action.Action {
	const ctrl, shift = action.Command, action.Command | fyne.KeyModifierShift
	d := s.detail
	return []action.Action{
		action.Press(d.resume, action.Action{Name: "Resume run", Menu: "Run", Key: fyne.KeyReturn, Modifier: shift}),
		action.Press(d.fork, action.Action{Name: "Fork…", Menu: "Run", Key: fyne.KeyF9}),
		action.Press(d.results, action.Action{Name: "Show results", Menu: "Run", Key: fyne.KeyL, Modifier: ctrl}),
		action.Press(d.compare, action.Action{Name: "Compare…", Menu: "Run", Key: fyne.KeyC, Modifier: shift}),
		action.Press(d.export, action.Action{Name: "Export CSV…", Menu: "File", Key: fyne.KeyE, Modifier: ctrl}),
		action.Press(d.send, action.Action{Name: "Send to Postgres", Menu: "File", Key: fyne.KeyU, Modifier: ctrl}),
		action.Press(s.remote, action.Action{Name: "From Postgres…", Menu: "File", Key: fyne.KeyU, Modifier: shift}),
		action.Press(d.remove, action.Action{Name: "Delete run…", Menu: "File", Key: fyne.KeyD, Modifier: ctrl}),
		action.Press(d.removePoint, action.Action{Name: "Delete checkpoint", Menu: "File", Key: fyne.KeyD, Modifier: shift}),
		{Name: "Clean up…", Menu: "File", Key: fyne.KeyK, Modifier: shift, Do: s.CleanUp},
		action.Press(d.replay, action.Action{Name: "History", Menu: "Run", Key: fyne.KeyH, Modifier: shift}),
		{Name: "Undo deletion", Menu: "File", Key: fyne.KeyZ, Modifier: ctrl, Do: s.Undo, Enabled: func() bool { return s.visible && len(s.undo.past) > 0 }},
		action.Press(s.trash, action.Action{Name: "Trash…", Menu: "File", Key: fyne.KeyZ, Modifier: shift}),
		{Name: "Edit note", Menu: "Run", Key: fyne.KeyI, Modifier: ctrl, Do: d.note.Focus, Enabled: func() bool { return s.run() != nil }},
	}
}
