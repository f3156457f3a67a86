package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// spare selects the memory that no checkpoint of a run needs without the checkpoints going: rows for which the agent has a
// later one up to the next remaining checkpoint. ?1 is the run. The checkpoints in going may still exist.
func spare(going string) string {
	return ` FROM checkpoint_memory o WHERE o.run = ?1 AND EXISTS (SELECT 1 FROM checkpoint_memory n
		WHERE n.run = o.run AND n.agent = o.agent AND n.number > o.number AND n.number <=
			(SELECT min(number) FROM checkpoints WHERE run = o.run AND number >= o.number AND number NOT IN (` + going + `)))`
}

// WeighCheckpoints returns the number of bytes that deleting checkpoints of a run would free. Memory that later checkpoints
// need is not counted.
func (s *checkpoints) WeighCheckpoints(ctx context.Context, run engine.RunID, numbers []int) (bytes int64, err error) {
	key, err := s.checkNumbers(ctx, run, numbers)
	if err == nil {
		bytes, err = s.weighCheckpoints(ctx, key, list(numbers))
	}
	if err != nil {
		return 0, fmt.Errorf("measure checkpoints of run %s: %w", run, err)
	}
	return bytes, nil
}

func (s *checkpoints) weighCheckpoints(ctx context.Context, key int64, going string) (bytes int64, err error) {
	err = s.file.Row(ctx, `SELECT (SELECT coalesce(sum(length(state)), 0) FROM checkpoints
		WHERE run = ?1 AND number IN (`+going+`)) + (SELECT coalesce(sum(length(data)), 0)`+spare(going)+`)`, key).Scan(&bytes)
	return bytes, file.Translate(err)
}

// DeleteCheckpoints deletes checkpoints of a run. All others can still be restored. ErrInUse if the run is in progress,
// ErrNotFound if a checkpoint does not exist, a *engine.FieldError if one is the newest, from which the run resumes. If ctx
// or the process ends before unneeded memory is removed, the next deletion removes it.
func (s *checkpoints) DeleteCheckpoints(ctx context.Context, run engine.RunID, numbers []int) error {
	key, err := s.checkNumbers(ctx, run, numbers)
	if err == nil {
		err = s.removeCheckpoints(ctx, run, key, list(numbers))
	}
	if err != nil {
		return fmt.Errorf("delete checkpoints of run %s: %w", run, err)
	}
	return nil
}

func (s *checkpoints) removeCheckpoints(ctx context.Context, run engine.RunID, key int64, going string) error {
	if err := s.dropCheckpoints(run, key, going); err != nil {
		return err
	}
	if err := s.dropSpare(ctx, key); err != nil {
		return err
	}
	return s.shrink(ctx)
}

func (s *checkpoints) dropCheckpoints(run engine.RunID, key int64, going string) error {
	return s.file.Write(func(tx file.Tx) error {
		// A run that is claimed after this check writes nothing before the transaction ends.
		if h, held := s.claims.Holder(run); held {
			return fmt.Errorf("%w: %s", engine.ErrInUse, h)
		}
		const lighter = `UPDATE runs SET checkpoint_bytes = checkpoint_bytes -
			(SELECT coalesce(sum(length(state)), 0) FROM checkpoints WHERE run = ?1 AND number IN (%s)) WHERE key = ?1`
		if err := tx.Exec(fmt.Sprintf(lighter, going), key); err != nil {
			return err
		}
		return tx.Exec(`DELETE FROM checkpoints WHERE run = ? AND number IN (`+going+`)`, key)
	})
}

// dropSpare removes memory that no checkpoint of a run needs, in chunks.
func (s *checkpoints) dropSpare(ctx context.Context, key int64) error {
	for last, more := int64(0), true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.file.Write(func(tx file.Tx) error {
			var upTo, rows, bytes int64
			err := tx.Row(`SELECT coalesce(max(id), 0), count(*), coalesce(sum(bytes), 0) FROM (SELECT id, length(data) AS bytes,
				sum(length(data)) OVER (ORDER BY o.id ROWS UNBOUNDED PRECEDING) AS upto`+spare("")+` AND o.id > ?2 ORDER BY o.id LIMIT ?3)
				WHERE upto - bytes < ?4`, key, last, maintenanceRows, removedBytes).Scan(&upTo, &rows, &bytes)
			if more = err == nil && rows > 0; !more {
				return err
			}
			if err := tx.Exec(`DELETE FROM checkpoint_memory WHERE id IN (SELECT o.id`+spare("")+` AND o.id > ?2 AND o.id <= ?3)`, key, last, upTo); err != nil {
				return err
			}
			last = upTo
			return tx.Exec(`UPDATE runs SET checkpoint_bytes = checkpoint_bytes - ? WHERE key = ?`, bytes, key)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkNumbers returns the key of the run if all checkpoints exist and none is the newest.
func (s *checkpoints) checkNumbers(ctx context.Context, run engine.RunID, numbers []int) (key int64, err error) {
	key, err = s.key(ctx, run)
	if err != nil {
		return 0, err
	}
	all, err := s.listCheckpoints(ctx, run, key, `number > ? AND NOT trashed`, 0)
	if err != nil {
		return 0, err
	}
	for _, n := range numbers {
		i := slices.IndexFunc(all, func(c engine.CheckpointRecord) bool { return c.Number == n })
		if i < 0 {
			return 0, fmt.Errorf("checkpoint %d: %w", n, engine.ErrNotFound)
		}
		if all[i].Newest {
			return 0, &engine.FieldError{
				Field: "checkpoint", Problem: fmt.Sprintf("%d is the newest, from which the run resumes", n), Hint: "delete the run instead",
			}
		}
	}
	return key, nil
}

// list formats numbers as an SQL list.
func list(numbers []int) string {
	var text []byte
	for i, n := range numbers {
		if i > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, "%d", n)
	}
	return string(text)
}
