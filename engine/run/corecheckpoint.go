package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// checkpoints takes checkpoints: restorable points at the start of the open cycle.
type checkpoints struct {
	core *core

	count  int
	saving int           // that are being committed
	at     time.Time     // when the last one was made, or still described the run
	stood  time.Duration // how long the process stood still since then
	of     progress      // what it described
	here   bool          // it is of this process
	took   time.Duration // of the newest of this process that is durable
	newest *waiting      // while it is not durable
}

// waiting is a checkpoint that is not durable yet.
type waiting struct {
	reason  string
	at      time.Time // when it was ordered
	of      progress
	sent    bool // the journal's writer has it
	settled bool // after a panic: it is durable, or will not be
	answers []answerID
}

// ifDue takes a checkpoint by time, a little early, so that the gap stays within the interval. While nothing happens the
// last one goes on describing the run, and a long pause does not push older ones out.
func (s *checkpoints) ifDue() {
	c := s.core
	every := c.cfg.Settings.CheckpointEvery
	if every <= 0 || s.saving > 0 || c.life.over() {
		return
	}
	early, at := every-min(every/20, 2*time.Second), c.now.At
	if wait := early - at.Sub(s.at); wait > 0 {
		c.emit(setTimer{checkpointTimer, wait})
		return
	}
	if c.cycles.workers == 0 && !c.limit.stood.IsZero() && c.progress() == s.of {
		s.gap()
		s.at, s.stood = at, 0
		c.emit(setTimer{checkpointTimer, early})
		return
	}
	s.take("interval", 0)
}

// take makes a checkpoint and answers when it is durable. It joins one that was asked for in the same words and is as
// good, so that asking often never keeps a run from ending.
func (s *checkpoints) take(reason string, to answerID) {
	c := s.core
	if c.life.abandoned && to != 0 {
		c.emit(answer{to, engine.ErrEnded}) // its row would never be heard of
		return
	}
	w := s.newest
	if w == nil || w.reason != reason || w.sent && w.of != c.progress() || w.of.cycle != c.cycles.number {
		w = s.make(reason)
	}
	if to != 0 {
		w.answers = append(w.answers, to)
	}
}

func (s *checkpoints) make(reason string) *waiting {
	c, at := s.core, s.core.now.At
	s.gap()
	w := &waiting{reason: reason, at: at, of: c.progress()}
	s.at, s.stood, s.of, s.here, s.newest = at, 0, w.of, true, w
	b := &c.tally.atBarrier
	state := engine.State{Limit: b.Limit, Totals: b.Totals.Clone(), Injected: c.recall.injected, Retired: c.roster.retired(c.cycles.number), Tuned: c.recall.inherited}
	state.Totals.Peaks = c.tally.peaks()
	s.count++
	s.saving++
	row := engine.CheckpointRow{At: at, Cycle: c.cycles.number, Done: c.tally.totals.Ended(), Total: c.tally.planned, Reason: reason, State: state, Memory: c.recall.changed()}
	c.emit(writeRow{row, ticket{kind: checkpointTicket, checkpoint: w}})
	return w
}

// settled hears that a checkpoint is durable, or will not be.
func (s *checkpoints) settled(w *waiting, err error) {
	s.saving--
	if err == nil {
		s.took = s.core.now.At.Sub(w.at)
	}
	if s.newest == w {
		s.newest = nil
	}
	for _, to := range w.answers {
		s.core.emit(answer{to, err})
	}
	s.ifDue()
}

// gap keeps the longest time without a checkpoint.
func (s *checkpoints) gap() {
	p := &s.core.tally.totals.Peaks
	p.CheckpointGap = max(p.CheckpointGap, s.core.now.At.Sub(s.at)-s.stood)
}

// emergency makes a checkpoint after the core has panicked, unless that was while memory moved on to the next cycle.
func (c *core) emergency(at now) (w *waiting, effects []effect) {
	if c.cycles.turning || c.life.finishing || c.life.phase == engine.Ended {
		return nil, nil
	}
	c.now, c.effects = at, nil
	defer func() { c.crashed = true }()
	c.saves.take(engine.PanicReason, 0)
	return c.saves.newest, c.effects
}
