package results

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/export"
)

// Actions returns the actions on the results, for the menus and shortcuts.
func (s *Screen) Actions() []action.Action {
	return append(
		export.Actions(s.exportAs, s.exportable),
		action.Press(s.audit, action.Action{Name: "Audit", Menu: "Run", Sub: "Selected run", Key: fyne.KeyA, Modifier: action.Command | fyne.KeyModifierShift}),
		action.Press(s.replay, action.Action{Name: "History", Menu: "Run", Sub: "Selected run", Key: fyne.KeyH, Modifier: action.Command | fyne.KeyModifierShift}),
		action.Press(s.ask, action.Action{Name: "Ask agents…", Menu: "Run", Sub: "Selected run"}),
		action.Action{Name: "Compare with real data…", Menu: "Run", Sub: "Selected run", Do: s.compareWithRealData, Enabled: func() bool { return s.run() != nil && s.studies != nil }},
		action.Press(s.compare, action.Action{Name: "Compare…", Menu: "Run", Sub: "Selected run", Key: fyne.KeyC, Modifier: action.Command | fyne.KeyModifierShift}),
		action.Action{Name: "Edit note", Menu: "Run", Sub: "Selected run", Key: fyne.KeyI, Modifier: action.Command, Do: s.page.note.Focus, Enabled: func() bool { return s.run() != nil }},
	)
}

// compareWithRealData shows the tab for real data and asks for a file.
func (s *Screen) compareWithRealData() {
	s.talk.choice.Pick(realDataTab)
	s.talk.real.Choose()
}
