package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// checkpoints takes checkpoints. Each is a restorable point at the start of the open cycle.
type checkpoints struct {
	core *core

	count  int
	saving int           // checkpoints being committed
	at     time.Time     // when the last one was taken, or was last found to be current
	stood  time.Duration // how long the process was suspended since then
	of     progress      // the progress that the last one covers
	here   bool          // the last one was taken by this process
	took   time.Duration // time to commit the newest durable one of this process
	newest *waiting      // nil once it is durable
}

// waiting is a checkpoint that is not durable yet.
type waiting struct {
	reason  string
	at      time.Time // when it was requested
	of      progress
	sent    bool // the journal writer has it
	settled bool // after a panic: it is durable, or failed
	answers []answerID
}

// ifDue takes a checkpoint if the interval is nearly over. It is a little early so that the gap stays within the interval.
// If nothing has happened, the last checkpoint still describes the run and no new one is taken. A long pause therefore does
// not push older ones out.
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

// take takes a checkpoint and answers when it is durable. It joins a pending checkpoint with the same reason if that one is
// still current. Frequent requests therefore cannot keep a run from ending.
func (s *checkpoints) take(reason string, to answerID) {
	c := s.core
	if c.life.abandoned && to != 0 {
		c.emit(answer{to, engine.ErrEnded}) // the core would ignore the result
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

// settled handles a checkpoint that became durable or failed.
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

// gap updates the longest time without a checkpoint.
func (s *checkpoints) gap() {
	p := &s.core.tally.totals.Peaks
	p.CheckpointGap = max(p.CheckpointGap, s.core.now.At.Sub(s.at)-s.stood)
}

// emergency takes a checkpoint after the core has panicked. It takes none if the panic came while memory was being
// committed for the next cycle.
func (c *core) emergency(at now) (w *waiting, effects []effect) {
	if c.cycles.turning || c.life.finishing || c.life.phase == engine.Ended {
		return nil, nil
	}
	c.now, c.effects = at, nil
	defer func() { c.crashed = true }()
	c.saves.take(engine.PanicReason, 0)
	return c.saves.newest, c.effects
}
