package sqlite

import (
	"context"
	"sync"
	"time"
)

// maxQueued bounds the bytes of the encoded rows in a queue. They are written in one transaction, which extends the
// write-ahead log by as much.
const maxQueued = 32 << 20

// queue holds the encoded rows of a journal until its writer takes them, first in, first out. It is safe for concurrent use.
type queue struct {
	interval time.Duration // the longest time that rows wait while no caller waits for them
	most     int           // rows that are taken without waiting longer; the queue holds up to four times as many

	wake chan struct{} // holds a token when the writer has something to do

	mu          sync.Mutex // no memory is allocated while it is locked, because all workers may wait for it
	first, last *batch     // nil if the queue is empty
	rows, bytes int
	since       time.Time     // when the first row was queued
	urgent      bool          // a caller waits for the rows
	closing     bool          // no more rows are accepted
	room        chan struct{} // closed and replaced when the queue is taken
	lost        int           // rows that were not written when the writer ended
	failure     error         // why no more rows can be written; nil while they can
}

func newQueue(o *Options) *queue {
	return &queue{interval: o.CommitEvery, most: o.CommitRows, wake: make(chan struct{}, 1), room: make(chan struct{})}
}

// push appends a batch. It waits while the queue is full, until ctx ends. urgent is set if the caller waits for the batch.
func (q *queue) push(ctx context.Context, b *batch, urgent bool) error {
	q.mu.Lock()
	for !q.closing && q.rows > 0 && (q.rows+b.rows > 4*q.most || q.bytes+b.size() > maxQueued) {
		room := q.room
		q.mu.Unlock()
		q.rouse()
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		q.mu.Lock()
	}
	if q.closing {
		q.mu.Unlock()
		return q.err()
	}
	first := q.first == nil
	if first {
		q.since, q.first = time.Now(), b
	} else {
		q.last.next = b
	}
	q.last = b
	q.rows += b.rows
	q.bytes += b.size()
	q.urgent = q.urgent || urgent
	rouse := first || urgent || q.rows >= q.most
	q.mu.Unlock()
	if rouse {
		q.rouse()
	}
	return nil
}

// rouse wakes the writer.
func (q *queue) rouse() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns all batches and empties the queue if they are due. Otherwise it returns nil and when they will be.
func (q *queue) take() (due time.Duration, first *batch, closing bool) {
	room := make(chan struct{})
	q.mu.Lock()
	if q.first == nil {
		defer q.mu.Unlock()
		return time.Hour, nil, q.closing
	}
	due = q.interval - time.Since(q.since)
	if due > 0 && !q.urgent && !q.closing && q.rows < q.most {
		defer q.mu.Unlock()
		return due, nil, false
	}
	first, closing = q.first, q.closing
	q.lost = q.rows // until they are written
	q.first, q.last, q.rows, q.bytes, q.urgent = nil, nil, 0, 0, false
	q.room, room = room, q.room
	q.mu.Unlock()
	close(room) // without the lock, which the woken callers need
	return 0, first, closing
}

// written records that the batches which were taken are durable.
func (q *queue) written() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lost = 0
}

// pressed reports whether a caller waits for rows, and work that began at a time has delayed them for long enough.
func (q *queue) pressed(began time.Time) bool {
	if time.Since(began) < pieceTime {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.urgent
}

// close stops accepting rows.
func (q *queue) close() {
	q.mu.Lock()
	q.closing = true
	q.mu.Unlock()
	q.rouse()
}

// abandon stops accepting rows and counts those in the queue as lost.
func (q *queue) abandon() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closing = true
	q.lost += q.rows
	close(q.room) // callers that wait for room return an error
	q.room = make(chan struct{})
}

// fail sets the reason why no more rows can be written.
func (q *queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failure = err
}

// err returns why the queue accepts no rows.
func (q *queue) err() error {
	if _, failure := q.result(); failure != nil {
		return failure
	}
	return errClosed
}

// result returns the number of lost rows, and the failure if there was one.
func (q *queue) result() (lost int, failure error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost, q.failure
}
