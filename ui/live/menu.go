package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/export"
)

// Actions returns the actions on the run, for the menus and shortcuts.
func (s *Screen) Actions() []action.Action {
	const ctrl, shift = action.Command, action.Command | fyne.KeyModifierShift
	o, p, l := s.orders, s.limit, s.history
	can, always := func() bool { return !l.end().IsZero() }, func() bool { return true }
	all := []action.Action{
		{Name: "Pause or resume", Menu: "Run", Key: fyne.KeyP, Modifier: ctrl, Do: o.pauseOrResume, Enabled: func() bool {
			return enabled(o.pause) || enabled(o.resume)
		}},
		o.checkpoint.action("Checkpoint now", fyne.KeyK, shift),
		o.broadcastMessage.action("Broadcast…", fyne.KeyT, ctrl),
		o.stopRun.action("Stop", fyne.KeyPeriod, ctrl),
		o.forceStop.action("Force stop", fyne.KeyPeriod, shift),
		{Name: "Raise the limit", Menu: "Run", Sub: "Limit", Key: fyne.KeyUp, Modifier: action.LimitKeys, Do: func() { p.step(1) }, Enabled: func() bool { return o.live() }},
		{Name: "Lower the limit", Menu: "Run", Sub: "Limit", Key: fyne.KeyDown, Modifier: action.LimitKeys, Do: func() { p.step(-1) }, Enabled: func() bool { return o.live() }},
		{Name: "Return to automatic", Menu: "Run", Sub: "Limit", Do: func() { p.choose(automaticMode) }, Enabled: func() bool { return enabled(p.back) }},
		{Name: "Undo", Menu: "Edit", Key: fyne.KeyZ, Modifier: ctrl, Do: p.steer.undo, Enabled: p.steer.canUndo},
		o.adjustRun.action("Adjust…", fyne.KeyJ, ctrl),
		{Name: "Ask agents…", Menu: "Run", Sub: "Selected run", Do: o.ask.run, Enabled: func() bool { return o.ask.can() }},
		{Name: "Run details…", Menu: "Run", Do: o.showDetails, Enabled: always},
		action.Press(o.results, action.Action{Name: "Show results", Menu: "Run", Key: fyne.KeyL, Modifier: ctrl}),
		{Name: "Next tab", Menu: "View", Key: fyne.KeyG, Modifier: ctrl, Do: s.tabs.next, Enabled: always},
		{Name: "Find…", Menu: "Edit", Key: fyne.KeyF, Modifier: ctrl, Do: s.findAgent, Enabled: always},
		{Name: "Open or leave history", Menu: "Run", Sub: "History", Key: fyne.KeyB, Modifier: ctrl, Do: l.enterOrLeave, Enabled: can},
		{Name: "Play or stop", Menu: "Run", Sub: "History", Key: fyne.KeyP, Modifier: shift, Do: l.playOrStop, Enabled: can},
		{Name: "Previous cycle", Menu: "Run", Sub: "History", Key: fyne.KeyLeftBracket, Modifier: ctrl, Do: func() { l.page(-1) }, Enabled: can},
		{Name: "Next cycle", Menu: "Run", Sub: "History", Key: fyne.KeyRightBracket, Modifier: ctrl, Do: func() { l.page(1) }, Enabled: func() bool { return can() && l.active() }},
		{Name: "Save charts…", Menu: "File", Sub: "Export", Key: fyne.KeyE, Modifier: shift, Do: o.saveCharts, Enabled: always},
	}
	all = append(all, export.Actions(o.exportAs, o.export.can)...)
	i := s.agents.inspector
	all = append(
		all,
		s.ofAgent(i.again, "Run agent again"),
		s.ofAgent(i.retire, "Retire agent…"),
		s.ofAgent(i.message, "Message agent…"),
		s.ofAgent(i.watch, "Watch or stop watching agent"),
		s.ofAgent(i.copy, "Copy agent as JSON"),
	)
	for i := range all {
		can := all[i].Enabled
		all[i].Enabled = func() bool { return s.job != nil && can() }
	}
	return all
}

// action returns the command for the Run menu.
func (c *command) action(name string, key fyne.KeyName, modifier fyne.KeyModifier) action.Action {
	return action.Action{Name: name, Menu: "Run", Key: key, Modifier: modifier, Do: c.run, Enabled: func() bool { return c.can() }}
}

func enabled(b *widget.Button) bool { return b.Visible() && !b.Disabled() }

// ofAgent presses a button of the inspector, while an agent is open in it.
func (s *Screen) ofAgent(b *widget.Button, name string) action.Action {
	press := action.Press(b, action.Action{Name: name, Menu: "Agent"})
	do := press
	press.Enabled = func() bool { return s.agents.inspector.agent != noAgent && do.Enabled() }
	press.Do = func() {
		s.tabs.reveal("Agents")
		do.Do()
	}
	return press
}

// findAgent shows the agents and focuses the search field.
func (s *Screen) findAgent() {
	s.tabs.reveal("Agents")
	s.agents.search.focus()
}
