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

// Answers of private steps leave the store once their cycle is closed. Removing their rows overwrites the pages of the file
// (secure_delete), but the write-ahead log has the pages as they were until it is emptied.

// swept is called when a maintenance task is done.
func (j *Journal) swept(done maintenance) {
	if _, ok := done.(*sweep); ok && j.private {
		j.private = !j.store.file.EmptyLog()
	}
}

const (
	// scrubTries is how often, and scrubWait how long apart, the log is tried to be emptied when a journal is closed while
	// another process reads.
	scrubTries = 40
	scrubWait  = 50 * time.Millisecond
)

// scrub empties the log at the journal's end. Readers of another process may keep it from that for a while.
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

// sweepClosed removes what processes left that were killed between the end of a cycle and the removal of its requests. The
// caller has the store for itself.
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
	if s.file.LogSize() > 0 { // what was removed may be in there, by the process that was killed too
		s.file.EmptyLog()
	}
	return nil
}

func (s *Store) sweepRun(ctx context.Context, run int64, cycle int) error {
	record, _, err := scanRun(s.file.Row(ctx, `SELECT `+runColumns+` FROM runs WHERE key = ?`, run).Scan)
	if errors.Is(err, ErrDamaged) || errors.Is(err, sql.ErrNoRows) || errors.Is(err, engine.ErrNotFound) {
		return nil // it is shown as damaged, and can be deleted
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
