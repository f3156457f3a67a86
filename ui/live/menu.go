package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/action"
)

// Actions returns the actions on the run, for the menus and shortcuts.
func (s *Screen) Actions() []action.Action {
	const ctrl, shift = action.Command, action.Command | fyne.KeyModifierShift
	o, p, l := s.orders, s.limit, s.history
	can, always := func() bool { return !l.end().IsZero() }, func() bool { return true }
	all := []action.Action{
		action.Press(o.pause, action.Action{Name: "Pause or resume", Menu: "Run", Key: fyne.KeyP, Modifier: ctrl}),
		action.Press(o.checkpoint, action.Action{Name: "Checkpoint now", Menu: "Run", Key: fyne.KeyS, Modifier: shift}),
		action.Press(o.broadcastButton, action.Action{Name: "Broadcast…", Menu: "Run", Key: fyne.KeyT, Modifier: ctrl}),
		action.Press(o.stop, action.Action{Name: "Stop, then cut", Menu: "Run", Key: fyne.KeyPeriod, Modifier: ctrl}),
		action.Press(p.more, action.Action{Name: "Raise the limit", Menu: "Run", Key: fyne.KeyUp, Modifier: ctrl}),
		action.Press(p.less, action.Action{Name: "Lower the limit", Menu: "Run", Key: fyne.KeyDown, Modifier: ctrl}),
		action.Press(p.adjust, action.Action{Name: "Adjust…", Menu: "Run", Key: fyne.KeyJ, Modifier: ctrl}),
		action.Press(o.results, action.Action{Name: "Show results", Menu: "Run", Key: fyne.KeyL, Modifier: ctrl}),
		{Name: "Next view", Menu: "View", Key: fyne.KeyG, Modifier: ctrl, Do: s.views.next, Enabled: always},
		{Name: "Find…", Menu: "View", Key: fyne.KeyF, Modifier: ctrl, Do: s.findAgent, Enabled: always},
		{Name: "Open or leave history", Menu: "Run", Key: fyne.KeyB, Modifier: ctrl, Do: l.enterOrLeave, Enabled: can},
		{Name: "Play or stop", Menu: "Run", Key: fyne.KeyP, Modifier: shift, Do: l.playOrStop, Enabled: can},
		{Name: "Previous cycle", Menu: "Run", Key: fyne.KeyLeftBracket, Modifier: ctrl, Do: func() { l.page(-1) }, Enabled: can},
		{Name: "Next cycle", Menu: "Run", Key: fyne.KeyRightBracket, Modifier: ctrl, Do: func() { l.page(1) }, Enabled: func() bool { return can() && l.active() }},
		action.Press(o.export, action.Action{Name: "Export CSV…", Menu: "File", Key: fyne.KeyE, Modifier: ctrl}),
		{Name: "Save charts…", Menu: "File", Key: fyne.KeyE, Modifier: shift, Do: o.saveCharts, Enabled: always},
	}
	i := s.agents.inspector
	all = append(
		all,
		s.ofAgent(i.again, "Run agent again", fyne.KeyA),
		s.ofAgent(i.retire, "Retire agent…", fyne.KeyK),
		s.ofAgent(i.message, "Message agent…", fyne.KeyM),
		s.ofAgent(i.watch, "Watch or stop watching agent", fyne.KeyW),
		s.ofAgent(i.copy, "Copy agent as JSON", fyne.KeyJ),
	)
	for i := range all {
		can := all[i].Enabled
		all[i].Enabled = func() bool { return s.job != nil && can() }
	}
	return all
}

// ofAgent presses a button of the inspector, while an agent is open in it.
func (s *Screen) ofAgent(b *widget.Button, name string, key fyne.KeyName) action.Action {
	press := action.Press(b, action.Action{Name: name, Menu: "Agent", Key: key, Modifier: action.Command | fyne.KeyModifierAlt})
	do := press
	press.Enabled = func() bool { return s.agents.inspector.agent != noAgent && do.Enabled() }
	press.Do = func() {
		s.views.reveal("Agents")
		do.Do()
	}
	return press
}

// findAgent shows the agents and focuses the search field.
func (s *Screen) findAgent() {
	s.views.reveal("Agents")
	s.agents.search.focus()
}
