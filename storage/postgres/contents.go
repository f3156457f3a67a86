package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

const (
	// contentsTime is how long checkpoint contents are sent before new rows have priority.
	contentsTime = 2 * time.Second
	// confirmEvery is the number of statements after which they are confirmed to the local store.
	confirmEvery = 16
	// pruneRows is the number of parts that one statement deletes.
	pruneRows = 10_000
)

// Contents is the local store's list of checkpoint contents that the database lacks. Its reads do not block writers.
type Contents interface {
	// Incomplete returns the runs with unsent contents, newest first.
	Incomplete(ctx context.Context, target string) ([]engine.RunID, error)
	// Contents returns the next portion of a run after the cursor, or after the confirmed one if the cursor is nil; nil if
	// there is none. ErrNotFound if the run was deleted.
	Contents(ctx context.Context, run engine.RunID, target string, after *storage.ContentsCursor) (*storage.Contents, error)
	// ContentsSent confirms a portion.
	ContentsSent(ctx context.Context, run engine.RunID, target string, to storage.ContentsCursor) error
}

// contentsError says that the database has the rows of a run but rejects its checkpoint contents.
type contentsError struct{ err error }

func (e *contentsError) Error() string {
	return "checkpoint contents are not sent: " + e.err.Error()
}
func (e *contentsError) Unwrap() error { return e.err }

func (p *Pusher) incomplete(ctx context.Context) ([]engine.RunID, error) {
	if p.config.Contents == nil {
		return nil, nil
	}
	return p.config.Contents.Incomplete(ctx, p.target)
}

// sendContents sends checkpoint contents for a while, after all rows were sent. Errors of one run affect neither rows nor
// other runs.
func (p *Pusher) sendContents(ctx context.Context, r *round) error {
	runs, err := p.incomplete(ctx)
	if err != nil {
		return err
	}
	end := time.Now().Add(contentsTime)
	for _, run := range runs {
		if r.failed[run] != nil {
			continue
		}
		err := p.sendRunContents(ctx, run, end)
		local, isLocal := errors.AsType[*localError](err)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return err
		case isLocal && errors.Is(err, engine.ErrNotFound): // it was deleted in the meantime
		case isLocal:
			r.failed[run] = &contentsError{local.error}
		case unwanted(err):
			r.failed[run] = &contentsError{explain(err, p.server)}
		default:
			return err
		}
	}
	return nil
}

// unwanted reports whether the server would reject the same statement again, for example because a right or the table is
// missing.
func unwanted(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (refused(err) || strings.HasPrefix(e.Code, "42") || strings.HasPrefix(e.Code, "0A"))
}

func (p *Pusher) sendRunContents(ctx context.Context, run engine.RunID, end time.Time) error {
	var at *storage.ContentsCursor
	open := 0 // unconfirmed statements
	confirm := func() error {
		if open == 0 {
			return nil
		}
		open = 0
		if err := p.config.Contents.ContentsSent(ctx, run, p.target, *at); err != nil {
			return &localError{err}
		}
		return nil
	}
	for {
		c, err := p.config.Contents.Contents(ctx, run, p.target, at)
		if err != nil {
			return &localError{err}
		}
		if c == nil {
			return confirm()
		}
		if err := p.sendOne(ctx, run, c); err != nil {
			return errors.Join(err, confirm())
		}
		at = &c.Cursor
		if open++; open >= confirmEvery {
			if err := confirm(); err != nil {
				return err
			}
		}
		if time.Now().After(end) {
			p.Nudge() // there may be more
			return confirm()
		}
	}
}

// insertParts takes the bytes of all parts as one value. pgx would encode an array of them as text, which is twice as long.
const insertParts = `INSERT INTO throng.checkpoint_parts (run, kind, place, number, data)
	SELECT $1, k, p, n, substr($6::bytea, f, l) FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::int[], $7::int[]) AS t (k, p, n, l, f)
	ON CONFLICT DO NOTHING`

// insert sends parts in one statement.
func insert(ctx context.Context, conn *pgx.Conn, run engine.RunID, parts []storage.Part) error {
	n := len(parts)
	kinds, places, numbers, lengths, starts := make([]string, n), make([]int64, n), make([]int64, n), make([]int32, n), make([]int32, n)
	data := []byte{}
	for i, part := range parts {
		kinds[i], places[i], numbers[i], lengths[i], starts[i] = part.Kind, part.Place, part.Number, int32(len(part.Data)), int32(len(data)+1)
		data = append(data, part.Data...)
	}
	_, err := conn.Exec(ctx, insertParts, string(run), kinds, places, numbers, lengths, data, starts)
	return err
}

// sendOne sends parts in one statement, or deletes pruned checkpoints.
func (p *Pusher) sendOne(ctx context.Context, run engine.RunID, c *storage.Contents) error {
	ctx, cancel := context.WithTimeout(ctx, p.limits.Statement)
	defer cancel()
	return p.withConn(ctx, func(conn *pgx.Conn) error {
		if len(c.Parts) > 0 {
			if err := insert(ctx, conn, run, c.Parts); err != nil {
				return err
			}
		}
		if c.Kept != nil {
			return prune(ctx, conn, run, c)
		}
		return nil
	})
}

// prune deletes pruned checkpoints, and then memory that no remaining checkpoint needs: the memory of an agent from before
// the oldest remaining checkpoint, if that checkpoint or an earlier one has newer memory. Without the right to delete,
// everything stays, which does no harm.
func prune(ctx context.Context, conn *pgx.Conn, run engine.RunID, c *storage.Contents) error {
	err := pruneParts(ctx, conn, run, c)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" {
		return nil
	}
	return err
}

func pruneParts(ctx context.Context, conn *pgx.Conn, run engine.RunID, c *storage.Contents) error {
	oldest := 0
	if len(c.Kept) > 0 {
		oldest = slices.Min(c.Kept)
	}
	if _, err := conn.Exec(ctx, `DELETE FROM throng.checkpoint_parts WHERE run = $1 AND kind = 'state' AND place <= $2 AND NOT place = ANY ($3::bigint[])`,
		string(run), c.Cursor.Checkpoint, bigints(c.Kept)); err != nil {
		return fmt.Errorf("remove pruned checkpoints: %w", err)
	}
	for {
		tag, err := conn.Exec(ctx, `DELETE FROM throng.checkpoint_parts p USING (SELECT place, number FROM
			(SELECT place, number, lead(number) OVER (PARTITION BY place ORDER BY number) AS later FROM throng.checkpoint_parts
				WHERE run = $1 AND kind = 'memory' AND number <= $2) m WHERE later IS NOT NULL LIMIT $3) o
			WHERE p.run = $1 AND p.kind = 'memory' AND p.place = o.place AND p.number = o.number`, string(run), oldest, pruneRows)
		if err != nil {
			return fmt.Errorf("remove memory of pruned checkpoints: %w", err)
		}
		if tag.RowsAffected() < pruneRows {
			return nil
		}
	}
}

func bigints(all []int) []int64 {
	out := make([]int64, len(all))
	for i, n := range all {
		out[i] = int64(n)
	}
	return out
}
