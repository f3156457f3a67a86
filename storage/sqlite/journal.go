package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// errClosed is returned by a journal or store that is closed.
var errClosed = fmt.Errorf("the journal is closed: %w", fs.ErrClosed)

// Journal writes the rows of one run. Rows are encoded by the goroutines that append them, except for the memory of a
// checkpoint: its values must not change afterwards ([engine.Memory.Apply] creates new ones).
//
// A checkpoint is written between the rows that follow it, so that sessions never wait for it. A Commit of only intents,
// answers (including those of the run itself) and sessions does not wait for checkpoints that were queued before it; every
// other Commit does.
type Journal struct {
	store    *Store
	id       engine.RunID
	run      int64
	settings engine.Settings
	base     int64 // the time that times in packs are relative to, in microseconds since 1970

	queue   *queue
	trouble chan error
	ended   chan struct{} // closed when the writer has ended
	halt    chan struct{} // closed to end the writer even if it cannot write
	halted  sync.Once
	stored  atomic.Int64 // growth of the store in bytes by this journal

	// Owned by the writer.
	encoder          *zstd.Encoder
	packs            packs
	inexact          *engine.Inexact // of the run so far
	number           int             // of the last checkpoint that was begun
	jobs             []*checkpointJob
	maintenances     []maintenance
	private          bool           // the write-ahead log may contain answers of private steps
	maintenanceAt    time.Time      // end of the last piece of maintenance
	maintenancePause time.Duration  // how long rows have priority after it
	waited           time.Duration  // for the disk, in the current iteration
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
		queue:   newQueue(&s.options), trouble: make(chan error, 1), ended: make(chan struct{}), halt: make(chan struct{}),
		encoder: blob.NewEncoder(),
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

// tidy removes the remains of an interrupted checkpoint and lists the pending maintenance.
func (j *Journal) tidy() error {
	var open int
	var checkpoint sql.NullInt64
	err := j.store.file.Write(func(tx file.Tx) error {
		if err := tx.Row(`SELECT coalesce(max(number), 0), max(cycle) FROM checkpoints WHERE run = ?`, j.run).Scan(&j.number, &checkpoint); err != nil {
			return err
		}
		if err := tx.Exec(`DELETE FROM checkpoint_memory WHERE run = ? AND number > ?`, j.run, j.number); err != nil {
			return err
		}
		err := tx.Row(`SELECT coalesce(max(cycle) + 1, 0), EXISTS (SELECT 1 FROM starts WHERE run = ?1) FROM barriers WHERE run = ?1`, j.run).Scan(&open, &j.private) // a run that began may have some
		j.private = (j.private || tx.Suspect()) && j.store.file.LogSize() > 0
		return err
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

// Append queues rows, which are committed within [Options.CommitEvery]. It waits while the queue is full. Rows that are
// appended to a closed journal are lost.
func (j *Journal) Append(rows ...engine.Row) {
	if _, err := j.enqueue(context.Background(), rows, false); err != nil {
		j.store.options.Logger.Error("rows were appended to a closed journal", "run", j.id, "rows", len(rows))
	}
}

// Commit queues rows and waits until they are durable. If ctx ends first, they may become durable later.
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
		case <-durable:
			return nil
		default:
			return j.queue.err()
		}
	}
}

// Trouble delivers an error that wraps ErrNoRoom when rows cannot be written, and nil when they can be written again. Until
// then they are kept in memory, in order.
func (j *Journal) Trouble() <-chan error { return j.trouble }

// Close writes the queued rows, finishes checkpoints and maintenance, and ends the journal. If ctx ends first, rows that could
// not be written are lost, and the error says how many.
func (j *Journal) Close(ctx context.Context) error {
	j.queue.close()
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

	lost, failure := j.queue.result()
	if failure != nil {
		return fmt.Errorf("close the journal of run %s: %w", j.id, failure)
	}
	if lost > 0 {
		return fmt.Errorf("close the journal of run %s: %d rows could not be written: %w", j.id, lost, errors.Join(engine.ErrNoRoom, err))
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
	if err := j.queue.push(ctx, b, wait); err != nil {
		return nil, err
	}
	return durable, nil
}

// report delivers the newest state to [Journal.Trouble]. Only the writer calls it.
func (j *Journal) report(err error) {
	select {
	case <-j.trouble: //nolint:errcheck // an older state
	default:
	}
	j.trouble <- err
}

// Stored returns the growth of the store by this journal, in bytes, a page of the store at least. It is safe for concurrent use.
func (j *Journal) Stored() int64 { return max(j.stored.Load(), file.PageSize) }
