package run

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/criteria"
)

// endReasons maps an ending to the reason of the final checkpoint.
var endReasons = map[engine.Ending]string{engine.EndStopped: "stop", engine.EndOutOfBudget: "budget", engine.EndHopeless: engine.HopelessReason, engine.EndFinished: engine.FinishReason}

// finish ends the run once nothing is in flight. It first requests a last reading of the probes, which writeEnd then handles.
func (l *lifecycle) finish() {
	c := l.core
	if l.probingEnd || !l.abandoned && (c.cycles.workers > 0 || c.cycles.closing || c.checkpoints.pending > 0) {
		return
	}
	l.probingEnd = true
	c.emit(readFinalProbes{})
}

// writeEnd takes the final checkpoint of a run that stops early. If none is needed, or it is done, it journals the run's end.
func (l *lifecycle) writeEnd(e *finalProbes) {
	c := l.core
	l.probingEnd = false
	for i := range e.services.changes {
		c.changes.record(e.services.changes[i])
	}
	if n := c.cfg.Settings.Cycles; c.cycles.open == nil && n > 0 && c.cycles.number >= n {
		l.ending, l.endReason = engine.EndFinished, l.finishReason()
	}
	if reason := endReasons[l.ending]; reason != "" && !l.isCut && !l.finalSaved {
		l.finalSaved = true
		c.checkpoints.take(reason, 0)
		return
	}
	t := &c.tally
	c.checkpoints.updateGap()
	if c.cycles.open != nil {
		c.cycles.closeUnfinished()
	}
	t.totals.Peaks = t.peaks()
	claimed := c.in.Ledger.Claimed // by sessions that will not settle in time: they were abandoned,
	t.totals.Peaks.Spent = t.totals.Peaks.Spent.Plus(claimed)
	if l.ending == engine.EndFinished { // or another worker of a fleet has executed them since
		t.totals.Peaks.Unrecorded = t.totals.Peaks.Unrecorded.Plus(claimed)
	}
	if c.in.Inexact != nil {
		t.totals.InexactSince(*c.in.Inexact)
	}
	t.updateShared()
	c.samples.close(&e.probes, true)
	c.quotas.services = e.services.services
	agents := c.cfg.Agents
	if c.cfg.Chosen != nil {
		agents = len(c.cfg.Chosen)
	}
	totals := t.totals.Clone()
	l.result = Result{l.ending, l.endReason, totals, criteria.Judge(c.cfg.Success, &t.totals, agents)}
	l.writingEnd = true
	if l.isCut {
		c.emit(setTimer{endTimer, l.endTimeout()})
	}
	c.emit(writeRow{engine.EndRow{At: c.in.At, Total: t.planned, Ending: l.ending, Reason: l.endReason, Totals: totals, Verdict: l.result.Verdict}, ticket{kind: endTicket}})
}

// end moves the run to its final phase.
func (l *lifecycle) end(err error) {
	if l.phase == engine.Ended {
		return
	}
	if err != nil {
		l.result.Reason += fmt.Sprintf("; the end could not be written (%v), resuming finds it as interrupted", err)
		l.endReason = l.result.Reason
	}
	l.apply(toEnd)
}

// endTimedOut ends a cut run without waiting any longer for sessions or rows.
func (l *lifecycle) endTimedOut() {
	if !l.writingEnd {
		l.core.emit(abandonWorkers{})
		return
	}
	why := l.trouble
	if why == nil {
		why = fmt.Errorf("not within %s", engine.FormatDuration(l.endTimeout()))
	}
	l.end(why)
}

// checkTimeBudget ends the run when its time budget is used up. No further request is sent.
func (l *lifecycle) checkTimeBudget() {
	if l.isEnding() {
		return
	}
	b := l.core.in.Ledger.Budget
	if elapsed := l.core.stopwatch.populationTook + l.core.stopwatch.worked(); b.Wall > 0 && elapsed >= b.Wall {
		of, why := b.TimeUp(elapsed)
		l.core.emit(closeLedger{of, why})
		l.endOutOfBudget(why)
	}
}

// closeUnfinished accounts for a cycle that did not end. Its time so far is a lower bound.
func (cy *cycles) closeUnfinished() {
	c, until := cy.core, cy.core.in.At
	if cy.workers == 0 {
		until = cy.idleSince
	}
	took, t := cy.worked(until), &c.tally
	t.totals.Peaks.Cycle = max(t.totals.Peaks.Cycle, took)
	t.totals.Peaks.Worked += took
	c.emit(endCycle{})
	t.started += int64(c.in.started())
	if c.life.abandoned {
		t.cut = t.started - (t.totals.Ended() - t.endedBefore)
	}
	cy.open = nil
}

// proofName is the author of the change that ends a run that cannot succeed.
const proofName = "proof"

// Time limits for a run that must end because the program exits.
const (
	// ShutdownTimeout is the longest that [Run.Shutdown] takes to end a run, whatever its sessions and disk do. It covers
	// the time for sessions to end, for the rest to be cut, and for the last rows to be written.
	ShutdownTimeout = shutdownGrace + shutdownCutTimeout + shutdownEndTimeout

	shutdownGrace      = 2500 * time.Millisecond
	shutdownCutTimeout = time.Second
	shutdownEndTimeout = time.Second
)
