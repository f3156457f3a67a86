package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// checkpoints takes checkpoints. Each is a restorable point at the start of the open cycle.
type checkpoints struct {
	core *core

	count     int
	pending   int                // checkpoints being committed
	at        time.Time          // when the last one was taken, or was last found to be current
	suspended time.Duration      // how long the process was suspended since then
	covers    progress           // the progress that the last one covers
	taken     bool               // the last one was taken by this process
	took      time.Duration      // time to commit the newest durable one of this process
	newest    *pendingCheckpoint // nil once it is durable
}

// pendingCheckpoint is a checkpoint that is not durable yet.
type pendingCheckpoint struct {
	reason  string
	at      time.Time // when it was requested
	covers  progress
	sent    bool // the journal writer has it
	done    bool // after a panic: it is durable, or failed
	answers []answerID
}

// ifDue takes a checkpoint if the interval is nearly over. It is a little early so that the gap stays within the interval.
// If nothing has happened, the last checkpoint still describes the run and no new one is taken. A long pause therefore does
// not push older ones out.
func (s *checkpoints) ifDue() {
	c := s.core
	every := c.cfg.Settings.CheckpointEvery
	if every <= 0 || s.pending > 0 || c.life.isEnding() {
		return
	}
	early, at := every-min(every/20, 2*time.Second), c.in.At
	if wait := early - at.Sub(s.at); wait > 0 {
		c.emit(setTimer{checkpointTimer, wait})
		return
	}
	if c.cycles.workers == 0 && !c.limit.haltedAt.IsZero() && c.progress() == s.covers {
		s.updateGap()
		s.at, s.suspended = at, 0
		c.emit(setTimer{checkpointTimer, early})
		return
	}
	s.take("interval", 0)
}

// take takes a checkpoint and answers when it is durable. It joins a pending checkpoint with the same reason if that one is
// still current. Frequent requests therefore cannot keep a run from ending.
func (s *checkpoints) take(reason string, to answerID) {
	c := s.core
	if c.life.abandoned && to != 0 {
		c.emit(answer{to, engine.ErrEnded}) // the core would ignore the result
		return
	}
	w := s.newest
	if w == nil || w.reason != reason || w.sent && w.covers != c.progress() || w.covers.cycle != c.cycles.number {
		w = s.begin(reason)
	}
	if to != 0 {
		w.answers = append(w.answers, to)
	}
}

func (s *checkpoints) begin(reason string) *pendingCheckpoint {
	c, at := s.core, s.core.in.At
	s.updateGap()
	w := &pendingCheckpoint{reason: reason, at: at, covers: c.progress()}
	s.at, s.suspended, s.covers, s.taken, s.newest = at, 0, w.covers, true, w
	b := &c.tally.atBarrier
	state := engine.State{Limit: b.Limit, Manual: b.Manual, Totals: b.Totals.Clone(), Injected: c.memory.injected, Retired: c.roster.retired(c.cycles.number), Tuned: c.memory.tuned}
	state.Totals.Peaks = c.tally.peaks()
	if since := c.in.Inexact; since != nil && since.Cycle < c.cycles.number {
		state.Totals.InexactSince(*since)
	}
	s.count++
	s.pending++
	row := engine.CheckpointRow{At: at, Cycle: c.cycles.number, Done: c.tally.totals.Ended(), Total: c.tally.planned, Reason: reason, State: state, Memory: c.memory.changed()}
	c.emit(writeRow{row, ticket{kind: checkpointTicket, checkpoint: w}})
	return w
}

// committed handles a checkpoint that became durable or failed.
func (s *checkpoints) committed(w *pendingCheckpoint, err error) {
	s.pending--
	if err == nil {
		s.took = s.core.in.At.Sub(w.at)
	}
	if s.newest == w {
		s.newest = nil
	}
	for _, to := range w.answers {
		s.core.emit(answer{to, err})
	}
	s.ifDue()
}

// updateGap updates the longest time without a checkpoint.
func (s *checkpoints) updateGap() {
	p := &s.core.tally.totals.Peaks
	p.CheckpointGap = max(p.CheckpointGap, s.core.in.At.Sub(s.at)-s.suspended)
}

// emergencyCheckpoint takes a checkpoint after the core has panicked, unless memory was being committed for the next cycle.
func (c *core) emergencyCheckpoint(at input) (w *pendingCheckpoint, effects []effect) {
	if c.cycles.committing || c.life.writingEnd || c.life.phase == engine.Ended {
		return nil, nil
	}
	c.in, c.effects = at, nil
	defer func() { c.crashed = true }()
	c.checkpoints.take(engine.PanicReason, 0)
	return c.checkpoints.newest, c.effects
}
