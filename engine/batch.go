package engine

import "sync"

// batch carries finished sessions from a worker to the journal and then to the loop, which gives it back. What its rows
// hold lies one behind another in slices of the batch: a row has no room of its own that would grow to the longest session.
type batch struct {
	rows   SessionRows // of the sessions that ended
	next   int         // rows in use
	steps  []StepRecord
	events []Event

	cut int // sessions that were cut
	// unpaid is why the last of these was cut, if that is for the budget
	unpaid string
	gone   bool // the worker has ended
	// probe says that the worker had one session only, to see how that goes.
	probe bool
}

// add copies the row of a session that ended.
func (b *batch) add(r *SessionRow) {
	if b.next == len(b.rows) {
		b.rows = append(b.rows, SessionRow{})
	}
	to := &b.rows[b.next]
	b.next++
	*to = *r
	to.Steps, b.steps = within(b.steps, r.Steps)
	to.Events, b.events = within(b.events, r.Events)
}

// within appends what is to be kept and returns where it lies.
func within[T any](all, more []T) (kept, grown []T) {
	from := len(all)
	all = append(all, more...)
	return all[from:len(all):len(all)], all
}

// reset empties the batch for the next who fills it.
func (b *batch) reset() {
	clear(b.rows[:b.next])
	clear(b.steps)
	clear(b.events)
	*b = batch{rows: b.rows, steps: b.steps[:0], events: b.events[:0]}
}

// batches are those that nobody uses. The one that came last goes first, so that no more of them are large than are
// needed at once. The zero value is ready; it is safe for concurrent use.
type batches struct {
	mu  sync.Mutex
	all []*batch
}

// mostBatches bounds how many lie there: more than that are rarely needed at once.
const mostBatches = 256

func (s *batches) take() *batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.all) - 1
	if last < 0 {
		return &batch{}
	}
	b := s.all[last]
	s.all[last], s.all = nil, s.all[:last]
	return b
}

func (s *batches) give(b *batch) {
	b.reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) < mostBatches {
		s.all = append(s.all, b)
	}
}
