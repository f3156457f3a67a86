package engine

import "runtime"

// mergeQueueRoom is how many batches lie on the merge queue before workers wait until it is carried.
const mergeQueueRoom = 256

// mergeQueue is where workers lay what they finished before they wait or leave, so that sessions that end at about the same
// time wake the loop once. What lies on it is in the journal already. It is a channel, as workers that wait for a lock in
// their thousands cost the garbage collector the square of their number (Go 1.26, runtime.adjustsudogs).
type mergeQueue chan *batch

func newMergeQueue() mergeQueue { return make(mergeQueue, mergeQueueRoom) }

// gather moves what lies on the merge queue, b and what follows, into one batch. over is the first that had no room there; nil is
// that the merge queue is empty. Those that gave what they had are free; a wide one takes it, so that few become large.
func (t mergeQueue) gather(b *batch, free, wide *batches) (all, over *batch) {
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

// lay puts a batch on the merge queue, unless the loop goes on without it.
func (r *Run) lay(b *batch) {
	select {
	case r.mergeQueue <- b:
		return
	default:
	}
	select {
	case r.mergeQueue <- b:
	case <-r.abandoned:
	case <-r.done:
	}
}

// carry brings to the loop what is laid on the merge queue, in its order, until the run ends.
func (r *Run) carry() {
	defer r.rescue()
	for {
		select {
		case b := <-r.mergeQueue:
			runtime.Gosched() // sessions that end now come along
			for b != nil {
				all, over := r.mergeQueue.gather(b, &r.free, &r.wide)
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
