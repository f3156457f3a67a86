package run

import (
	"context"

	"github.com/throng-sim/throng/engine"
)

// maxBacklog is how many rows may wait for the journal writer before further metrics rows are dropped.
const maxBacklog = 4096

// outgoingRow is a row for the journal writer.
type outgoingRow struct {
	writeRow
	ctx context.Context // limits the wait until the row is durable
}

// enqueue queues a row behind all earlier ones.
func (n *node) enqueue(w writeRow) {
	switch row := w.row.(type) {
	case engine.MetricsRow:
		if len(n.backlog) >= maxBacklog { // the disk has been in trouble for about an hour
			return
		}
	case engine.BarrierRow:
		if n.cfg.Mock != nil {
			row.Mock = n.cfg.Mock()
			w.row = row
		}
	}
	n.backlog = append(n.backlog, w)
}

// outgoing returns the next journal row and the writer's channel, or a nil channel if the queue is empty.
func (n *node) outgoing() (chan<- outgoingRow, outgoingRow) {
	if len(n.backlog) == 0 {
		return nil, outgoingRow{}
	}
	next := outgoingRow{n.backlog[0], n.ctx}
	if next.ticket.kind == endTicket {
		next.ctx = n.endCtx
	}
	return n.journalWriter, next
}

// rowSent removes the row that the writer has received.
func (n *node) rowSent() {
	if t := n.pop(); t.kind == checkpointTicket {
		n.step(rowSent{t})
	}
}

func (n *node) pop() ticket {
	t := n.backlog[0].ticket
	n.backlog[0] = writeRow{}
	if n.backlog = n.backlog[1:]; len(n.backlog) == 0 {
		n.backlog = nil
	}
	return t
}

// write journals rows one by one, in order, until the run ends. The node therefore never waits for a full queue or a slow
// disk, and a checkpoint never overtakes a barrier.
func (n *node) write() {
	defer n.r.rescue()
	for next := range n.journalWriter {
		var err error
		if next.ticket.needsCommit() {
			err = n.r.journal.Commit(next.ctx, next.row)
		} else {
			n.r.journal.Append(next.row)
		}
		if next.ticket.kind != noTicket {
			n.r.mail.post(rowWritten{next.ticket, err})
		}
	}
}

// background runs work in a new goroutine and then sends an event to the node.
func (n *node) background(work func(), then event) {
	go func() {
		defer n.r.rescue()
		work()
		n.r.mail.post(then)
	}()
}
