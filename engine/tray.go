package engine

import (
	"runtime"
	"sync"
)

// tray collects what workers finished before they wait or leave, so that sessions that end at about the same time wake
// the loop once. What is in it is in the journal already.
type tray struct {
	mu    sync.Mutex
	batch *batch
	bell  chan struct{} // rung when there is something in it
}

func newTray() tray { return tray{batch: &batch{}, bell: make(chan struct{}, 1)} }

// put moves what is in a batch to the tray. Where that would be too much for one batch, the caller gets what was in the
// tray, to hand it on, and must not use b again.
func (t *tray) put(b *batch) (over *batch) {
	t.mu.Lock()
	if len(t.batch.rows)+len(b.rows) > batchRows {
		over, t.batch = t.batch, b
	} else {
		t.batch.take(b)
	}
	t.mu.Unlock()
	select {
	case t.bell <- struct{}{}:
	default:
	}
	return over
}

// empty returns what is in the tray, which goes on with another batch.
func (t *tray) empty(next *batch) *batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.batch
	t.batch = next
	return b
}

// carry brings to the loop what is put into the tray, until the run ends. That a worker has ended comes after everything
// that it handed on: see [worker.leave].
func (r *Run) carry() {
	defer r.rescue()
	for {
		select {
		case <-r.tray.bell:
		case <-r.done:
			return
		}
		runtime.Gosched() // sessions that end now come along
		r.hand(r.tray.empty(r.free.take()))
	}
}

// hand gives a batch to the loop, unless that goes on without it.
func (r *Run) hand(b *batch) {
	select {
	case r.results <- b:
	case <-r.abandoned:
	case <-r.done:
	}
}
