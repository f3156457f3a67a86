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
		l.saved = now
		l.autosave.Reset(early)
		return
	}
	l.checkpoint("interval", nil)
}

// checkpoint makes a restorable point of the start of the open cycle; then, if set, hears whether it is durable.
func (l *loop) checkpoint(reason string, then func(error)) {
	now := time.Now()
	l.gap(now)
	l.saved, l.savedAt, l.savedHere = now, l.progress(), true
	state := State{l.atBarrier.Limit, l.atBarrier.Totals.Clone()}
	state.Totals.Peaks = l.peaks(now)
	row := CheckpointRow{now, l.number, l.totals.Ended(), l.sessions.total, reason, state, make(map[int]*Memory, len(l.dirty))}
	for agent := range l.dirty {
		row.Memory[agent] = l.r.memory[agent]
	}
	clear(l.dirty)
	l.checkpoints++
	l.saving++
	l.commit(l.ctx, row, func(err error) {
		l.saving--
		if then != nil {
			then(err)
		}
		l.checkpointIfDue()
	})
}

func (l *loop) gap(now time.Time) {
	l.totals.Peaks.CheckpointGap = max(l.totals.Peaks.CheckpointGap, now.Sub(l.saved))
}

// peaks are the worst values so far, and the time spent.
func (l *loop) peaks(now time.Time) Peaks {
	p := l.totals.Peaks
	p.Elapsed = l.elapsed + now.Sub(l.began)
	return p
}
