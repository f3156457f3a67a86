package bus

import (
	"bytes"
	"sync"
	"time"
)

// orders are the newest orders of a coordinator. They are keys of a bucket, which workers read when they connect; workers that are
// connected receive what is written there. A beat of a worker tells which order it has, so that none stays lost.
type orders struct {
	publisher

	mu     sync.Mutex
	last   uint64
	newest map[string]order
}

func newOrders(p publisher) *orders {
	return &orders{publisher: p, newest: map[string]order{}}
}

func (o *orders) set(worker string, content []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = max(o.last+1, uint64(time.Now().UnixMicro())) // increases, also when the coordinator is restarted
	o.newest[worker] = order{max(o.last, o.newest[worker].revision+1), bytes.Clone(content)}
	o.write(worker)
}

// check writes the order again, if a worker has another one. A later one is of an earlier coordinator, whose clock was ahead.
func (o *orders) check(worker string, revision uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.newest[worker]
	if n.revision == 0 || n.revision == revision {
		return
	}
	if n.revision < revision {
		o.newest[worker] = order{revision + 1, n.content}
	}
	o.write(worker)
}

// writeAll writes all orders again, after the bucket was lost.
func (o *orders) writeAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for worker := range o.newest {
		o.write(worker)
	}
}

// write writes a worker's newest order. It does not ask for a confirmation: check is that. Lock is held.
func (o *orders) write(worker string) {
	if err := o.conn.Publish(o.names.order(worker), appendOrder(worker, o.newest[worker])); err != nil {
		o.log.Warn("fleet: an order could not be sent yet", "worker", worker, "error", err)
	}
}
