package engine

import "runtime"

// trayRoom is how many batches lie on the tray before workers wait until it is carried.
const trayRoom = 256

// tray is where workers lay what they finished before they wait or leave, so that sessions that end at about the same
// time wake the loop once. What lies on it is in the journal already. It is a channel, as workers that wait for a lock in
// their thousands cost the garbage collector the square of their number (Go 1.26, runtime.adjustsudogs).
type tray chan *batch

func newTray() tray { return make(tray, trayRoom) }

// more moves what lies on the tray to the end of b. over is the first batch that had no room there; nil is that the tray
// is empty.
func (t tray) more(b *batch, free *batches) (over *batch) {
	for {
		select {
		case o := <-t:
			if len(b.rows)+len(o.rows) > batchRows {
				return o
			}
			b.take(o)
			free.give(o)
		default:
			return nil
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
				over := r.tray.more(b, &r.free)
				r.hand(b)
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
