package engine

import "fmt"

const (
	hopelessReason = "cannot succeed" // of the checkpoint with which such a run ends
	proofName      = "proof"          // who ends it
)

// endHopeless ends a run that cannot succeed: no session starts, those in flight end. A run whose breaker is off goes on
// whatever happens, as it was told, and one that has no session left just finishes.
func (l *loop) endHopeless() {
	if l.phase == Draining || l.phase == Ended || l.cycle == nil || l.cfg.Settings.Breaker == BreakerOff {
		return
	}
	if l.sessions.total > 0 && l.totals.Ended() >= l.sessions.total || !l.proof.holds(l.cycle.active) {
		return
	}
	why := l.proof.says(l.where(l.proof.main().path))
	l.change(PhaseChange, l.phase.String(), Draining.String(), proofName, why)
	l.ending, l.stopping = EndHopeless, why
	l.setPhase(Draining)
}

// where is the file and line of a step; "" is not known.
func (l *loop) where(step string) string {
	if l.cfg.Where == nil {
		return ""
	}
	return l.cfg.Where(step)
}

// doneWhy says that all cycles are done, and where every session failed, how.
func (l *loop) doneWhy() string {
	if !l.totals.AllFailed() {
		return allDone
	}
	why := fmt.Sprintf("%s, and every session failed (%s of %[2]s)", allDone, FormatCount(l.totals.Bad()))
	if c := l.proof.main(); c != nil {
		return why + ": " + c.says(l.where(c.path))
	}
	most := NoError
	for _, c := range Classes() {
		if l.totals.Errors[c] > l.totals.Errors[most] {
			most = c
		}
	}
	note := l.latest[most]
	if !note.Known() {
		return why + ": " + most.String()
	}
	c := lasting{cause: cause{path: stepOf(note.Path)}, message: note.Message}
	return why + ": " + c.says(l.where(c.path))
}
