package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
	"github.com/throng-sim/throng/storage/sqlite/internal/lookup"
)

// expiryEvery is the interval at which expired runs and checkpoints are removed from the trash.
const expiryEvery = 24 * time.Hour

// Trash moves a run to the trash. It disappears from the list with all of its rows until it is restored, deleted, or
// [storage.TrashTime] is over. Its rows are not sent in the meantime. ErrInUse if it is in progress.
func (s *trash) Trash(ctx context.Context, run engine.RunID) error {
	key, err := s.key(ctx, run)
	if err == nil {
		err = s.putAway(ctx, run, key)
	}
	if err != nil {
		return fmt.Errorf("delete run %s: %w", run, err)
	}
	return nil
}

// putAway does not change a run that another process is deleting: a partial run must not come back.
func (s *trash) putAway(ctx context.Context, run engine.RunID, key int64) error {
	return s.guarded(ctx, run, func() error {
		return s.hide(`UPDATE runs SET hidden = ?, trashed = ? WHERE key = ? AND NOT hidden`, trashed, micros(s.options.Now()), key)
	})
}

// inTrash finds the run in the trash with an ID or prefix; ErrNotFound if there is none or more than one.
func (s *core) inTrash(ctx context.Context, id engine.RunID) (full engine.RunID, err error) {
	full, err = lookup.Run(ctx, s.file, lookup.ID, string(id), trashed)
	return full, file.Translate(err)
}

// TrashedRun returns a run in the trash, without its source files. id may be a prefix.
func (s *trash) TrashedRun(ctx context.Context, id engine.RunID) (r engine.RunRecord, err error) {
	full, err := s.inTrash(ctx, id)
	if err == nil {
		r, err = forList(scanRun(s.file.Row(ctx, `SELECT `+runColumns+` FROM runs WHERE id = ? AND hidden = ?`, string(full), trashed).Scan))
	}
	switch {
	case errors.As(err, new(*storage.AmbiguousError)):
		return r, err
	case err != nil:
		return r, fmt.Errorf("run %s in the trash: %w", id, err)
	}
	return r, nil
}

// TrashCheckpoints moves checkpoints to the trash. They are no longer listed and cannot be forked or resumed. Their memory
// and all other checkpoints stay. The errors are those of [Store.DeleteCheckpoints].
func (s *trash) TrashCheckpoints(ctx context.Context, run engine.RunID, numbers []int) error {
	key, err := s.checkNumbers(ctx, run, numbers)
	if err == nil {
		err = s.file.Write(func(tx file.Tx) error {
			if h, held := s.claims.Holder(run); held {
				return fmt.Errorf("%w: %s", engine.ErrInUse, h)
			}
			return tx.Exec(`UPDATE checkpoints SET trashed = ? WHERE run = ? AND number IN (`+list(numbers)+`)`, micros(s.options.Now()), key)
		})
	}
	if err != nil {
		return fmt.Errorf("delete checkpoints of run %s: %w", run, err)
	}
	return nil
}

// Restore restores a run from the trash, or with a number a checkpoint of a run; ErrNotFound if it is not in the trash.
func (s *trash) Restore(ctx context.Context, run engine.RunID, number int) (err error) {
	if number == 0 {
		err = s.change(`UPDATE runs SET hidden = 0, trashed = 0 WHERE id = ? AND hidden = ?`, string(run), trashed)
	} else {
		var key int64
		if key, err = s.key(ctx, run); err == nil {
			err = s.change(`UPDATE checkpoints SET trashed = 0 WHERE run = ? AND number = ? AND trashed > 0`, key, number)
		}
	}
	if err != nil {
		return fmt.Errorf("restore %s: %w", called(run, number), err)
	}
	return nil
}

// change updates a row of the trash; ErrNotFound if no row changed.
func (s *trash) change(update string, args ...any) error {
	return s.file.Write(func(tx file.Tx) error {
		n, err := tx.Changed(update, args...)
		if err == nil && n == 0 {
			err = fmt.Errorf("it is not in the trash: %w", engine.ErrNotFound)
		}
		return err
	})
}

// called names a run, or a checkpoint of it, in errors.
func called(run engine.RunID, number int) string {
	if number == 0 {
		return "run " + string(run)
	}
	return fmt.Sprintf("checkpoint %d of run %s", number, run)
}

// Trashed lists the contents of the trash with their sizes, newest first.
func (s *trash) Trashed(ctx context.Context) (all []storage.Trashed, err error) {
	type place struct {
		key int64
		storage.Trashed
	}
	var places []place
	for rows, err := range s.file.Query(ctx, `SELECT run, number, at FROM (
		SELECT key AS run, 0 AS number, trashed AS at FROM runs WHERE hidden = ? UNION ALL
		SELECT c.run, c.number, c.trashed FROM checkpoints c JOIN runs r ON r.key = c.run WHERE c.trashed > 0 AND NOT r.hidden
	) ORDER BY at DESC, run DESC, number DESC`, trashed) {
		var p place
		var at int64
		if err == nil {
			err = rows.Scan(&p.key, &p.Checkpoint, &at)
		}
		if err != nil {
			return nil, fmt.Errorf("list the trash: %w", err)
		}
		p.At = timeOf(at)
		places = append(places, p)
	}
	for _, p := range places {
		if p.Run, err = forList(scanRun(s.file.Row(ctx, `SELECT `+runColumns+` FROM runs WHERE key = ?`, p.key).Scan)); err == nil {
			p.Bytes, err = s.weighTrashed(ctx, p.key, p.Checkpoint)
		}
		if errors.Is(err, engine.ErrNotFound) { // it was removed in the meantime
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list the trash: %w", file.Translate(err))
		}
		all = append(all, p.Trashed)
	}
	return all, nil
}

func (s *trash) weighTrashed(ctx context.Context, key int64, number int) (int64, error) {
	if number == 0 {
		d, err := s.weigh(ctx, key)
		return d.Bytes, file.Translate(err)
	}
	return s.weighCheckpoints(ctx, key, list([]int{number}))
}

// DeleteTrashed deletes a run in the trash permanently, or with a number a checkpoint of a run. All others can still be
// restored. ErrNotFound if it is not in the trash, ErrInUse for a checkpoint of a run in progress.
func (s *trash) DeleteTrashed(ctx context.Context, run engine.RunID, number int) error {
	var err error
	if number == 0 {
		err = s.deleteTrashed(ctx, run)
	} else {
		err = s.deleteTrashedCheckpoint(ctx, run, number)
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", called(run, number), err)
	}
	return nil
}

// deleteTrashed needs no guard: runs in the trash cannot be claimed, and deleted runs cannot be restored.
func (s *trash) deleteTrashed(ctx context.Context, run engine.RunID) error {
	var key int64
	err := s.file.Row(ctx, `SELECT key FROM runs WHERE id = ?`, string(run)).Scan(&key)
	if err != nil {
		return file.Translate(err)
	}
	if err := s.change(`UPDATE runs SET hidden = ? WHERE key = ? AND hidden = ?`, deleted, key, trashed); err != nil {
		return err
	}
	return s.remove(ctx, key)
}

func (s *trash) deleteTrashedCheckpoint(ctx context.Context, run engine.RunID, number int) error {
	key, err := s.key(ctx, run)
	if err != nil {
		return err
	}
	going := fmt.Sprintf(`SELECT number FROM checkpoints WHERE run = ?1 AND number = %d AND trashed`, number)
	var there int
	if err := s.file.Row(ctx, `SELECT count(*) FROM (`+going+`)`, key).Scan(&there); err != nil {
		return file.Translate(err)
	}
	if there == 0 {
		return fmt.Errorf("it is not in the trash: %w", engine.ErrNotFound)
	}
	return s.removeCheckpoints(ctx, run, key, going)
}

// EmptyTrash permanently deletes everything that was moved to the trash up to a moment, and returns what it deleted. If ctx
// or the process ends first, the rest stays in the trash, and a deletion that began is completed when the store is opened
// again. Checkpoints of a run in progress stay in the trash.
func (s *trash) EmptyTrash(ctx context.Context, upTo time.Time) (gone []storage.Trashed, err error) {
	all, err := s.Trashed(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		if b.At.After(upTo) {
			continue
		}
		switch err := s.DeleteTrashed(ctx, b.Run.ID, b.Checkpoint); {
		case errors.Is(err, engine.ErrNotFound), errors.Is(err, engine.ErrInUse): // it was removed in the meantime, or is in use
		case err != nil:
			return gone, err
		default:
			gone = append(gone, b)
		}
	}
	return gone, nil
}

// tidy completes interrupted deletions, and then removes expired contents of the trash now and once a day.
func (s *Store) tidy(ctx context.Context) {
	s.finishDeleting(ctx)
	close(s.tidied)
	day := time.NewTicker(expiryEvery)
	defer day.Stop()
	for {
		s.expire(ctx)
		select {
		case <-ctx.Done():
			return
		case <-day.C:
		}
	}
}

func (s *trash) expire(ctx context.Context) {
	before := s.options.Now().Add(-storage.TrashTime)
	if old, err := s.old(ctx, before); err != nil || !old {
		s.trouble(ctx, err)
		return
	}
	err := s.file.Write(func(tx file.Tx) error {
		return tx.Exec(`UPDATE runs SET hidden = ? WHERE hidden = ? AND trashed <= ?`, deleted, trashed, micros(before))
	})
	if err == nil {
		s.removeHidden(ctx, deleted)       // without the lock of imports, so that no import has to wait
		_, err = s.EmptyTrash(ctx, before) // the checkpoints
	}
	s.trouble(ctx, err)
}

// old reports whether the trash has expired contents. Without any, the store is not written to.
func (s *trash) old(ctx context.Context, before time.Time) (is bool, err error) {
	err = s.file.Row(ctx, `SELECT EXISTS (SELECT 1 FROM runs WHERE hidden = ?1 AND trashed <= ?2)
		OR EXISTS (SELECT 1 FROM checkpoints WHERE trashed > 0 AND trashed <= ?2)`, trashed, micros(before)).Scan(&is)
	return is, file.Translate(err)
}

func (s *trash) trouble(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		s.options.Logger.Error("expired contents of the trash cannot be removed", "error", err)
	}
}
