package run

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// transition is a cause for a change of the phase.
type transition uint8

const (
	toRunning transition = iota // the first cycle begins
	toPause                     // a person, a breaker, a quota or journal trouble pauses the run
	toResume                    // no reason for a pause is left
	toDrain                     // no further session may start: a stop, a cut, the budget, or the last barrier
	toEnd                       // the run's end is durable, or its time is up
	numTransitions
)

// phaseTable is the complete phase machine: for each phase, the phase that each turn leads to.
var phaseTable = [engine.Ended + 1][numTransitions]engine.Phase{
	//           toBegin    toPause    toResume   toDrain    toEnd
	engine.Preparing: {engine.Running, engine.Paused, engine.Preparing, engine.Draining, engine.Ended},
	engine.Running:   {engine.Running, engine.Paused, engine.Running, engine.Draining, engine.Ended},
	engine.Paused:    {engine.Paused, engine.Paused, engine.Running, engine.Draining, engine.Ended},
	engine.Draining:  {engine.Draining, engine.Draining, engine.Draining, engine.Draining, engine.Ended},
	engine.Ended:     {engine.Ended, engine.Ended, engine.Ended, engine.Ended, engine.Ended},
}

const (
	// cutTimeout is how long a cut run waits for its sessions and rows. They normally end immediately. They take longer if a
	// program ignores its context, or if the journal's queue is full while its disk is in trouble.
	cutTimeout = 3 * time.Second
	// endTimeout is how long a cut run may take to write its end.
	endTimeout = 2 * time.Second
)

// lifecycle holds the run's phase and its reason. A run is paused while at least one of these conditions holds. A person
// who resumes the run also ends the first two:
//
//	the breaker is not closed              until the governor closes it; probes start meanwhile
//	the quota of a service is exhausted    until the service reports otherwise, or its reset time has come
//	a person has paused the run            until a person resumes it
//	the journal is in trouble              until it can be written again
type lifecycle struct {
	core *core

	phase        engine.Phase
	ending       engine.Ending
	endReason    string // why the run is draining or has ended
	pauseReason  string // the person's reason for a pause
	pausedByUser bool   // a person has paused the run
	trouble      error  // journal error; nil if there is none
	isCut        bool
	exiting      bool   // the program is exiting: use the shortest time limits
	exitReason   string // why the program is exiting
	cutAlone     bool   // a session of the open cycle was cut because the budget is used up, or a service did not answer
	finalSaved   bool   // the final checkpoint has been started
	abandoned    bool   // remaining sessions are no longer waited for
	probingEnd   bool   // the final probes have been requested
	writingEnd   bool   // the end is being written; no more orders are accepted
	result       Result // set when writingEnd becomes true
	proof        proof  // evidence that the run cannot succeed
}

// apply moves to the phase that phaseTable lists for a transition.
func (l *lifecycle) apply(t transition) {
	l.phase = phaseTable[l.phase][t]
	l.core.limit.enforce()
	l.core.emit(publish{})
}

// isEnding reports whether the run is draining or has ended.
func (l *lifecycle) isEnding() bool { return l.phase == engine.Draining || l.phase == engine.Ended }

// drain ends the run: no further session starts.
func (l *lifecycle) drain(as engine.Ending, why string) {
	l.ending, l.endReason = as, why
	l.apply(toDrain)
	l.core.emit(endWaits{}) // after the limit is 0: the slots of cut sessions start no others
}

// updatePause pauses or resumes the run according to the current pause conditions.
func (l *lifecycle) updatePause() {
	switch {
	case l.isEnding():
	case l.trouble != nil || l.pausedByUser || l.selfPaused():
		if l.phase != engine.Paused {
			l.apply(toPause)
		}
	case l.phase == engine.Paused:
		l.apply(toResume)
	}
}

// selfPaused reports whether the run has paused itself for a reason that a person can override.
func (l *lifecycle) selfPaused() bool {
	return l.core.limit.orders.Breaker != engine.BreakerClosed || l.core.quotas.pausesRun()
}

func (l *lifecycle) pause(who, why string) {
	if l.phase == engine.Draining || l.pausedByUser {
		return
	}
	l.core.changes.add(engine.PhaseChange, l.phase.String(), engine.Paused.String(), who, why)
	l.pausedByUser, l.pauseReason = true, why
	l.updatePause()
	l.core.emit(publish{})
	l.core.checkpoints.take("pause", 0)
}

// resume ends all pauses that a person can end. A pause for a journal in trouble stays.
func (l *lifecycle) resume(who string) {
	if l.phase == engine.Draining || !l.pausedByUser && !l.selfPaused() {
		return
	}
	l.pausedByUser, l.pauseReason = false, ""
	l.core.limit.closeBreaker()
	l.core.quotas.waive()
	l.updatePause() // another pause may still be in force
	l.core.changes.add(engine.PhaseChange, engine.Paused.String(), l.phase.String(), who, "")
	l.core.emit(publish{})
}

func (l *lifecycle) stop(who, why string) {
	if l.phase == engine.Draining {
		if !l.writingEnd {
			l.core.changes.add(engine.PhaseChange, engine.Draining.String(), "canceling", who, why)
		}
		l.cut(why)
		return
	}
	l.core.changes.add(engine.PhaseChange, l.phase.String(), engine.Draining.String(), who, why)
	l.drain(engine.EndStopped, why)
}

// shutDown ends the run within [ShutdownTimeout].
func (l *lifecycle) shutDown(why string) {
	if l.exiting || l.phase == engine.Ended {
		return
	}
	l.exiting, l.finalSaved, l.exitReason = true, true, why
	if !l.writingEnd && !l.abandoned {
		l.core.checkpoints.take(why, 0)
	}
	if l.phase != engine.Draining {
		l.stop("throng", why)
	}
	if l.isCut { // its own, longer time limit is already running
		l.core.emit(setTimer{endTimer, shutdownCutTimeout})
		return
	}
	l.core.emit(setTimer{shutdownTimer, shutdownGrace})
}

// cut cuts the sessions in flight. They run again when the run is resumed.
func (l *lifecycle) cut(why string) {
	if l.isCut || l.phase == engine.Ended {
		return
	}
	l.isCut = true
	if l.ending == engine.NotEnded {
		l.ending = engine.EndStopped
	}
	if l.endReason == "" {
		l.endReason = why
	}
	l.apply(toDrain) // first, so that no session starts just to be cut
	l.core.emit(cutSessions{})
	if l.writingEnd {
		l.core.emit(setTimer{endTimer, l.endTimeout()})
	} else {
		l.core.emit(setTimer{endTimer, l.cutTimeout()})
	}
}

// cutTimeout returns how long a cut run waits for its sessions and rows.
func (l *lifecycle) cutTimeout() time.Duration {
	if l.exiting {
		return shutdownCutTimeout
	}
	return cutTimeout
}

// endTimeout returns how long a cut run may take to write its end.
func (l *lifecycle) endTimeout() time.Duration {
	if l.exiting {
		return shutdownEndTimeout
	}
	return endTimeout
}

func (l *lifecycle) setTrouble(err error) {
	l.trouble = err
	if errors.Is(err, engine.ErrDamaged) && !l.isCut {
		l.ending, l.endReason = engine.EndFailed, err.Error()
		l.cut("")
		return
	}
	l.updatePause()
	l.core.emit(publish{}) // the reason has changed, even if the phase has not
}

// reason returns why the run is in its phase. For a pause it lists all conditions that hold.
func (l *lifecycle) reason() string {
	switch {
	case l.phase == engine.Draining && l.trouble != nil:
		return l.endReason + ", waiting for the disk: " + l.trouble.Error()
	case l.phase != engine.Paused:
		return l.endReason
	}
	var all []string
	add := func(text string) {
		if text != "" {
			all = append(all, text)
		}
	}
	if l.trouble != nil {
		add(l.trouble.Error())
	}
	add(l.pauseReason)
	if o := &l.core.limit.orders; o.Breaker != engine.BreakerClosed {
		add(o.BreakerWhy)
	}
	for i := range l.core.quotas.exhausted {
		if q := &l.core.quotas.exhausted[i]; q.isActive(l.core.in.At) {
			add(q.String())
		}
	}
	return strings.Join(all, "; ")
}

// endOutOfBudget ends the run. No session starts, and those in flight continue until they need budget again.
func (l *lifecycle) endOutOfBudget(why string) {
	if l.isEnding() {
		return
	}
	l.core.changes.add(engine.PhaseChange, l.phase.String(), engine.Draining.String(), "budget", why)
	l.drain(engine.EndOutOfBudget, why)
}

// endHopeless ends a run that cannot succeed. No session starts, and those in flight may end. It does nothing if the
// breaker is off, or if no session is left anyway.
func (l *lifecycle) endHopeless() {
	c := l.core
	if l.isEnding() || c.cycles.open == nil || c.cfg.Settings.Breaker == engine.BreakerOff {
		return
	}
	if c.tally.planned > 0 && c.tally.totals.Ended() >= c.tally.planned || !l.proof.holds(c.cycles.open.active) {
		return
	}
	why := l.proof.text(c.where(l.proof.mostFrequent().path))
	c.changes.add(engine.PhaseChange, l.phase.String(), engine.Draining.String(), proofName, why)
	l.drain(engine.EndHopeless, why)
}

// finishReason returns the reason of a run whose cycles are all done. If every session failed, it includes the cause.
func (l *lifecycle) finishReason() string {
	t := &l.core.tally
	if !t.totals.AllFailed() {
		return engine.AllDone
	}
	why := fmt.Sprintf("%s, and every session failed (%s of %[2]s)", engine.AllDone, engine.FormatCount(t.totals.Bad()))
	if c := l.proof.mostFrequent(); c != nil {
		return why + ": " + c.text(l.core.where(c.path))
	}
	most := engine.NoError
	for _, c := range engine.Classes() {
		if t.totals.Errors[c] > t.totals.Errors[most] {
			most = c
		}
	}
	note := t.latest[most]
	if !note.Known() {
		return why + ": " + most.String()
	}
	c := failureCause{cause: cause{path: engine.StepName(note.Path)}, message: note.Message}
	return why + ": " + c.text(l.core.where(c.path))
}
