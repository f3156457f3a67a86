package run

import "runtime"

// mergeQueueSize is how many batches the merge queue holds before workers wait.
const mergeQueueSize = 256

// mergeQueue collects finished batches so that sessions ending together wake the node once. The batches are already in the
// journal. It is a channel and not a lock because a lock with thousands of waiting workers costs the garbage collector time
// quadratic in their number (Go 1.26, runtime.adjustsudogs).
type mergeQueue chan *Batch

func newMergeQueue() mergeQueue { return make(mergeQueue, mergeQueueSize) }

// merge returns b and the queued batches as one batch. overflow is the first batch that did not fit, or nil if the queue is
// empty. The merged batch comes from large so that only a few batches grow large. The emptied batches return to free.
func (q mergeQueue) merge(b *Batch, free, large *freeList) (all, overflow *Batch) {
	for all = b; ; {
		select {
		case o := <-q:
			if len(all.rows)+len(o.rows) > batchRows {
				return all, o
			}
			if all == b {
				all = large.get()
				all.merged = true
				all.merge(b)
				free.put(b)
			}
			all.merge(o)
			free.put(o)
		default:
			return all, nil
		}
	}
}

// enqueue puts a batch on the merge queue, unless the workers were abandoned.
func (p *localPool) enqueue(b *Batch) {
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

// deliverMerged delivers merged batches in order until the pool is closed.
func (p *localPool) deliverMerged() {
	defer p.cfg.Rescue()
	for {
		select {
		case b := <-p.mergeQueue:
			runtime.Gosched() // give sessions that end now a chance to join
			for b != nil {
				all, overflow := p.mergeQueue.merge(b, &p.free, &p.merged)
				p.deliver(all)
				b = overflow
			}
		case <-p.done:
			return
		}
	}
}

// deliver delivers a batch, unless the workers were abandoned.
func (p *localPool) deliver(b *Batch) {
	select {
	case p.results <- b:
	case <-p.abandoned:
	case <-p.done:
	}
}
