package results

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/action"
)

// Actions returns the actions on the results, for the menus and shortcuts.
func (s *Screen) Actions() []action.Action {
	return []action.Action{
		{Name: "Export CSV…", Menu: "File", Sub: "Export", Key: fyne.KeyE, Modifier: action.Command, Do: s.askExport, Enabled: s.exportable},
		{Name: "Export Parquet…", Menu: "File", Sub: "Export", Do: func() { s.askData("parquet", "Parquet") }, Enabled: s.exportable},
		{Name: "Export JSON…", Menu: "File", Sub: "Export", Do: func() { s.askData("jsonl", "JSON") }, Enabled: s.exportable},
		{Name: "Report…", Menu: "File", Sub: "Export", Do: s.askReport, Enabled: s.exportable},
		action.Press(s.audit, action.Action{Name: "Audit", Menu: "Run", Sub: "Selected run", Key: fyne.KeyA, Modifier: action.Command | fyne.KeyModifierShift}),
		action.Press(s.replay, action.Action{Name: "History", Menu: "Run", Sub: "Selected run", Key: fyne.KeyH, Modifier: action.Command | fyne.KeyModifierShift}),
		action.Press(s.compare, action.Action{Name: "Compare…", Menu: "Run", Sub: "Selected run", Key: fyne.KeyC, Modifier: action.Command | fyne.KeyModifierShift}),
		{Name: "Edit note", Menu: "Run", Sub: "Selected run", Key: fyne.KeyI, Modifier: action.Command, Do: s.page.note.Focus, Enabled: func() bool { return s.run() != nil }},
	}
}
