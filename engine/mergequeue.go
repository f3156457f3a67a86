package engine

import "runtime"

// mergeQueueRoom is how many batches lie on the merge queue before workers wait until it is carried.
const mergeQueueRoom = 256

// mergeQueue is where workers lay what they finished before they wait or leave, so that sessions that end at about the same
// time wake the loop once. What lies on it is in the journal already. It is a channel, as workers that wait for a lock in
// their thousands cost the garbage collector the square of their number (Go 1.26, runtime.adjustsudogs).
type mergeQueue chan *Batch

func newMergeQueue() mergeQueue { return make(mergeQueue, mergeQueueRoom) }

// gather moves what lies on the merge queue, b and what follows, into one batch. over is the first that had no room there; nil is
// that the merge queue is empty. Those that gave what they had are free; a wide one takes it, so that few become large.
func (t mergeQueue) gather(b *Batch, free, wide *batches) (all, over *Batch) {
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
func (p *localPool) lay(b *Batch) {
	select {
	case p.mergeQueue <- b:
		return
	default:
	}
	select {
	case p.mergeQueue <- b:
	case <-p.abandoned:
	case <-p.done:
	}
}

// carry brings to the loop what is laid on the merge queue, in its order, until the run ends.
func (p *localPool) carry() {
	defer p.cfg.Rescue()
	for {
		select {
		case b := <-p.mergeQueue:
			runtime.Gosched() // sessions that end now come along
			for b != nil {
				all, over := p.mergeQueue.gather(b, &p.free, &p.wide)
				p.hand(all)
				b = over
			}
		case <-p.done:
			return
		}
	}
}

// hand gives a batch to the loop, unless that goes on without it.
func (p *localPool) hand(b *Batch) {
	select {
	case p.results <- b:
	case <-p.abandoned:
	case <-p.done:
	}
}
