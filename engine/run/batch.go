package run

import (
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Batch carries finished sessions from a worker to the journal and then to the node, which recycles it. The steps and events
// of its rows lie in slices of the batch: a row has no memory of its own, which would grow to that of the longest session.
type Batch struct {
	next   *Batch             // below it among those that nobody uses
	wide   bool               // it carries those of many workers
	rows   engine.SessionRows // of the sessions that ended
	steps  []engine.StepRecord
	events []engine.Event

	cut int // sessions that were cut
	// unpaid is why the last of these was cut, if that is for the budget
	unpaid string
	gone   int           // workers that have ended
	probes int           // of these, such that had one session only, to see how that goes
	beside engine.Outlay // what the sessions spent that the journal will not tell

	// queued is what the journal took to queue the rows, handed how long the node took to take the batches before.
	queued, handed time.Duration
}

// BatchCounts are what a batch says in addition to its rows.
type BatchCounts struct {
	Cut            int           // sessions that were cut
	Unpaid         string        // why the last of these was cut, if that is for the budget
	Gone           int           // workers that have left
	Probes         int           // of these, probes
	Beside         engine.Outlay // what the sessions spent that the journal will not tell
	Queued, Handed time.Duration
}

// NewBatch returns a batch of sessions that another process executed.
func NewBatch(rows engine.SessionRows, c BatchCounts) *Batch {
	return &Batch{
		rows: rows, cut: c.Cut, unpaid: c.Unpaid, gone: c.Gone, probes: c.Probes, beside: c.Beside, queued: c.Queued, handed: c.Handed,
	}
}

// Rows returns the sessions that ended. They are valid until the batch is recycled.
func (b *Batch) Rows() engine.SessionRows { return b.rows }

// Counts returns what the batch says in addition to its rows.
func (b *Batch) Counts() BatchCounts {
	return BatchCounts{b.cut, b.unpaid, b.gone, b.probes, b.beside, b.queued, b.handed}
}

// add copies the row of a session that ended.
func (b *Batch) add(r *engine.SessionRow) {
	b.rows = append(b.rows, *r)
	row := &b.rows[len(b.rows)-1]
	row.Steps, b.steps = within(b.steps, r.Steps)
	row.Events, b.events = within(b.events, r.Events)
}

// take moves what is in o to the end of b.
func (b *Batch) take(o *Batch) {
	for i := range o.rows {
		b.add(&o.rows[i])
	}
	b.cut, b.gone, b.probes = b.cut+o.cut, b.gone+o.gone, b.probes+o.probes
	b.queued, b.handed, b.beside = b.queued+o.queued, b.handed+o.handed, b.beside.Plus(o.beside)
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
func (b *Batch) reset() {
	*b = Batch{wide: b.wide, rows: emptied(b.rows), steps: emptied(b.steps), events: emptied(b.events)}
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
	top  *Batch
	many int
}

// mostBatches bounds how many lie there: more than that are rarely needed at once.
const mostBatches = 256

func (s *batches) take() *Batch {
	s.mu.Lock()
	b := s.top
	if b != nil {
		s.top, b.next = b.next, nil
		s.many--
	}
	s.mu.Unlock()
	if b == nil {
		return &Batch{}
	}
	return b
}

func (s *batches) give(b *Batch) {
	b.reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.many < mostBatches {
		b.next, s.top = s.top, b
		s.many++
	}
}
