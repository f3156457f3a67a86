package engine

import (
	"sync"
	"time"
)

// batch carries finished sessions from a worker to the journal and then to the loop, which gives it back. What its rows
// hold lies one behind another in slices of the batch: a row has no room of its own that would grow to the longest session.
type batch struct {
	next   *batch      // below it among those that nobody uses
	wide   bool        // it carries those of many workers
	rows   SessionRows // of the sessions that ended
	steps  []StepRecord
	events []Event

	cut int // sessions that were cut
	// unpaid is why the last of these was cut, if that is for the budget
	unpaid string
	gone   int // workers that have ended
	probes int // of these, such that had one session only, to see how that goes

	// queued is what the journal took to queue the rows, handed what the loop took to take the batches before.
	queued, handed time.Duration
}

// add copies the row of a session that ended.
func (b *batch) add(r *SessionRow) {
	b.rows = append(b.rows, *r)
	row := &b.rows[len(b.rows)-1]
	row.Steps, b.steps = within(b.steps, r.Steps)
	row.Events, b.events = within(b.events, r.Events)
}

// take moves what is in o to the end of b.
func (b *batch) take(o *batch) {
	for i := range o.rows {
		b.add(&o.rows[i])
	}
	b.cut, b.gone, b.probes = b.cut+o.cut, b.gone+o.gone, b.probes+o.probes
	b.queued, b.handed = b.queued+o.queued, b.handed+o.handed
	if o.unpaid != "" {
		b.unpaid = o.unpaid
	}
	o.reset()
}

// within appends what is to be kept and returns where it lies.
func within[T any](all, more []T) (kept, grown []T) {
	from := len(all)
	all = append(all, more...)
	return all[from:len(all):len(all)], all
}

// reset empties the batch for the next who fills it.
func (b *batch) reset() {
	*b = batch{wide: b.wide, rows: emptied(b.rows), steps: emptied(b.steps), events: emptied(b.events)}
}

// littleRoom is how much a batch may hold on to whatever it needed.
const littleRoom = 64

// emptied keeps the room of a slice, unless that is far more than was needed this time.
func emptied[S ~[]T, T any](s S) S {
	if len(s) > 0 && cap(s) > max(littleRoom, 4*len(s)) {
		return nil
	}
	clear(s)
	return s[:0]
}

// batches are those that nobody uses. The one that came last goes first, so that no more of them are large than are
// needed at once. The zero value is ready; it is safe for concurrent use. Nothing is allocated under its lock: whoever
// is made to help the garbage collector there would have all workers wait.
type batches struct {
	mu   sync.Mutex
	top  *batch
	many int
}

// mostBatches bounds how many lie there: more than that are rarely needed at once.
const mostBatches = 256

func (s *batches) take() *batch {
	s.mu.Lock()
	b := s.top
	if b != nil {
		s.top, b.next = b.next, nil
		s.many--
	}
	s.mu.Unlock()
	if b == nil {
		return &batch{}
	}
	return b
}

func (s *batches) give(b *batch) {
	b.reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.many < mostBatches {
		b.next, s.top = s.top, b
		s.many++
	}
}
