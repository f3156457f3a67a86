package sqlite

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// runTables are the tables with rows of runs, and what their rows weigh: the rows of a pack, or one.
var runTables = []struct{ name, key, weight, bytes string }{
	{"sessions", "pos", "count", "length(data)"},
	{"deltas", "pos", "count", "length(data)"},
	{"requests", "pos", "count", "length(data)"},
	{"metrics", "pos", "1", "length(data)"},
	{"shared", "pos", "1", "length(data)"},
	{"changes", "pos", "1", "100"},
	{"barriers", "pos", "1", "30"},
	{"starts", "pos", "1", "20"},
	{"checkpoints", "pos", "1", "length(state)"},
	{"checkpoint_memory", "id", "1", "length(data)"},
	{"outbox", "id", "1", "60"},
}

// Doomed returns what goes when a run is deleted.
func (s *Store) Doomed(ctx context.Context, run engine.RunID) (storage.Doomed, error) {
	d, err := s.doomed(ctx, run)
	if err != nil {
		err = fmt.Errorf("weigh run %s: %w", run, translate(err))
	}
	return d, err
}

func (s *Store) doomed(ctx context.Context, run engine.RunID) (d storage.Doomed, err error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return d, err
	}
	if err := s.reader.QueryRowContext(ctx, `SELECT done, events, (SELECT count(*) FROM checkpoints WHERE run = ?1),
		length(files) + coalesce(length(totals), 0) FROM runs WHERE key = ?1`, key).Scan(&d.Sessions, &d.Events, &d.Checkpoints, &d.Bytes); err != nil {
		return d, err
	}
	for _, t := range runTables {
		var n int64
		if err := s.reader.QueryRowContext(ctx, `SELECT coalesce(sum(`+t.bytes+`), 0) FROM `+t.name+` WHERE run = ?`, key).Scan(&n); err != nil {
			return d, err
		}
		d.Bytes += n
	}
	return d, nil
}

// Delete removes a run with everything that it has. ErrInUse if it is in progress. Once it has begun, the run is gone
// for everybody, and what is left of it is removed when the store is opened again, should ctx or the process end.
func (s *Store) Delete(ctx context.Context, run engine.RunID) error {
	if err := s.delete(ctx, run); err != nil {
		return fmt.Errorf("delete run %s: %w", run, err)
	}
	return nil
}

func (s *Store) delete(ctx context.Context, run engine.RunID) error {
	key, err := s.key(ctx, run)
	if err != nil {
		return err
	}
	inProgress := func() error {
		if h, held := s.holder(); held && h.Run == string(run) {
			return fmt.Errorf("%w: %s", engine.ErrInUse, h)
		}
		return nil
	}
	if err := inProgress(); err != nil {
		return err
	}
	if err := s.doom(key, true); err != nil {
		return err
	}
	// Whoever claims a run first says so and then looks whether the run is there; so either it sees that the run is
	// doomed, or it is seen here.
	if err := inProgress(); err != nil {
		if undo := s.doom(key, false); undo != nil {
			return undo
		}
		return err
	}
	return s.remove(ctx, key)
}

func (s *Store) doom(key int64, doomed bool) error {
	return s.write(func(tx txn) error {
		return tx.exec(`UPDATE runs SET doomed = ? WHERE key = ?`, doomed, key)
	})
}

// remove removes the rows of a doomed run, a chunk at a time.
func (s *Store) remove(ctx context.Context, key int64) error {
	for _, t := range runTables {
		query := `DELETE FROM ` + t.name + ` WHERE ` + t.key + ` IN (SELECT ` + t.key + ` FROM (SELECT ` + t.key +
			`, sum(` + t.weight + `) OVER (ROWS UNBOUNDED PRECEDING) - ` + t.weight + ` AS before FROM ` + t.name + ` WHERE run = ? LIMIT ?) WHERE before < ?)`
		for removed := int64(1); removed > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := s.write(func(tx txn) (err error) {
				removed, err = tx.remove(query, key, choreRows, choreRows)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	if err := s.write(func(tx txn) error {
		return tx.exec(`DELETE FROM runs WHERE key = ?`, key)
	}); err != nil {
		return err
	}
	return s.shrink(ctx)
}

// shrink gives free pages back to the system, a few at a time.
func (s *Store) shrink(ctx context.Context) error {
	for {
		var free int
		if err := s.reader.QueryRowContext(ctx, `PRAGMA freelist_count`).Scan(&free); err != nil {
			return translate(err)
		}
		if free == 0 {
			return nil
		}
		if err := s.write(func(tx txn) error {
			rows, err := tx.rows(`PRAGMA incremental_vacuum(2000)`)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() { // each step frees a page
			}
			return rows.Err()
		}); err != nil {
			return err
		}
	}
}

// finishDeleting removes what interrupted deletions left.
func (s *Store) finishDeleting(ctx context.Context) {
	var keys []int64
	for rows, err := range s.query(ctx, `SELECT key FROM runs WHERE doomed`) {
		var key int64
		if err == nil {
			err = rows.Scan(&key)
		}
		if err != nil {
			if ctx.Err() == nil {
				s.options.Logger.Error("finish deleting runs", "error", err)
			}
			return
		}
		keys = append(keys, key)
	}
	for _, key := range keys {
		if err := s.remove(ctx, key); err != nil && ctx.Err() == nil {
			s.options.Logger.Error("finish deleting runs", "error", err)
		}
	}
}
