package run

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// turn is what moves a run from one phase to another.
type turn uint8

const (
	toBegin  turn = iota // the first cycle begins
	toPause              // a person, a breaker, a quota or the journal's trouble lets nothing start
	toResume             // no reason for a pause is left
	toDrain              // nothing is to start any more: a stop, a cut, the budget, the last barrier
	toEnd                // the run's end is durable, or its time is up
	numTurns
)

// phaseTable is the whole machine: where a turn leads from each phase. A turn that leads nowhere new changes nothing.
var phaseTable = [engine.Ended + 1][numTurns]engine.Phase{
	//           toBegin    toPause    toResume   toDrain    toEnd
	engine.Preparing: {engine.Running, engine.Paused, engine.Preparing, engine.Draining, engine.Ended},
	engine.Running:   {engine.Running, engine.Paused, engine.Running, engine.Draining, engine.Ended},
	engine.Paused:    {engine.Paused, engine.Paused, engine.Running, engine.Draining, engine.Ended},
	engine.Draining:  {engine.Draining, engine.Draining, engine.Draining, engine.Draining, engine.Ended},
	engine.Ended:     {engine.Ended, engine.Ended, engine.Ended, engine.Ended, engine.Ended},
}

const (
	// patience is how long a cut run waits for its sessions and rows: they end at once, unless a program does not
	// listen to its context, or the journal's queue is full and its disk in trouble.
	patience = 3 * time.Second
	// lastWords is how long the end of a run that was cut may take.
	lastWords = 2 * time.Second
)

// lifecycle is the run's phase, and why. A run is paused while any of these holds; each ends by itself, the first and the
// second also when a person resumes:
//
//	the breaker is not closed          until the governor closes it; probes start meanwhile
//	the quota of a service is gone     until its service says otherwise, or its time has come
//	a person has paused                until a person resumes
//	the journal is in trouble          until it can be written again
type lifecycle struct {
	core *core

	phase      engine.Phase
	ending     engine.Ending
	stopping   string // why it drains or has ended
	pauseWhy   string // by a person
	pausedByUs bool   // by a person
	trouble    error  // of the journal
	isCut      bool
	hasty      bool   // the program has to end: what is left takes its shortest time
	leaving    string // why the program has to end
	unpaid     bool   // a session of the open cycle was cut for the budget
	finalSaved bool   // the checkpoint of a stop was begun
	abandoned  bool   // what did not end when the run was cut is not waited for
	looking    bool   // the last look is under way
	finishing  bool   // the run's end is being written; orders come too late
	result     Result // as of finishing
	proof      proof  // that the run cannot succeed
}

// turn takes the phase where the table says.
func (l *lifecycle) turn(t turn) {
	l.phase = phaseTable[l.phase][t]
	l.core.limit.enforce()
	l.core.emit(publish{})
}

// over reports whether the run drains or has ended.
func (l *lifecycle) over() bool { return l.phase == engine.Draining || l.phase == engine.Ended }

// drain lets nothing start any more, for a reason.
func (l *lifecycle) drain(as engine.Ending, why string) {
	l.ending, l.stopping = as, why
	l.turn(toDrain)
}

// settle finds the phase that the pauses in force mean.
func (l *lifecycle) settle() {
	switch {
	case l.over():
	case l.trouble != nil || l.pausedByUs || l.selfPaused():
		if l.phase != engine.Paused {
			l.turn(toPause)
		}
	case l.phase == engine.Paused:
		l.turn(toResume)
	}
}

// selfPaused reports whether the run pauses for a reason that a person can end.
func (l *lifecycle) selfPaused() bool {
	return l.core.limit.orders.Breaker != engine.BreakerClosed || l.core.quotas.hold()
}

func (l *lifecycle) pause(who, why string) {
	if l.phase == engine.Draining || l.pausedByUs {
		return
	}
	l.core.change(engine.PhaseChange, l.phase.String(), engine.Paused.String(), who, why)
	l.pausedByUs, l.pauseWhy = true, why
	l.settle()
	l.core.emit(publish{})
	l.core.saves.take("pause", 0)
}

// resume ends all pauses that a person can end: not that for a journal in trouble.
func (l *lifecycle) resume(who string) {
	if l.phase == engine.Draining || !l.pausedByUs && !l.selfPaused() {
		return
	}
	l.pausedByUs, l.pauseWhy = false, ""
	l.core.limit.forgive()
	l.core.quotas.waive()
	l.settle() // another pause may hold, for its own reason
	l.core.change(engine.PhaseChange, engine.Paused.String(), l.phase.String(), who, "")
	l.core.emit(publish{})
}

func (l *lifecycle) stop(who, why string) {
	if l.phase == engine.Draining {
		if !l.finishing {
			l.core.change(engine.PhaseChange, engine.Draining.String(), "cut", who, why)
		}
		l.cutShort(why)
		return
	}
	l.core.change(engine.PhaseChange, l.phase.String(), engine.Draining.String(), who, why)
	l.drain(engine.EndStopped, why)
}

// hurry ends the run within [Haste].
func (l *lifecycle) hurry(why string) {
	if l.hasty || l.phase == engine.Ended {
		return
	}
	l.hasty, l.finalSaved, l.leaving = true, true, why
	if !l.finishing && !l.abandoned {
		l.core.saves.take(why, 0)
	}
	if l.phase != engine.Draining {
		l.stop("throng", why)
	}
	if l.isCut { // it has its own time already, which is longer
		l.core.emit(setTimer{lastTimer, hastyPatience})
		return
	}
	l.core.emit(setTimer{hurryTimer, cutPatience})
}

// cutShort ends what is in flight now; those sessions run again when the run is resumed.
func (l *lifecycle) cutShort(why string) {
	if l.isCut || l.phase == engine.Ended {
		return
	}
	l.isCut = true
	if l.ending == engine.NotEnded {
		l.ending = engine.EndStopped
	}
	if l.stopping == "" {
		l.stopping = why
	}
	l.turn(toDrain) // first, so that no session starts only to be cut
	l.core.emit(cutSessions{})
	if l.finishing {
		l.core.emit(setTimer{lastTimer, l.lastWords()})
	} else {
		l.core.emit(setTimer{lastTimer, l.patience()})
	}
}

// patience is how long a run that is cut waits for its sessions and rows.
func (l *lifecycle) patience() time.Duration {
	if l.hasty {
		return hastyPatience
	}
	return patience
}

// lastWords is how long its end may take then.
func (l *lifecycle) lastWords() time.Duration {
	if l.hasty {
		return hastyWords
	}
	return lastWords
}

func (l *lifecycle) setTrouble(err error) {
	l.trouble = err
	if errors.Is(err, engine.ErrDamaged) && !l.isCut {
		l.ending, l.stopping = engine.EndFailed, err.Error()
		l.cutShort("")
		return
	}
	l.settle()
	l.core.emit(publish{}) // the reason has changed even where the phase has not
}

// reason says why the run is in its phase; of a pause all that hold.
func (l *lifecycle) reason() string {
	switch {
	case l.phase == engine.Draining && l.trouble != nil:
		return l.stopping + ", waiting for the disk: " + l.trouble.Error()
	case l.phase != engine.Paused:
		return l.stopping
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
	add(l.pauseWhy)
	if o := &l.core.limit.orders; o.Breaker != engine.BreakerClosed {
		add(o.BreakerWhy)
	}
	for i := range l.core.quotas.gone {
		if q := &l.core.quotas.gone[i]; q.holds(l.core.now.At) {
			add(q.String())
		}
	}
	return strings.Join(all, "; ")
}

// outOfBudget ends the run: no session starts, those in flight go on as far as they need no more.
func (l *lifecycle) outOfBudget(why string) {
	if l.over() {
		return
	}
	l.core.change(engine.PhaseChange, l.phase.String(), engine.Draining.String(), "budget", why)
	l.drain(engine.EndOutOfBudget, why)
}

// endHopeless ends a run that cannot succeed: no session starts, those in flight end. A run whose breaker is off goes on
// whatever happens, as it was told, and one that has no session left just finishes.
func (l *lifecycle) endHopeless() {
	c := l.core
	if l.over() || c.cycles.open == nil || c.cfg.Settings.Breaker == engine.BreakerOff {
		return
	}
	if c.tally.planned > 0 && c.tally.totals.Ended() >= c.tally.planned || !l.proof.holds(c.cycles.open.active) {
		return
	}
	why := l.proof.says(c.where(l.proof.main().path))
	c.change(engine.PhaseChange, l.phase.String(), engine.Draining.String(), proofName, why)
	l.drain(engine.EndHopeless, why)
}

// doneWhy says that all cycles are done, and where every session failed, how.
func (l *lifecycle) doneWhy() string {
	t := &l.core.tally
	if !t.totals.AllFailed() {
		return engine.AllDone
	}
	why := fmt.Sprintf("%s, and every session failed (%s of %[2]s)", engine.AllDone, engine.FormatCount(t.totals.Bad()))
	if c := l.proof.main(); c != nil {
		return why + ": " + c.says(l.core.where(c.path))
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
	c := lasting{cause: cause{path: engine.StepName(note.Path)}, message: note.Message}
	return why + ": " + c.says(l.core.where(c.path))
}
