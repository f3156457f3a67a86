package sqlite

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
	"github.com/throng-sim/throng/storage/sqlite/internal/lock"
)

// runTables are the tables with rows of runs, with the SQL for the size of a row.
var runTables = []struct{ name, key, bytes string }{
	{"sessions", "pos", "length(data)"},
	{"deltas", "pos", "length(data)"},
	{"requests", "pos", "length(data)"},
	{"metrics", "pos", "length(data)"},
	{"exchanges", "id", "length(data)"},
	{"shared", "pos", "length(data)"},
	{"changes", "pos", "100"},
	{"barriers", "pos", "30"},
	{"starts", "pos", "20"},
	{"unconfirmed", "pos", "100"},
	{"checkpoints", "pos", "length(state)"},
	{"checkpoint_memory", "id", "length(data)"},
	{"outbox", "id", "60"},
	{"contents", "id", "100"},
}

// removedBytes bounds the size of the rows that one transaction of a deletion removes, apart from the last: other processes wait for it.
const removedBytes = 4 << 20

// Values of the column hidden, for runs that are not listed.
const (
	deleted  = 1 // being removed
	arriving = 2 // being imported
	trashed  = 3 // in the trash, complete
)

// Deletion returns what is lost when a run is deleted.
func (s *removal) Deletion(ctx context.Context, run engine.RunID) (view.Footprint, error) {
	d, err := s.deletion(ctx, run)
	if err != nil {
		err = fmt.Errorf("measure run %s: %w", run, file.Translate(err))
	}
	return d, err
}

func (s *removal) deletion(ctx context.Context, run engine.RunID) (d view.Footprint, err error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return d, err
	}
	return s.weigh(ctx, key)
}

func (s *removal) weigh(ctx context.Context, key int64) (d view.Footprint, err error) {
	if err := s.file.Row(ctx, `SELECT iif(fetched IS NULL, done, 0), events, (SELECT count(*) FROM checkpoints WHERE run = ?1),
		length(files) + coalesce(length(totals), 0) FROM runs WHERE key = ?1`, key).Scan(&d.Sessions, &d.Events, &d.Checkpoints, &d.Bytes); err != nil {
		return d, err
	}
	for _, t := range runTables {
		var n int64
		if err := s.file.Row(ctx, `SELECT coalesce(sum(`+t.bytes+`), 0) FROM `+t.name+` WHERE run = ?`, key).Scan(&n); err != nil {
			return d, err
		}
		d.Bytes += n
	}
	d.Sendings, err = s.sendings(ctx, key)
	return d, err
}

// Delete removes a run immediately, without the trash. ErrInUse if the run is in progress. The run disappears at the start
// of the deletion. If ctx or the process ends first, the remaining rows are removed when the store is opened again.
func (s *removal) Delete(ctx context.Context, run engine.RunID) error {
	if err := s.delete(ctx, run); err != nil {
		return fmt.Errorf("delete run %s: %w", run, err)
	}
	return nil
}

func (s *removal) delete(ctx context.Context, run engine.RunID) error {
	key, err := s.key(ctx, run)
	if err != nil {
		return err
	}
	hide := func() error {
		return s.hide(`UPDATE runs SET hidden = ? WHERE key = ? AND NOT hidden`, deleted, key)
	}
	if err := s.guarded(ctx, run, hide); err != nil {
		return err
	}
	return s.remove(ctx, key)
}

// guarded hides a run, unless it is in progress. It cannot be claimed meanwhile.
func (s *removal) guarded(ctx context.Context, run engine.RunID, hide func() error) error {
	if err := s.file.ReadOnly(); err != nil {
		return err
	}
	release, err := s.claims.Block(ctx, run)
	if err != nil {
		return err
	}
	defer release()
	if id := s.claims.Queued()[run]; id != "" {
		return fmt.Errorf("%w: it waits in the queue as %s, where it can be canceled", engine.ErrInUse, id)
	}
	return hide()
}

// hide hides a run; ErrNotFound if no row changed.
func (s *removal) hide(update string, args ...any) error {
	return s.file.Write(func(tx file.Tx) error {
		n, err := tx.Changed(update, args...)
		if err == nil && n == 0 {
			err = engine.ErrNotFound
		}
		return err
	})
}

// remove removes the rows of a deleted run in chunks.
func (s *removal) remove(ctx context.Context, key int64) error {
	for _, t := range runTables {
		query := `DELETE FROM ` + t.name + ` WHERE ` + t.key + ` IN (SELECT ` + t.key + ` FROM (SELECT ` + t.key +
			`, sum(` + t.bytes + `) OVER (ROWS UNBOUNDED PRECEDING) - ` + t.bytes + ` AS before FROM ` + t.name + ` WHERE run = ? LIMIT ?) WHERE before < ?)`
		for removed := int64(1); removed > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := s.file.Write(func(tx file.Tx) (err error) {
				removed, err = tx.Changed(query, key, maintenanceRows, removedBytes)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	if err := s.file.Write(func(tx file.Tx) error {
		return tx.Exec(`DELETE FROM runs WHERE key = ?`, key)
	}); err != nil {
		return err
	}
	return s.shrink(ctx)
}

// shrink returns free pages to the file system, a few at a time.
func (s *removal) shrink(ctx context.Context) error {
	for {
		var free int
		if err := s.file.Row(ctx, `PRAGMA freelist_count`).Scan(&free); err != nil {
			return file.Translate(err)
		}
		if free == 0 {
			s.file.EmptyLog() // it contains the removed rows
			return nil
		}
		if err := s.file.Write(func(tx file.Tx) error {
			rows, err := tx.Rows(`PRAGMA incremental_vacuum(2000)`)
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

// finishDeleting completes interrupted deletions and removes the remains of interrupted imports.
func (s *imports) finishDeleting(ctx context.Context) {
	upTo := deleted
	if lock, err := lock.Take(s.importsLock()); err == nil && lock != nil {
		defer func() { _ = lock.Close() }()
		upTo = arriving
	}
	s.removeHidden(ctx, upTo)
}

// removeHidden removes deleted runs; if upTo is arriving, also runs that are being imported.
func (s *removal) removeHidden(ctx context.Context, upTo int) {
	type left struct {
		key    int64
		run    engine.RunID
		hidden int
	}
	var all []left
	for rows, err := range s.file.Query(ctx, `SELECT key, id, hidden FROM runs WHERE hidden BETWEEN ? AND ?`, deleted, upTo) {
		var l left
		if err == nil {
			err = rows.Scan(&l.key, (*string)(&l.run), &l.hidden)
		}
		if err != nil {
			if ctx.Err() == nil {
				s.options.Logger.Error("interrupted deletions cannot be completed", "error", err)
			}
			return
		}
		all = append(all, l)
	}
	for _, l := range all {
		if l.hidden == deleted && s.options.OnGone != nil { // before the removal: if the process ends, it is called again
			s.options.OnGone(l.run)
		}
		if err := s.remove(ctx, l.key); err != nil && ctx.Err() == nil {
			s.options.Logger.Error("interrupted deletions cannot be completed", "error", err)
		}
	}
}
