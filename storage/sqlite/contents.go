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
	// contentsBytes bounds the parts that are sent in one statement, except for the last part.
	contentsBytes = 512 << 10
	// contentsRows bounds their number.
	contentsRows = 2000
)

// Log reads the mock shop's log of a run: complete records from a byte on, about most bytes, which no longer change. It
// returns nothing at the end of the log and if there is no log.
type Log func(from int64, most int) ([]byte, error)

// SubscribeContents starts or stops sending the contents of a run's checkpoints to target.
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

// keptThere lists the checkpoints of a run up to the last one that was sent, oldest first.
const keptThere = `(SELECT coalesce(group_concat(number), '') FROM (SELECT number FROM checkpoints WHERE run = c.run AND number <= c.checkpoint ORDER BY number))`

// Incomplete returns the runs whose checkpoint contents in target are incomplete or include pruned checkpoints, newest
// first.
func (s *outbox) Incomplete(ctx context.Context, target string) ([]engine.RunID, error) {
	return s.runs(ctx, "checkpoints that "+target+" lacks", `SELECT r.id FROM contents c JOIN runs r ON r.key = c.run
		WHERE c.target = ? AND c.wanted AND NOT r.hidden AND (c.kept <> `+keptThere+`
			OR EXISTS (SELECT 1 FROM checkpoints WHERE run = c.run AND number > c.checkpoint))
		ORDER BY r.created DESC, r.key DESC`, target)
}

// ContentsSent confirms that target received the contents up to a cursor. A cursor never moves back: two processes may send
// a run.
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

// Contents returns the next portion of a run's checkpoint contents after the cursor, or after the confirmed one if the
// cursor is nil; nil if there is none. The state of a checkpoint follows everything that it needs. The reads are short.
// ErrNotFound if the run is not subscribed to target.
func (s *outbox) Contents(ctx context.Context, run engine.RunID, target string, after *storage.ContentsCursor, log Log) (*storage.Contents, error) {
	c := &contents{store: s, ctx: ctx, log: log}
	out, err := c.next(run, target, after)
	if err != nil {
		return nil, fmt.Errorf("checkpoint contents of run %s: %w", run, err)
	}
	return out, nil
}

// contents builds the next portion, for the oldest checkpoint that was not sent.
type contents struct {
	store *outbox
	ctx   context.Context
	log   Log

	run    int64
	number int   // of the checkpoint
	pos    int64 // its position in the journal
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
		at.Checkpoint = c.number // it was pruned in the meantime
	}
}

// pruned returns the remaining checkpoints, if they changed.
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
		return nil, nil //nolint:nilnil // there is nothing to send
	}
	c.out.Kept, c.out.Cursor.Kept = kept, text
	return &c.out, nil
}

// listed appends a number to a list in the format of group_concat.
func listed(list string, number int) string {
	if list == "" {
		return fmt.Sprint(number)
	}
	return fmt.Sprintf("%s,%d", list, number)
}

func (c *contents) add(kind string, place, number int64, data []byte) {
	c.out.Parts = append(c.out.Parts, storage.Part{Kind: kind, Place: place, Number: number, Data: data})
}

// source adds the next bytes of the scenario's files.
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

// answers adds shared answers that existed at the checkpoint.
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

// memory adds memory that changed up to the checkpoint.
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

// logged adds records of the mock shop's log, including those after the checkpoint, which forks ignore.
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

// state adds the rest of the checkpoint, unless it was pruned in the meantime: then parts may be missing.
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
