package run

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

// endReasons maps an ending to the reason of the final checkpoint.
var endReasons = map[engine.Ending]string{engine.EndStopped: "stop", engine.EndOutOfBudget: "budget", engine.EndHopeless: engine.HopelessReason}

// finish ends the run once nothing is in flight. It first requests a last reading of the probes, which closeBooks then
// handles.
func (l *lifecycle) finish() {
	c := l.core
	if l.looking || !l.abandoned && (c.cycles.workers > 0 || c.cycles.closing || c.saves.saving > 0) {
		return
	}
	l.looking = true
	c.emit(lookOnceMore{})
}

// closeBooks takes the final checkpoint of a run that stops early. If none is needed, or it is done, it journals the run's
// end.
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
	t.totals.Peaks.Spent = t.totals.Peaks.Spent.Plus(c.now.Books.Claimed) // abandoned sessions will not settle in time
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

// end moves the run to its final phase.
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

// timeIsUp ends a cut run without waiting any longer for sessions or rows.
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

// checkWall ends the run when its time budget is used up. No further request is sent.
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

// leave accounts for a cycle that did not end. Its time so far is a lower bound.
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

// Time limits for a run that must end because the program exits.
const (
	// Haste is the longest that [Run.Leave] takes to end a run, whatever its sessions and disk do. It covers the time for
	// sessions to end, for the rest to be cut, and for the last rows to be written.
	Haste = cutPatience + hastyPatience + hastyWords

	cutPatience   = 2500 * time.Millisecond
	hastyPatience = time.Second
	hastyWords    = time.Second
)
