package engine

import (
	"fmt"
	"time"
)

const (
	// patience is how long a cut run waits for its sessions and rows: they end at once, unless a program does not
	// listen to its context or the journal's queue is full and its disk in trouble.
	patience = 3 * time.Second
	// lastWords is for the end of a run that was cut.
	lastWords = 2 * time.Second
)

// endReasons are the reasons of the checkpoints with which runs end.
var endReasons = map[Ending]string{EndStopped: "stop", EndOutOfBudget: "budget", EndHopeless: hopelessReason}

// finish ends the run once nothing is in flight: with a checkpoint unless it is done or was cut.
func (l *loop) finish() {
	if !l.abandoned && (l.workers > 0 || l.closing || l.saving > 0) {
		return
	}
	l.recordMoves() // the last ones
	if l.cycle == nil && l.cfg.Settings.Cycles > 0 && l.number >= l.cfg.Settings.Cycles {
		l.ending, l.stopping = EndFinished, l.doneWhy()
	}
	if reason := endReasons[l.ending]; reason != "" && !l.isCut && !l.lastCheckpoint {
		l.lastCheckpoint = true
		l.checkpoint(reason, nil)
		return
	}
	now := time.Now()
	l.gap(now)
	if l.cycle != nil {
		l.leave(now)
	}
	l.totals.Peaks = l.peaks(now)
	l.totals.Peaks.Spent = l.totals.Peaks.Spent.Plus(l.r.ledger.books().claimed) // who is left behind will not settle in time
	l.r.doubts.count(&l.totals)
	l.tally()
	l.sample()
	l.services = l.states(now)
	agents := l.cfg.Agents
	if l.cfg.Chosen != nil {
		agents = len(l.cfg.Chosen)
	}
	l.r.result = Result{l.ending, l.stopping, l.totals.Clone(), Judge(l.cfg.Success, &l.totals, agents)}
	l.finishing = true
	if l.isCut {
		l.last.Reset(l.lastWords())
	}
	l.commit(l.endCtx, EndRow{now, l.sessions.total, l.ending, l.stopping, l.totals.Clone(), l.r.result.Verdict}, l.end)
}

// leave closes the books of a cycle that did not end: it took at least as long as this.
func (l *loop) leave(now time.Time) {
	until := now
	if l.workers == 0 {
		until = l.idle
	}
	took := l.worked(until)
	l.totals.Peaks.Cycle = max(l.totals.Peaks.Cycle, took)
	l.totals.Peaks.Worked += took
	if l.cycle.clock != nil {
		l.cycle.clock.Stop()
	}
	l.sessions.begun += int64(l.cycle.started())
	if l.abandoned {
		l.sessions.cut = l.sessions.begun - (l.totals.Ended() - l.sessions.before)
	}
	l.cycle = nil
}

// end is the last thing that a run does.
func (l *loop) end(err error) {
	if l.phase == Ended {
		return
	}
	if err != nil {
		l.r.result.Reason += fmt.Sprintf("; the end could not be written (%v), resuming finds it as interrupted", err)
		l.stopping = l.r.result.Reason
	}
	l.setPhase(Ended)
}

// leaveBehind ends a cut run without what has not ended in time.
func (l *loop) leaveBehind() {
	if l.finishing {
		why := l.trouble
		if why == nil {
			why = fmt.Errorf("not within %s", l.lastWords())
		}
		l.end(why)
		return
	}
	for { // what has arrived still counts
		select {
		case b := <-l.r.results:
			l.take(b)
			continue
		case b := <-l.r.mergeQueue:
			l.take(b)
			continue
		default:
		}
		break
	}
	l.abandoned = true
	close(l.r.abandoned)
}
