package run

import "runtime"

// mergeQueueRoom is how many batches the merge queue holds before workers wait.
const mergeQueueRoom = 256

// mergeQueue collects the batches of workers that wait or leave, so that sessions that end at about the same time wake the
// node once. Its batches are in the journal already. It is a channel because thousands of workers that wait for a lock cost
// the garbage collector the square of their number (Go 1.26, runtime.adjustsudogs).
type mergeQueue chan *Batch

func newMergeQueue() mergeQueue { return make(mergeQueue, mergeQueueRoom) }

// gather merges b and what is on the merge queue into one batch. over is the first batch that did not fit, nil if the queue is
// empty. The merged batch comes from the wide ones, so that few batches grow; the emptied ones are free again.
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

// lay puts a batch on the merge queue, unless its worker was abandoned.
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

// carry delivers what is on the merge queue, in order, until the pool is closed.
func (p *localPool) carry() {
	defer p.cfg.Rescue()
	for {
		select {
		case b := <-p.mergeQueue:
			runtime.Gosched() // so that sessions that end now are in it
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

// hand delivers a batch, unless its worker was abandoned.
func (p *localPool) hand(b *Batch) {
	select {
	case p.results <- b:
	case <-p.abandoned:
	case <-p.done:
	}
}
