package engine

import (
	"slices"
	"strconv"
	"time"
)

func (l *loop) setLimit(n int, who, why string) error {
	if n == l.limit {
		return nil
	}
	l.change(LimitChange, strconv.Itoa(l.limit), strconv.Itoa(n), who, why)
	l.limit = n
	l.enforce()
	l.publish()
	return nil
}

func (l *loop) pause(who, why string) error {
	if l.phase == Draining || l.pausedByUs {
		return nil
	}
	l.change(PhaseChange, l.phase.String(), Paused.String(), who, why)
	l.pausedByUs, l.paused = true, why
	l.settle()
	l.checkpoint("pause", nil)
	return nil
}

func (l *loop) resume(who string) error {
	if l.phase == Draining || !l.pausedByUs {
		return nil
	}
	l.change(PhaseChange, Paused.String(), Running.String(), who, "")
	l.pausedByUs, l.paused = false, ""
	l.settle()
	return nil
}

func (l *loop) stop(who, why string) error {
	if l.phase == Draining {
		if !l.finishing {
			l.change(PhaseChange, Draining.String(), "cut", who, why)
		}
		l.cutShort(why)
		return nil
	}
	l.change(PhaseChange, l.phase.String(), Draining.String(), who, why)
	l.ending, l.stopping = EndStopped, why
	l.setPhase(Draining)
	return nil
}

// cutShort ends what is in flight now; those sessions run again when the run is resumed.
func (l *loop) cutShort(why string) {
	if l.isCut || l.phase == Ended {
		return
	}
	l.isCut = true
	if l.ending == NotEnded {
		l.ending = EndStopped
	}
	if l.stopping == "" {
		l.stopping = why
	}
	l.setPhase(Draining) // first, so that nobody starts only to be cut
	l.cut(ErrCut)
	if l.finishing {
		l.last.Reset(lastWords)
	} else {
		l.last.Reset(patience)
	}
}

func (l *loop) change(what, old, next, who, why string) {
	c := ChangeRow{At: time.Now(), Cycle: l.number, What: what, Old: old, New: next, Who: who, Why: why}
	l.append(c, nil)
	l.show(c)
}

// show lists a change among the newest.
func (l *loop) show(c ChangeRow) {
	// Snapshots share the list: it is never written to.
	kept := l.changes[max(0, len(l.changes)-shownChanges+1):]
	l.changes = append(slices.Clip(kept), c)
}
