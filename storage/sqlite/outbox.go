package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// deliveryBytes bounds the unpacked size of the packs in a delivery, except for the last pack. A delivery is encoded
// completely while the previous one is being sent.
const deliveryBytes = 32 << 20

// Subscribe starts sending the rows of a run to target, the name of a remote database, from the first row on. It does
// nothing if the run is already subscribed.
func (s *outbox) Subscribe(ctx context.Context, run engine.RunID, target string) error {
	key, err := s.key(ctx, run)
	if err != nil {
		return err
	}
	return s.file.Write(func(tx file.Tx) error {
		return tx.Exec(`INSERT INTO outbox (run, target, changed) SELECT key, ?, ? FROM runs WHERE key = ? AND NOT hidden
			ON CONFLICT DO NOTHING`, target, micros(time.Now()), key)
	})
}

// Outbox returns the runs with unsent changes for target, newest first.
func (s *outbox) Outbox(ctx context.Context, target string) ([]engine.RunID, error) {
	return s.runs(ctx, "outbox of "+target, `SELECT r.id FROM outbox o JOIN runs r ON r.key = o.run
		WHERE o.target = ? AND NOT r.hidden AND (o.sent < o.changed
			OR EXISTS (SELECT 1 FROM sessions WHERE run = o.run AND pos > o.pos)
			OR EXISTS (SELECT 1 FROM metrics WHERE run = o.run AND pos > o.pos)
			OR EXISTS (SELECT 1 FROM checkpoints WHERE run = o.run AND number > o.checkpoint))
		ORDER BY r.created DESC, r.key DESC`, target)
}

// runs returns the runs of a query of IDs; what names the query in errors.
func (s *outbox) runs(ctx context.Context, what, query string, args ...any) (runs []engine.RunID, err error) {
	for rows, err := range s.file.Query(ctx, query, args...) {
		var id engine.RunID
		if err == nil {
			err = rows.Scan(&id)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		runs = append(runs, id)
	}
	return runs, nil
}

const unsentRows = `SELECT (SELECT coalesce(sum(count), 0) FROM sessions WHERE run = ?1 AND pos > ?2)
	+ (SELECT count(*) FROM metrics WHERE run = ?1 AND pos > ?2)`

// Unsent returns the number of sessions and metrics of a run that target has not confirmed; ErrNotFound if the run is not
// subscribed to it.
func (s *outbox) Unsent(ctx context.Context, run engine.RunID, target string) (n int64, err error) {
	key, at, err := s.cursor(ctx, run, target)
	if err == nil {
		err = file.Translate(s.file.Row(ctx, unsentRows, key, at.Pos).Scan(&n))
	}
	if err != nil {
		return 0, fmt.Errorf("unsent rows of run %s: %w", run, err)
	}
	return n, nil
}

// Sendings lists the remote databases that receive the rows of a run.
func (s *outbox) Sendings(ctx context.Context, run engine.RunID) ([]view.Sending, error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return nil, err
	}
	all, err := s.sendings(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("unsent rows of run %s: %w", run, file.Translate(err))
	}
	return all, nil
}

// sendings lists the remote databases of a run by its key.
func (s *core) sendings(ctx context.Context, run int64) (all []view.Sending, err error) {
	type place struct {
		target string
		pos    int64
	}
	var places []place
	for rows, err := range s.file.Query(ctx, `SELECT target, pos FROM outbox WHERE run = ? ORDER BY target`, run) {
		if err != nil {
			return nil, err
		}
		var p place
		if err := rows.Scan(&p.target, &p.pos); err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	for _, p := range places {
		to := view.Sending{Target: p.target}
		if err := s.file.Row(ctx, unsentRows, run, p.pos).Scan(&to.Unsent); err != nil {
			return nil, err
		}
		all = append(all, to)
	}
	return all, nil
}

// Unsubscribe stops sending rows and checkpoint contents of a run to target. Its cursors are deleted: after another
// Subscribe, everything is sent again.
func (s *outbox) Unsubscribe(ctx context.Context, run engine.RunID, target string) error {
	key, err := s.key(ctx, run)
	if err != nil {
		return err
	}
	return s.file.Write(func(tx file.Tx) error {
		if err := tx.Exec(`DELETE FROM contents WHERE run = ? AND target = ?`, key, target); err != nil {
			return err
		}
		return tx.Exec(`DELETE FROM outbox WHERE run = ? AND target = ?`, key, target)
	})
}

// Sent confirms that target received the rows up to a cursor. A cursor never moves back: two processes may send a run.
func (s *outbox) Sent(ctx context.Context, run engine.RunID, target string, to storage.Cursor) error {
	key, err := s.key(ctx, run)
	if err != nil {
		return err
	}
	return s.file.Write(func(tx file.Tx) error {
		return tx.Exec(`UPDATE outbox SET pos = max(pos, ?), checkpoint = max(checkpoint, ?), sent = max(sent, ?) WHERE target = ? AND run = ?`,
			to.Pos, to.Checkpoint, to.Change, target, key)
	})
}

// Resend resets the cursors of all runs that are subscribed to target, so that everything is sent again.
func (s *outbox) Resend(_ context.Context, target string) error {
	err := s.file.Write(func(tx file.Tx) error {
		if err := tx.Exec(`UPDATE contents SET source = 0, answers = 0, memory = 0, log = 0, checkpoint = 0, kept = '' WHERE target = ?`, target); err != nil {
			return err
		}
		return tx.Exec(`UPDATE outbox SET pos = 0, checkpoint = 0, sent = 0 WHERE target = ?`, target)
	})
	if err != nil {
		return fmt.Errorf("send everything to %s again: %w", target, err)
	}
	return nil
}

func (s *outbox) cursor(ctx context.Context, run engine.RunID, target string) (key int64, at storage.Cursor, err error) {
	err = s.file.Row(ctx, `SELECT o.run, o.pos, o.checkpoint, o.sent FROM runs r JOIN outbox o ON o.run = r.key
		WHERE r.id = ? AND NOT r.hidden AND o.target = ?`, string(run), target).Scan(&key, &at.Pos, &at.Checkpoint, &at.Change)
	return key, at, file.Translate(err)
}

// Delivery returns the next rows of a run after the confirmed cursor and after, the end of what is being sent: about rows
// sessions, in complete packs, and as many metrics. Its reads are short. ErrNotFound if the run is not subscribed to target.
func (s *outbox) Delivery(ctx context.Context, run engine.RunID, target string, after storage.Cursor, rows int) (*storage.Delivery, error) {
	p, err := s.delivery(ctx, run, target, after, rows)
	if err != nil {
		return nil, fmt.Errorf("unsent rows of run %s: %w", run, err)
	}
	return p, nil
}

func (s *outbox) delivery(ctx context.Context, run engine.RunID, target string, after storage.Cursor, rows int) (*storage.Delivery, error) {
	key, at, err := s.cursor(ctx, run, target)
	if err != nil {
		return nil, err
	}
	at = at.Max(after)
	p := &storage.Delivery{Cursor: at}

	// The run is read before the end of the journal, so all rows that it counts are before that end.
	var totals []byte
	record, _, err := scanRun(s.file.Row(ctx, `SELECT `+runColumns+`, totals, (SELECT changed FROM outbox WHERE target = ? AND run = key)
		FROM runs WHERE key = ? AND NOT hidden`, target, key).Scan, &totals, &p.Cursor.Change)
	if err != nil {
		return nil, err
	}
	if err := s.file.Row(ctx, `SELECT next - 1 FROM positions`).Scan(&p.Cursor.Pos); err != nil {
		return nil, file.Translate(err)
	}
	reading := deliveryReading{store: s.core, run: key, after: at.Pos, upTo: p.Cursor.Pos, rows: max(rows, 1)}
	if err := reading.read(ctx); err != nil {
		return nil, err
	}
	p.Cursor.Pos, p.Full = reading.upTo, reading.full
	p.Metrics, p.Sessions, p.Count = reading.metrics, reading.sessions, reading.count

	if p.Full {
		changed := p.Cursor.Change > at.Change
		p.Cursor.Change = at.Change
		if changed { // the run must exist before its rows; it does not count as sent
			record.Ended, record.Ending, record.Reason, record.Verdict = time.Time{}, engine.NotEnded, "", nil
			p.Record = &record
		}
		return p, nil
	}
	if p.Checkpoints, err = s.listCheckpoints(ctx, run, key, `number > ?`, at.Checkpoint); err != nil {
		return nil, err
	}
	if len(p.Checkpoints) > 0 {
		p.Cursor.Checkpoint = p.Checkpoints[0].Number
	}
	if p.Cursor.Change > at.Change || len(p.Checkpoints) > 0 {
		p.Record = &record
		p.Totals, err = s.newTotals(ctx, key, totals, p.Checkpoints)
	}
	return p, err
}

// newTotals decodes the totals at the end of the run, or else those of the newest of the given checkpoints.
func (s *outbox) newTotals(ctx context.Context, key int64, totals []byte, checkpoints []engine.CheckpointRecord) (*engine.Totals, error) {
	if totals != nil {
		var t engine.Totals
		if err := blob.Unmarshal(totals, &t); err != nil {
			return nil, err
		}
		var err error
		t.Shared, err = s.asked(ctx, key)
		return &t, err
	}
	if len(checkpoints) == 0 {
		return nil, nil //nolint:nilnil // none are new
	}
	for rows, err := range s.file.Query(ctx, `SELECT state FROM checkpoints WHERE run = ? AND number = ?`, key, checkpoints[0].Number) {
		if err != nil {
			return nil, err
		}
		var data sql.RawBytes
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		var state engine.State
		err = blob.Unmarshal(data, &state)
		return &state.Totals, err
	}
	return nil, nil //nolint:nilnil // pruned meanwhile
}

// deliveryReading collects packs of sessions, and metrics, from after to upTo. It lowers upTo if it stops earlier.
type deliveryReading struct {
	store       *core
	run         int64
	after, upTo int64
	rows        int // approximate maximum
	full        bool

	packs   []pack
	count   int
	metrics []engine.MetricsRow
}

func (r *deliveryReading) read(ctx context.Context) error {
	if err := r.readPacks(ctx); err != nil {
		return err
	}
	at, err := r.readMetrics(ctx)
	if err != nil || len(r.metrics) < r.rows {
		return err
	}
	// The metrics end earlier, so later packs are left for the next delivery.
	r.full, r.upTo = true, at
	for n := len(r.packs); n > 0 && r.packs[n-1].pos > at; n-- {
		r.count -= r.packs[n-1].rows
		r.packs = r.packs[:n-1]
	}
	return nil
}

func (r *deliveryReading) readPacks(ctx context.Context) error {
	bytes := 0
	for last := r.after; ; {
		page := 0
		for rows, err := range r.store.file.Query(ctx, `SELECT pos, cycle, count, data FROM sessions WHERE run = ? AND pos > ? AND pos <= ? ORDER BY pos LIMIT ?`,
			r.run, last, r.upTo, pageRows) {
			if err != nil {
				return err
			}
			if r.count >= r.rows || bytes >= deliveryBytes {
				r.full, r.upTo = true, last
				return nil
			}
			var p pack
			if err := rows.Scan(&p.pos, &p.cycle, &p.rows, &p.data); err != nil {
				return err
			}
			r.packs = append(r.packs, p)
			last, page = p.pos+int64(p.rows)-1, page+1
			r.count, bytes = r.count+p.rows, bytes+blob.RawSize(p.data)
		}
		if page < pageRows {
			return nil
		}
	}
}

// readMetrics returns the position of the last row.
func (r *deliveryReading) readMetrics(ctx context.Context) (last int64, err error) {
	for rows, err := range r.store.file.Query(ctx, `SELECT pos, at, data FROM metrics WHERE run = ? AND pos > ? AND pos <= ? ORDER BY pos LIMIT ?`,
		r.run, r.after, r.upTo, r.rows) {
		if err != nil {
			return 0, err
		}
		var m engine.MetricsRow
		var at int64
		var data sql.RawBytes
		if err := rows.Scan(&last, &at, &data); err != nil {
			return 0, err
		}
		if err := blob.Unmarshal(data, &m); err != nil {
			return 0, err
		}
		m.At = timeOf(at)
		r.metrics = append(r.metrics, m)
	}
	return last, nil
}

func (r *deliveryReading) sessions(yield func(*engine.SessionRow, error) bool) {
	var reader codec.SessionReader
	stopped := false
	for _, p := range r.packs {
		err := blob.Rows(p.data, func(c codec.Cursor, base int64) error {
			if stopped {
				return nil
			}
			row, err := reader.Read(c, p.cycle, base)
			if err == nil {
				stopped = !yield(row, nil)
			}
			return err
		})
		if stopped {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
	}
}
