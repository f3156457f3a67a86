package setup

import "github.com/throng-sim/throng/ui/fleet"

// newWorkers returns the section that chooses which processes execute the sessions.
func newWorkers(s *Screen) *fleet.Choice {
	c := fleet.NewChoice(s.desk.Fleet())
	for _, f := range c.Fields {
		s.watch(s.settings.Add(f.Row, f.Name), f.Entry)
	}
	c.Changed, c.Tell = s.changed, s.settings.Tell
	return c
}

// invite invites workers for a launch that needs them, and then continues it. It reports whether that is so.
func (s *Screen) invite() bool {
	if p, _ := s.workers.Plan(); !p.Elsewhere() || s.workers.Invited() {
		return false
	}
	s.workers.Invite(func() {
		s.bring(s.workers.Command())
		s.launch()
	})
	return true
}

// joined updates the list of workers, and what the button to launch waits for.
func (s *Screen) joined() {
	if s.workers.Tick(now()) && s.scenario != nil {
		s.workers.Panel.SetSummary(s.workers.Summary())
	}
	s.bar.need(s.workers.Waits() && !s.launching) // a launch says itself that it waits
	if s.awaiting.Load() && s.giveUp != nil {
		s.bar.await()
	}
}
