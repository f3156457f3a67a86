package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/throng-sim/throng/engine"
)

// maxQueued bounds the encoded rows that wait to be written. They are one transaction, and make the write-ahead log so much
// longer.
const maxQueued = 32 << 20

// Journal writes the rows of one run. Rows are encoded by the goroutines that hand them over, except for the memory
// of a checkpoint: its values must not change afterwards ([engine.Memory.Apply] makes new ones).
//
// A checkpoint is written beside the flow of rows, so that sessions never wait for it: a Commit of nothing but
// intents, answers (also of the run itself) and sessions does not wait for checkpoints queued before, any other does.
type Journal struct {
	store    *Store
	id       engine.RunID
	run      int64
	settings engine.Settings
	base     int64 // microseconds; what times in packs count from

	trouble chan error
	wake    chan struct{} // holds one token when the writer has something to look at
	ended   chan struct{} // closed when the writer has ended
	halt    chan struct{} // closed to end the writer even if it cannot write
	halted  sync.Once

	mu      sync.Mutex // nothing is allocated under it: all workers may stand before it
	queue   *batch     // first in, first out; nil is none
	newest  *batch     // the last of them
	rows    int
	bytes   int
	since   time.Time     // when the first of them was queued
	urgent  bool          // somebody waits
	closing bool          // nothing more is queued
	room    chan struct{} // closed, and replaced, when the queue was taken
	lost    int           // rows that were not written when the writer ended
	failure error         // why nothing can be written any more; nil while it can

	stored atomic.Int64 // bytes that the store has grown by since the journal was opened

	// Owned by the writer.
	before           int64     // bytes in use in the store when the journal was opened
	measured         time.Time // when stored was brought up to date
	folder           *zstd.Encoder
	packs            packs
	inexact          *engine.Inexact // of the run so far
	number           int             // of the last checkpoint begun
	jobs             []*checkpointJob
	maintenances     []maintenance
	private          bool           // the write-ahead log may hold answers of private steps
	maintenanceAt    time.Time      // when a piece of one was done last
	waited           time.Duration  // for the disk, since it began what it is at
	maintenancePause time.Duration  // how long rows go first after it
	working          sync.WaitGroup // the goroutines that encode checkpoints
}

var _ engine.Journal = (*Journal)(nil)

// Journal opens the journal of a run for writing. The caller should have claimed the run.
func (s *Store) Journal(run engine.RunID) (*Journal, error) {
	ctx := context.Background()
	record, key, err := s.run(ctx, run)
	if err != nil {
		return nil, err
	}
	j := &Journal{
		store: s, id: record.ID, run: key, settings: record.Settings, base: time.Now().UnixMicro(),
		inexact: record.Inexact,
		trouble: make(chan error, 1), wake: make(chan struct{}, 1), ended: make(chan struct{}), halt: make(chan struct{}),
		room: make(chan struct{}), folder: newFolder(), private: size(s.path()+"-wal") > 0,
	}
	if err := j.tidy(); err != nil {
		return nil, fmt.Errorf("open the journal of run %s: %w", run, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	s.journals[j] = struct{}{}
	go j.write()
	return j, nil
}

// tidy removes what an interrupted checkpoint left and lists what growth has still to be undone.
func (j *Journal) tidy() error {
	var open int
	var checkpoint sql.NullInt64
	err := j.store.write(func(tx txn) (err error) {
		if j.before, _, err = inUse(tx); err != nil {
			return err
		}
		if err := tx.row(`SELECT coalesce(max(number), 0), max(cycle) FROM checkpoints WHERE run = ?`, j.run).Scan(&j.number, &checkpoint); err != nil {
			return err
		}
		if err := tx.exec(`DELETE FROM checkpoint_memory WHERE run = ? AND number > ?`, j.run, j.number); err != nil {
			return err
		}
		return tx.row(`SELECT coalesce(max(cycle) + 1, 0) FROM barriers WHERE run = ?`, j.run).Scan(&open)
	})
	if err != nil {
		return err
	}
	if open > 0 {
		j.maintenances = append(j.maintenances, &sweep{journal: j, upTo: open - 1})
	}
	if checkpoint.Valid {
		j.maintenances = append(j.maintenances, &dropDeltas{journal: j, below: int(checkpoint.Int64)}, prune{journal: j})
	}
	return nil
}

// Append queues rows, which are committed within [Options.CommitEvery]. It waits while the queue is full. Rows handed
// to a journal that is closed are lost.
func (j *Journal) Append(rows ...engine.Row) {
	if _, err := j.enqueue(context.Background(), rows, false); err != nil {
		j.store.options.Logger.Error("rows handed to a closed journal", "run", j.id, "rows", len(rows))
	}
}

// Commit queues rows and waits until they are durable. If ctx ends first, they may become so later.
func (j *Journal) Commit(ctx context.Context, rows ...engine.Row) error {
	durable, err := j.enqueue(ctx, rows, true)
	if err != nil {
		return err
	}
	select {
	case <-durable:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-j.ended:
		select {
		case <-durable: // at the last moment
			return nil
		default:
			return j.closed()
		}
	}
}

// closed is why the journal takes no rows.
func (j *Journal) closed() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failure != nil {
		return j.failure
	}
	return errClosed
}

// Trouble delivers an error when rows cannot be written, wrapping ErrNoRoom, and nil when they can again. Meanwhile
// they are kept in memory, in order.
func (j *Journal) Trouble() <-chan error { return j.trouble }

// Close writes what is queued, finishes checkpoints and the removal of what is not kept, and ends the journal. If ctx
// ends before, rows that could not be written are lost, and the error says how many.
func (j *Journal) Close(ctx context.Context) error {
	j.mu.Lock()
	j.closing = true
	j.mu.Unlock()
	j.rouse()
	var err error
	select {
	case <-j.ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
		j.halted.Do(func() { close(j.halt) })
		<-j.ended
	}
	j.store.mu.Lock()
	delete(j.store.journals, j)
	j.store.mu.Unlock()

	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failure != nil {
		return fmt.Errorf("close the journal of run %s: %w", j.id, j.failure)
	}
	if j.lost > 0 {
		return fmt.Errorf("close the journal of run %s: %d rows could not be written: %w", j.id, j.lost, errors.Join(engine.ErrNoRoom, err))
	}
	return nil
}

func (j *Journal) enqueue(ctx context.Context, rows []engine.Row, wait bool) (durable <-chan struct{}, err error) {
	b := batches.Get().(*batch)
	for _, r := range rows {
		b.add(r, j.base)
	}
	if wait {
		b.durable = make(chan struct{})
		durable = b.durable
		b.strict = b.strict || len(rows) == 0
	}
	j.mu.Lock()
	for !j.closing && j.rows > 0 && (j.rows+b.rows > 4*j.store.options.CommitRows || j.bytes+b.size() > maxQueued) {
		room := j.room
		j.mu.Unlock()
		j.rouse()
		select {
		case <-room:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		j.mu.Lock()
	}
	if j.closing {
		j.mu.Unlock()
		return nil, j.closed()
	}
	first := j.queue == nil
	if first {
		j.since, j.queue = time.Now(), b
	} else {
		j.newest.next = b
	}
	j.newest = b
	j.rows += b.rows
	j.bytes += b.size()
	j.urgent = j.urgent || wait
	rouse := first || wait || j.rows >= j.store.options.CommitRows
	j.mu.Unlock()
	if rouse {
		j.rouse()
	}
	return durable, nil
}

func (j *Journal) rouse() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// tell delivers the newest state of trouble; only the writer calls it.
func (j *Journal) tell(err error) {
	select {
	case <-j.trouble: //nolint:errcheck // older news
	default:
	}
	j.trouble <- err
}
