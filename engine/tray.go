package engine

import "runtime"

// trayRoom is how many batches lie on the tray before workers wait until it is carried.
const trayRoom = 256

// tray is where workers lay what they finished before they wait or leave, so that sessions that end at about the same
// time wake the loop once. What lies on it is in the journal already. It is a channel, as workers that wait for a lock in
// their thousands cost the garbage collector the square of their number (Go 1.26, runtime.adjustsudogs).
type tray chan *batch

func newTray() tray { return make(tray, trayRoom) }

// gather moves what lies on the tray, b and what follows, into one batch. over is the first that had no room there; nil is
// that the tray is empty. Those that gave what they had are free; a wide one takes it, so that few become large.
func (t tray) gather(b *batch, free, wide *batches) (all, over *batch) {
	for all = b; ; {
		select {
		case o := <-t:
			if len(all.rows)+len(o.rows) > batchRows {
				return all, o
			}
			if all == b {
				all = wide.take()
				all.wide = true
				all.take(b)
				free.give(b)
			}
			all.take(o)
			free.give(o)
		default:
			return all, nil
		}
	}
}

// lay puts a batch on the tray, unless the loop goes on without it.
func (r *Run) lay(b *batch) {
	select {
	case r.tray <- b:
		return
	default:
	}
	select {
	case r.tray <- b:
	case <-r.abandoned:
	case <-r.done:
	}
}

// carry brings to the loop what is laid on the tray, in its order, until the run ends.
func (r *Run) carry() {
	defer r.rescue()
	for {
		select {
		case b := <-r.tray:
			runtime.Gosched() // sessions that end now come along
			for b != nil {
				all, over := r.tray.gather(b, &r.free, &r.wide)
				r.hand(all)
				b = over
			}
		case <-r.done:
			return
		}
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

// spare takes back a batch that nobody uses any more.
func (r *Run) spare(b *batch) {
	if b.wide {
		r.wide.give(b)
	} else {
		r.free.give(b)
	}
}
