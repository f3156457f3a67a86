package experiments

import "github.com/throng-sim/throng/ui/internal/action"

// Actions returns the actions on experiments, for the menus and shortcuts.
func (s *Screen) Actions() []action.Action {
	const menu, sub = "Run", "Experiment"
	h := s.head
	chosen := func() bool { return s.visible && s.chosen != "" }
	return []action.Action{
		{Name: "New experiment…", Menu: menu, Sub: sub, Do: s.adder.create},
		{Name: "Open an experiment…", Menu: menu, Sub: sub, Do: s.adder.open},
		action.Press(h.run, action.Action{Name: "Run experiment", Menu: menu, Sub: sub}),
		action.Press(h.resume, action.Action{Name: "Continue experiment", Menu: menu, Sub: sub}),
		action.Press(h.pause, action.Action{Name: "Pause experiment", Menu: menu, Sub: sub}),
		action.Press(h.stop, action.Action{Name: "Stop experiment", Menu: menu, Sub: sub}),
		action.Press(h.seeds, action.Action{Name: "More seeds…", Menu: menu, Sub: sub}),
		action.Press(h.report, action.Action{Name: "Report on the experiment…", Menu: menu, Sub: sub}),
		action.Press(h.export, action.Action{Name: "Export the experiment…", Menu: menu, Sub: sub}),
		{Name: "Edit the experiment…", Menu: menu, Sub: sub, Do: s.edit, Enabled: chosen},
		{Name: "Open the experiment's file as text", Menu: menu, Sub: sub, Do: s.asText, Enabled: chosen},
		action.Press(h.forget, action.Action{Name: "Forget the experiment…", Menu: menu, Sub: sub}),
	}
}
