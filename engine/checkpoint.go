package engine

import "time"

// checkpointIfDue takes a checkpoint by time, a little early, so that the gap stays within the interval. While
// nothing happens the last one goes on describing the run, and a long pause does not push older ones out.
func (l *loop) checkpointIfDue() {
	every := l.cfg.Settings.CheckpointEvery
	if every <= 0 || l.saving > 0 || l.phase == Draining || l.phase == Ended {
		return
	}
	early := every - min(every/20, 2*time.Second)
	now := time.Now()
	if wait := early - now.Sub(l.saved); wait > 0 {
		l.autosave.Reset(wait)
		return
	}
	if l.workers == 0 && !l.stood.IsZero() && l.progress() == l.savedAt {
		l.gap(now)
		l.saved, l.savedStood = now, 0
		l.autosave.Reset(early)
		return
	}
	l.checkpoint("interval", nil)
}

// waiting is a checkpoint that is not durable yet.
type waiting struct {
	reason string
	at     time.Time // when it was ordered
	of     progress
	sent   bool // the journal writer has it
	hear   []func(error)
}

// checkpoint makes a restorable point of the start of the open cycle; then, if set, hears whether it is durable. It
// joins one that was asked for in the same words and is as good, so that asking often never keeps a run from ending.
func (l *loop) checkpoint(reason string, then func(error)) {
	w := l.newest
	if w == nil || w.reason != reason || w.sent && w.of != l.progress() || w.of.cycle != l.number {
		w = l.newCheckpoint(reason)
	}
	if then != nil {
		w.hear = append(w.hear, then)
	}
}

func (l *loop) newCheckpoint(reason string) *waiting {
	now := time.Now()
	l.gap(now)
	w := &waiting{reason: reason, at: now, of: l.progress()}
	l.saved, l.savedStood, l.savedAt, l.savedHere, l.newest = now, 0, w.of, true, w
	state := State{l.atBarrier.Limit, l.atBarrier.Totals.Clone(), l.r.injected, l.roster.retired(l.number), l.inherited}
	state.Totals.Peaks = l.peaks(now)
	row := CheckpointRow{now, l.number, l.totals.Ended(), l.sessions.total, reason, state, make(map[int]*Memory, len(l.dirty))}
	for agent := range l.dirty {
		row.Memory[agent] = l.r.memory[agent]
	}
	clear(l.dirty)
	l.checkpoints++
	l.saving++
	l.backlog = append(l.backlog, note{row, l.ctx, func(err error) { l.settled(w, err) }, func() { w.sent = true }})
	return w
}

// settled hears that a checkpoint is durable, or will not be.
func (l *loop) settled(w *waiting, err error) {
	l.saving--
	if err == nil {
		l.savingTook = time.Since(w.at)
	}
	if l.newest == w {
		l.newest = nil
	}
	for _, hear := range w.hear {
		hear(err)
	}
	l.checkpointIfDue()
}

func (l *loop) gap(now time.Time) {
	l.totals.Peaks.CheckpointGap = max(l.totals.Peaks.CheckpointGap, now.Sub(l.saved)-l.savedStood)
}

// peaks are the worst values so far, and the time spent.
func (l *loop) peaks(now time.Time) Peaks {
	p := l.totals.Peaks
	p.Elapsed = l.elapsed + now.Sub(l.began)
	books := l.r.ledger.books()
	p.Beside, p.Spent = books.beside, books.spent
	return p
}
