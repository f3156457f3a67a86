package run

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

// endReasons are the reasons of the checkpoints with which runs end.
var endReasons = map[engine.Ending]string{engine.EndStopped: "stop", engine.EndOutOfBudget: "budget", engine.EndHopeless: engine.HopelessReason}

// finish ends the run once nothing is in flight. It looks outside once more first: closeBooks goes on.
func (l *lifecycle) finish() {
	c := l.core
	if l.looking || !l.abandoned && (c.cycles.workers > 0 || c.cycles.closing || c.saves.saving > 0) {
		return
	}
	l.looking = true
	c.emit(lookOnceMore{})
}

// closeBooks takes the checkpoint of a run that is stopped, or else journals the run's end.
func (l *lifecycle) closeBooks(e *lastLook) {
	c := l.core
	l.looking = false
	for i := range e.outside.moves {
		c.record(e.outside.moves[i])
	}
	if n := c.cfg.Settings.Cycles; c.cycles.open == nil && n > 0 && c.cycles.number >= n {
		l.ending, l.stopping = engine.EndFinished, l.doneWhy()
	}
	if reason := endReasons[l.ending]; reason != "" && !l.isCut && !l.finalSaved {
		l.finalSaved = true
		c.saves.take(reason, 0)
		return
	}
	t := &c.tally
	c.saves.gap()
	if c.cycles.open != nil {
		c.cycles.leave()
	}
	t.totals.Peaks = t.peaks()
	t.totals.Peaks.Spent = t.totals.Peaks.Spent.Plus(c.now.Books.Claimed) // sessions left behind will not settle in time
	if c.now.Doubt != nil {
		t.totals.InexactSince(*c.now.Doubt)
	}
	t.heard()
	c.samples.close(&e.probes)
	c.quotas.services = e.outside.services
	agents := c.cfg.Agents
	if c.cfg.Chosen != nil {
		agents = len(c.cfg.Chosen)
	}
	l.result = Result{l.ending, l.stopping, t.totals.Clone(), engine.Judge(c.cfg.Success, &t.totals, agents)}
	l.finishing = true
	if l.isCut {
		c.emit(setTimer{lastTimer, l.lastWords()})
	}
	c.emit(writeRow{engine.EndRow{At: c.now.At, Total: t.planned, Ending: l.ending, Reason: l.stopping, Totals: t.totals.Clone(), Verdict: l.result.Verdict}, ticket{kind: endTicket}})
}

// end is the last thing that a run does.
func (l *lifecycle) end(err error) {
	if l.phase == engine.Ended {
		return
	}
	if err != nil {
		l.result.Reason += fmt.Sprintf("; the end could not be written (%v), resuming finds it as interrupted", err)
		l.stopping = l.result.Reason
	}
	l.turn(toEnd)
}

// timeIsUp ends a cut run without what has not ended in time.
func (l *lifecycle) timeIsUp() {
	if !l.finishing {
		l.core.emit(leaveBehind{})
		return
	}
	why := l.trouble
	if why == nil {
		why = fmt.Errorf("not within %s", l.lastWords())
	}
	l.end(why)
}

// checkWall ends the run when its wall time is over: no request leaves any more.
func (l *lifecycle) checkWall() {
	if l.over() {
		return
	}
	b := l.core.now.Books.Budget
	if elapsed := l.core.pace.writing + l.core.pace.worked(); b.Wall > 0 && elapsed >= b.Wall {
		of, why := b.TimeUp(elapsed)
		l.core.emit(closeLedger{of, why})
		l.outOfBudget(why)
	}
}

// leave closes the books of a cycle that did not end: it took at least as long as this.
func (cy *cycles) leave() {
	c, until := cy.core, cy.core.now.At
	if cy.workers == 0 {
		until = cy.idle
	}
	took, t := cy.worked(until), &c.tally
	t.totals.Peaks.Cycle = max(t.totals.Peaks.Cycle, took)
	t.totals.Peaks.Worked += took
	c.emit(endCycle{})
	t.begun += int64(c.now.started())
	if c.life.abandoned {
		t.cut = t.begun - (t.totals.Ended() - t.before)
	}
	cy.open = nil
}

// proofName is the author of the change that ends a run that cannot succeed.
const proofName = "proof"

// Times that a run takes to end when its program has to.
const (
	// Haste is how long at most a run takes to end by [Run.Leave], whatever its sessions and its disk do: the time that
	// its sessions get, and then what remains for their being cut and for the last rows.
	Haste = cutPatience + hastyPatience + hastyWords

	cutPatience   = 2500 * time.Millisecond
	hastyPatience = time.Second
	hastyWords    = time.Second
)
