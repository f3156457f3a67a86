package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// Answers of private steps are removed from the store after their cycle is closed. Deleting their rows overwrites the pages
// of the file (secure_delete), but the write-ahead log contains the old pages until it is emptied.

// swept is called at the end of a maintenance task.
func (j *Journal) swept(done maintenance) {
	if _, ok := done.(*sweep); ok && j.private {
		j.private = !j.store.file.EmptyLog()
	}
}

const (
	// When a journal is closed while another process reads, emptying the log is tried scrubTries times, scrubWait apart.
	scrubTries = 40
	scrubWait  = 50 * time.Millisecond
)

// scrub empties the log at the end of the journal. Readers of other processes may prevent that for a while.
func (j *Journal) scrub() {
	for try := 0; j.private && try < scrubTries; try++ {
		if j.private = !j.store.file.EmptyLog(); !j.private {
			return
		}
		select {
		case <-time.After(scrubWait):
		case <-j.halt:
			return
		}
	}
	if j.private {
		j.store.options.Logger.Warn("answers of private steps stay in the log of the store until the processes that read it are closed", "run", j.id)
	}
}

// sweepClosed removes the requests of closed cycles that killed processes did not remove. No other process has the store
// open.
func (s *Store) sweepClosed() error {
	ctx := context.Background()
	left := map[int64]int{}
	for rows, err := range s.file.Query(ctx, `SELECT key, closed FROM (SELECT key, (SELECT max(cycle) FROM barriers WHERE run = runs.key) AS closed FROM runs WHERE hidden IN (0, ?))
		WHERE EXISTS (SELECT 1 FROM requests WHERE run = key AND kept = 0 AND cycle <= closed)`, trashed) {
		if err != nil {
			return err
		}
		var run int64
		var cycle int
		if err := rows.Scan(&run, &cycle); err != nil {
			return err
		}
		left[run] = cycle
	}
	for run, cycle := range left {
		if err := s.sweepRun(ctx, run, cycle); err != nil {
			return err
		}
	}
	if s.file.LogSize() > 0 { // it may contain the removed rows
		s.file.EmptyLog()
	}
	return nil
}

func (s *Store) sweepRun(ctx context.Context, run int64, cycle int) error {
	record, _, err := scanRun(s.file.Row(ctx, `SELECT `+runColumns+` FROM runs WHERE key = ?`, run).Scan)
	if errors.Is(err, ErrDamaged) || errors.Is(err, sql.ErrNoRows) || errors.Is(err, engine.ErrNotFound) {
		return nil // it is listed as damaged, and can be deleted
	}
	if err != nil {
		return err
	}
	j := &Journal{store: s, id: record.ID, run: run, queue: newQueue(&s.options), settings: record.Settings, encoder: blob.NewEncoder()}
	for left := maintenance(&sweep{journal: j, upTo: cycle}); left != nil; {
		was := left
		if err := s.file.Transact(func(tx file.Tx) (err error) {
			left, err = was.piece(tx)
			return err
		}); errors.Is(err, ErrDamaged) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}
