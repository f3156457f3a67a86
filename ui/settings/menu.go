package settings

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/action"
)

// Actions returns the actions on the settings, for the menus and shortcuts.
func (s *Screen) Actions() []action.Action {
	const shift = action.Command | fyne.KeyModifierShift
	d, a := s.database, s.database.authority
	in := func(section string, act action.Action) action.Action {
		do := act.Do
		act.Do = func() {
			s.Open(section)
			do()
		}
		return act
	}
	return []action.Action{
		in(Database, action.Press(d.test, action.Action{Name: "Test database", Menu: "File", Sub: "Database", Key: fyne.KeyT, Modifier: shift})),
		in(Database, action.Press(d.save, action.Action{Name: "Save database", Menu: "File", Sub: "Database", Key: fyne.KeyV, Modifier: shift})),
		in(Database, action.Press(d.forget, action.Action{Name: "Forget database…", Menu: "File", Sub: "Database", Key: fyne.KeyF, Modifier: shift})),
		in(Database, action.Press(a.imports, action.Action{Name: "Import server's CA…", Menu: "File", Sub: "Database", Key: fyne.KeyI, Modifier: shift})),
		in(Database, action.Press(a.removes, action.Action{Name: "Remove server's CA", Menu: "File", Sub: "Database", Key: fyne.KeyX, Modifier: shift})),
		in(Notifications, action.Press(s.notices.test, action.Action{Name: "Send test notification", Menu: "File"})),
		in(Storage, action.Action{Name: "Change data folder…", Menu: "File", Sub: "Data folder", Key: fyne.KeyW, Modifier: shift, Do: s.data.choose}),
		in(Storage, action.Action{Name: "Open data folder", Menu: "File", Sub: "Data folder", Key: fyne.KeyO, Modifier: shift, Do: s.data.open}),
		{Name: "Find…", Menu: "Edit", Key: fyne.KeyF, Modifier: action.Command, Do: s.find},
	}
}
