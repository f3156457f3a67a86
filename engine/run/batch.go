package run

import (
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Batch carries finished sessions from a worker to the journal and then to the node, which recycles it. The steps and
// events of its rows are stored in slices of the batch. If each row kept its own slices, all of them would grow to the size
// of the longest session.
type Batch struct {
	next   *Batch             // next batch in the free list
	merged bool               // merged from several workers
	roomy  int                // how often in a row it had far more capacity than it needed
	rows   engine.SessionRows // of the ended sessions
	steps  []engine.StepRecord
	events []engine.Event

	BatchCounts
}

// BatchCounts holds the contents of a batch other than its rows.
type BatchCounts struct {
	Cut        int           // sessions that were cut
	CutAgents  []int32       // their agents
	CutAlone   string        // reason of the last cut if other sessions continue
	Departed   int           // workers that have left
	Probes     int           // how many of those were probes
	Unrecorded engine.Outlay // usage of the sessions that is not in the journal
	Queued     time.Duration // how long the journal took to queue the rows
	Handed     time.Duration // how long the node took to accept the previous batches
}

// NewBatch returns a batch of sessions that another process executed.
func NewBatch(rows engine.SessionRows, c BatchCounts) *Batch {
	return &Batch{rows: rows, BatchCounts: c}
}

// Rows returns the ended sessions. They are valid until the batch is recycled.
func (b *Batch) Rows() engine.SessionRows { return b.rows }

// add adds other counts.
func (c *BatchCounts) add(o *BatchCounts) {
	c.Cut, c.Departed, c.Probes = c.Cut+o.Cut, c.Departed+o.Departed, c.Probes+o.Probes
	c.Queued, c.Handed, c.Unrecorded = c.Queued+o.Queued, c.Handed+o.Handed, c.Unrecorded.Plus(o.Unrecorded)
	c.CutAgents = append(c.CutAgents, o.CutAgents...)
	if o.CutAlone != "" {
		c.CutAlone = o.CutAlone
	}
}

// add copies the row of an ended session.
func (b *Batch) add(r *engine.SessionRow) {
	b.rows = append(b.rows, *r)
	row := &b.rows[len(b.rows)-1]
	row.Steps, b.steps = appendPart(b.steps, r.Steps)
	row.Events, b.events = appendPart(b.events, r.Events)
}

// merge moves the contents of o to the end of b.
func (b *Batch) merge(o *Batch) {
	for i := range o.rows {
		b.add(&o.rows[i])
	}
	b.BatchCounts.add(&o.BatchCounts)
	o.reset()
}

// appendPart appends more to all. It returns the appended part and the grown slice.
func appendPart[T any](all, more []T) (kept, grown []T) {
	from := len(all)
	all = append(all, more...)
	return all[from:len(all):len(all)], all
}

// reset empties the batch for reuse.
func (b *Batch) reset() {
	roomy := 0
	if isRoomy(b.rows) || isRoomy(b.steps) || isRoomy(b.events) {
		roomy = b.roomy + 1
	}
	shrink := roomy == patience
	if shrink {
		roomy = 0
	}
	*b = Batch{merged: b.merged, roomy: roomy, rows: truncated(b.rows, shrink), steps: truncated(b.steps, shrink), events: truncated(b.events, shrink)}
}

const (
	// keptCapacity is the slice capacity that a batch may always keep.
	keptCapacity = 64
	// patience is how often in a row a batch may have far more capacity than it needs before it drops it.
	patience = 4
)

// isRoomy reports whether a slice has far more capacity than was needed this time.
func isRoomy[S ~[]T, T any](s S) bool { return len(s) > 0 && cap(s) > max(keptCapacity, 4*len(s)) }

// truncated returns the slice with length 0. If shrink is set, it does not keep far more capacity than was needed this time.
func truncated[S ~[]T, T any](s S, shrink bool) S {
	if shrink && isRoomy(s) {
		return nil
	}
	clear(s)
	return s[:0]
}

// freeList is a free list. It returns the newest batch first, so that only as many batches grow large as are in use
// together. The zero value is ready to use, and it is safe for concurrent use. Nothing is allocated under its lock: an
// allocation may have to assist the garbage collector, and all workers would wait for it.
type freeList struct {
	mu    sync.Mutex
	top   *Batch
	count int
}

// maxFreeBatches limits the free list. More batches are rarely in use together.
const maxFreeBatches = 256

func (s *freeList) get() *Batch {
	s.mu.Lock()
	b := s.top
	if b != nil {
		s.top, b.next = b.next, nil
		s.count--
	}
	s.mu.Unlock()
	if b == nil {
		return &Batch{}
	}
	return b
}

func (s *freeList) put(b *Batch) {
	b.reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count < maxFreeBatches {
		b.next, s.top = s.top, b
		s.count++
	}
}
