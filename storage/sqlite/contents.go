package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

const (
	// contentsBytes bounds what is sent in one statement of what a checkpoint restores, but for its last part.
	contentsBytes = 512 << 10
	// contentsRows bounds how many parts that is.
	contentsRows = 2000
)

// Log reads the mock shop's log of a run: whole records from a byte on, about most bytes of them, which will not change
// any more; nothing where there is no log, or no more of it.
type Log func(from int64, most int) ([]byte, error)

// SubscribeContents has what a run's checkpoints restore sent to target, or no more of it.
func (s *outbox) SubscribeContents(ctx context.Context, run engine.RunID, target string, wanted bool) error {
	key, err := s.key(ctx, run)
	if err != nil {
		return err
	}
	return s.file.Write(func(tx file.Tx) error {
		return tx.Exec(`INSERT INTO contents (run, target, wanted) SELECT key, ?, ? FROM runs WHERE key = ? AND NOT hidden
			ON CONFLICT (target, run) DO UPDATE SET wanted = excluded.wanted`, target, wanted, key)
	})
}

// keptThere lists the kept checkpoints of a run up to the one that was sent last, oldest first.
const keptThere = `(SELECT coalesce(group_concat(number), '') FROM (SELECT number FROM checkpoints WHERE run = c.run AND number <= c.checkpoint ORDER BY number))`

// Incomplete returns the runs of which target lacks what checkpoints restore, or has what was pruned since; newest first.
func (s *outbox) Incomplete(ctx context.Context, target string) (runs []engine.RunID, err error) {
	for rows, err := range s.file.Query(ctx, `SELECT r.id FROM contents c JOIN runs r ON r.key = c.run
		WHERE c.target = ? AND c.wanted AND NOT r.hidden AND (c.kept <> `+keptThere+`
			OR EXISTS (SELECT 1 FROM checkpoints WHERE run = c.run AND number > c.checkpoint))
		ORDER BY r.created DESC, r.key DESC`, target) {
		if err != nil {
			return nil, fmt.Errorf("checkpoints that %s lacks: %w", target, err)
		}
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("checkpoints that %s lacks: %w", target, err)
		}
		runs = append(runs, engine.RunID(id))
	}
	return runs, nil
}

// ContentsSent says that target has what a cursor stands for. A cursor never moves back: two processes may send a run.
func (s *outbox) ContentsSent(ctx context.Context, run engine.RunID, target string, to storage.ContentsCursor) error {
	key, err := s.key(ctx, run)
	if err != nil {
		return err
	}
	return s.file.Write(func(tx file.Tx) error {
		return tx.Exec(`UPDATE contents SET source = max(source, ?1), answers = max(answers, ?2), memory = max(memory, ?3), log = max(log, ?4),
			kept = iif(checkpoint > ?5, kept, ?6), checkpoint = max(checkpoint, ?5) WHERE target = ?7 AND run = ?8`,
			to.Source, to.Answers, to.Memory, to.Log, to.Checkpoint, to.Kept, target, key)
	})
}

// Contents returns what is to be sent next of what a run's checkpoints restore, behind after, or behind what target has
// confirmed where that is nil; nil where nothing is. A checkpoint's own part comes when all that it needs is there. Its
// reads are short. ErrNotFound if the run is not subscribed to target.
func (s *outbox) Contents(ctx context.Context, run engine.RunID, target string, after *storage.ContentsCursor, log Log) (*storage.Contents, error) {
	c := &contents{store: s, ctx: ctx, log: log}
	out, err := c.next(run, target, after)
	if err != nil {
		return nil, fmt.Errorf("what the checkpoints of run %s restore: %w", run, err)
	}
	return out, nil
}

// contents is what is to be sent next, being put together for the oldest checkpoint that is not sent yet.
type contents struct {
	store *outbox
	ctx   context.Context
	log   Log

	run    int64
	number int   // of the checkpoint
	pos    int64 // its place in the journal
	out    storage.Contents
}

func (c *contents) next(run engine.RunID, target string, after *storage.ContentsCursor) (*storage.Contents, error) {
	at := &c.out.Cursor
	err := c.store.file.Row(c.ctx, `SELECT c.run, c.source, c.answers, c.memory, c.log, c.checkpoint, c.kept FROM contents c
		JOIN runs r ON r.key = c.run WHERE r.id = ? AND NOT r.hidden AND c.target = ?`, string(run), target).
		Scan(&c.run, &at.Source, &at.Answers, &at.Memory, &at.Log, &at.Checkpoint, &at.Kept)
	if err != nil {
		return nil, file.Translate(err)
	}
	if after != nil {
		*at = *after
	}
	for {
		err := c.store.file.Row(c.ctx, `SELECT number, pos FROM checkpoints WHERE run = ? AND number > ? ORDER BY number LIMIT 1`,
			c.run, at.Checkpoint).Scan(&c.number, &c.pos)
		if errors.Is(err, sql.ErrNoRows) {
			return c.pruned()
		}
		if err != nil {
			return nil, file.Translate(err)
		}
		for _, read := range []func() error{c.source, c.answers, c.memory, c.logged, c.state} {
			if err := read(); err != nil {
				return nil, err
			}
			if len(c.out.Parts) > 0 {
				return &c.out, nil
			}
		}
		at.Checkpoint = c.number // it was pruned meanwhile
	}
}

// pruned tells which checkpoints are left, if that is new.
func (c *contents) pruned() (*storage.Contents, error) {
	kept := []int{}
	text := ""
	for rows, err := range c.store.file.Query(c.ctx, `SELECT number FROM checkpoints WHERE run = ? AND number <= ? ORDER BY number`, c.run, c.out.Cursor.Checkpoint) {
		if err != nil {
			return nil, err
		}
		var number int
		if err := rows.Scan(&number); err != nil {
			return nil, err
		}
		kept = append(kept, number)
		text = listed(text, number)
	}
	if text == c.out.Cursor.Kept {
		return nil, nil //nolint:nilnil // nothing is to be sent
	}
	c.out.Kept, c.out.Cursor.Kept = kept, text
	return &c.out, nil
}

// listed adds a number to a list as group_concat would.
func listed(list string, number int) string {
	if list == "" {
		return fmt.Sprint(number)
	}
	return fmt.Sprintf("%s,%d", list, number)
}

func (c *contents) add(kind string, place, number int64, data []byte) {
	c.out.Parts = append(c.out.Parts, storage.Part{Kind: kind, Place: place, Number: number, Data: data})
}

// source takes the next bytes of the scenario's files.
func (c *contents) source() error {
	var data []byte
	at := &c.out.Cursor.Source
	err := c.store.file.Row(c.ctx, `SELECT substr(files, ? + 1, ?) FROM runs WHERE key = ?`, *at, contentsBytes, c.run).Scan(&data)
	if err == nil && len(data) > 0 {
		c.add(storage.SourcePart, *at, 0, data)
		*at += int64(len(data))
	}
	return file.Translate(err)
}

// answers takes those that belong to the run and were there when the checkpoint was made.
func (c *contents) answers() error {
	at := &c.out.Cursor.Answers
	size := 0
	for rows, err := range c.store.file.Query(c.ctx, `SELECT pos, data FROM shared WHERE run = ? AND NOT open AND pos > ? AND pos < ? ORDER BY pos LIMIT ?`,
		c.run, *at, c.pos, contentsRows) {
		if err != nil {
			return err
		}
		if size >= contentsBytes {
			break
		}
		var data []byte
		if err := rows.Scan(at, &data); err != nil {
			return err
		}
		c.add(storage.AnswerPart, *at, 0, data)
		size += len(data)
	}
	return nil
}

// memory takes what changed up to the checkpoint.
func (c *contents) memory() error {
	at := &c.out.Cursor.Memory
	size := 0
	for rows, err := range c.store.file.Query(c.ctx, `SELECT number, agent, data FROM checkpoint_memory WHERE run = ? AND number <= ? AND (number, agent) > (?, ?)
		ORDER BY number, agent LIMIT ?`, c.run, c.number, *at>>32, *at&(1<<32-1), contentsRows) {
		if err != nil {
			return err
		}
		if size >= contentsBytes {
			break
		}
		var number, agent int
		var data []byte
		if err := rows.Scan(&number, &agent, &data); err != nil {
			return err
		}
		c.add(storage.MemoryPart, int64(agent), int64(number), data)
		*at = storage.MemoryPlace(number, agent)
		size += len(data)
	}
	return nil
}

// logged takes what the mock did since, also after the checkpoint: whoever forks leaves that out.
func (c *contents) logged() error {
	if c.log == nil {
		return nil
	}
	at := &c.out.Cursor.Log
	raw, err := c.log(*at, contentsBytes)
	if err == nil && len(raw) > 0 {
		c.add(storage.LogPart, *at, int64(len(raw)), blob.Pack(nil, raw, blob.NewEncoder()))
		*at += int64(len(raw))
	}
	return err
}

// state takes the rest of the checkpoint; nothing if it was pruned meanwhile, for then something may be missing.
func (c *contents) state() error {
	e, err := c.store.envelope(c.ctx, c.run, c.number)
	if errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	at := &c.out.Cursor
	e.Log = at.Log
	data, err := blob.Marshal(e, blob.NewEncoder())
	if err != nil {
		return err
	}
	c.add(storage.StatePart, int64(c.number), storage.ContentsFormat, data)
	at.Checkpoint, at.Kept = c.number, listed(at.Kept, c.number)
	return nil
}
