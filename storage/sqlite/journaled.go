package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// Journaled yields the stored rows of a run's journal in the order of the journal: sessions one by one, all takes, without
// their Delta; intents and answers; shared requests; barriers, changes, starts and metrics; and checkpoints without their
// Memory at the positions where they began. Rows of sessions are reused. Reads are short, and may or may not include rows
// that are committed in the meantime. The iterator ends after its first error.
func (s *history) Journaled(ctx context.Context, run engine.RunID) iter.Seq2[engine.Row, error] {
	return func(yield func(engine.Row, error) bool) {
		key, err := s.key(ctx, run)
		if err != nil {
			yield(nil, err)
			return
		}
		readers := make([]*tableReader, len(journalTables))
		for i := range journalTables {
			readers[i] = &tableReader{store: s.core, run: key, table: &journalTables[i]}
		}
		for {
			next, err := first(ctx, readers)
			if next == nil && err == nil {
				if err = s.still(ctx, key); err == nil {
					return
				}
			}
			stopped := false
			if err == nil {
				err = next.take(func(r engine.Row) bool {
					stopped = stopped || !yield(r, nil)
					return !stopped
				})
			}
			if stopped {
				return
			}
			if err != nil {
				yield(nil, fmt.Errorf("journal of run %s: %w", run, err))
				return
			}
		}
	}
}

// first returns the reader with the lowest next position; nil at the end of all tables.
func first(ctx context.Context, readers []*tableReader) (next *tableReader, err error) {
	for _, l := range readers {
		if err := l.fill(ctx); err != nil {
			return nil, err
		}
		if len(l.page) > 0 && (next == nil || l.page[0].pos < next.page[0].pos) {
			next = l
		}
	}
	return next, nil
}

// journaled is a row of a table of the journal: a pack, or a single row.
type journaled struct {
	pack
	row engine.Row
}

// journalTable describes how to read a table of the journal in the order of positions.
type journalTable struct {
	query string // with the run, a position and a limit as arguments
	page  int    // number of rows that are read in one query
	scan  func(rows *sql.Rows, j *journaled) error
	// unpack yields the rows of a pack until yield returns false; nil if the table has no packs.
	unpack func(l *tableReader, p *pack, yield func(engine.Row) bool) error
}

// packPage is the number of packs that are read in one query. Packs are large.
const packPage = 16

// journalTables are the tables of the journal.
var journalTables = []journalTable{
	{`SELECT pos, cycle, data FROM sessions WHERE run = ? AND pos > ? ORDER BY pos LIMIT ?`, packPage, scanPack, (*tableReader).sessions},
	{`SELECT pos, cycle, data FROM requests NOT INDEXED WHERE run = ? AND pos > ? ORDER BY pos LIMIT ?`, packPage, scanPack, (*tableReader).requests},
	{`SELECT pos, data FROM shared WHERE run = ? AND pos > ? ORDER BY pos LIMIT ?`, pageRows, scanShared, nil},
	{`SELECT pos, cycle, at, active, took, lag, sessions, work, mock FROM barriers NOT INDEXED WHERE run = ? AND pos > ? ORDER BY pos LIMIT ?`, pageRows, scanBarrier, nil},
	{`SELECT pos, at, cycle, what, old, new, who, why, inexact FROM changes WHERE run = ? AND pos > ? ORDER BY pos LIMIT ?`, pageRows, scanChange, nil},
	{`SELECT pos, at, cycle, agent, take, path, request FROM unconfirmed NOT INDEXED WHERE run = ? AND pos > ? ORDER BY pos LIMIT ?`, pageRows, scanUnconfirmed, nil},
	{`SELECT pos, at, cycle, resumed FROM starts WHERE run = ? AND pos > ? ORDER BY pos LIMIT ?`, pageRows, scanStart, nil},
	{`SELECT pos, at, data FROM metrics WHERE run = ? AND pos > ? ORDER BY pos LIMIT ?`, pageRows, scanMetrics, nil},
	{`SELECT pos, at, cycle, done, total, reason, state FROM checkpoints WHERE run = ? AND pos > ? ORDER BY pos LIMIT ?`, 1, scanCheckpoint, nil},
}

// tableReader reads one table.
type tableReader struct {
	store  *core
	run    int64
	table  *journalTable
	last   int64 // the last position that was read
	ended  bool
	page   []journaled
	reader codec.SessionReader
}

// fill reads a page if the last one is used up.
func (l *tableReader) fill(ctx context.Context) error {
	if len(l.page) > 0 || l.ended {
		return nil
	}
	for rows, err := range l.store.file.Query(ctx, l.table.query, l.run, l.last, l.table.page) {
		if err != nil {
			return err
		}
		var j journaled
		if err := l.table.scan(rows, &j); err != nil {
			return err
		}
		l.last = j.pos
		l.page = append(l.page, j)
	}
	l.ended = len(l.page) < l.table.page
	return nil
}

// take yields the first row of the page, or all rows of its pack.
func (l *tableReader) take(yield func(engine.Row) bool) error {
	j := &l.page[0]
	l.page = l.page[1:]
	if l.table.unpack == nil {
		yield(j.row)
		return nil
	}
	return l.table.unpack(l, &j.pack, yield)
}

func scanPack(rows *sql.Rows, j *journaled) error { return rows.Scan(&j.pos, &j.cycle, &j.data) }

func (l *tableReader) sessions(p *pack, yield func(engine.Row) bool) error {
	one := make(engine.SessionRows, 1)
	on := true
	return blob.Rows(p.data, func(c codec.Cursor, base int64) error {
		if !on {
			return nil
		}
		row, err := l.reader.Read(c, p.cycle, base)
		if err == nil {
			one[0] = *row
			on = yield(one)
		}
		return err
	})
}

func (l *tableReader) requests(p *pack, yield func(engine.Row) bool) error {
	on := true
	return blob.Rows(p.data, func(c codec.Cursor, _ int64) error {
		if !on {
			return nil
		}
		r, err := codec.ReadRequest(c, p.cycle)
		switch {
		case err != nil:
		case r.Kind == codec.AnswerKind:
			on = yield(engine.AnswerRow{Place: r.Place, Entry: r.Entry})
		default:
			on = yield(engine.IntentRow{Place: r.Place, Path: r.Entry.Path, Hash: r.Entry.Hash, Spent: r.Entry.Spent, Earlier: r.Earlier})
		}
		return err
	})
}

func scanShared(rows *sql.Rows, j *journaled) error {
	var data sql.RawBytes
	if err := rows.Scan(&j.pos, &data); err != nil {
		return err
	}
	var r engine.SharedRow
	err := blob.Unmarshal(data, &r)
	j.row = r
	return err
}

func scanBarrier(rows *sql.Rows, j *journaled) error {
	var b engine.BarrierRow
	var at int64
	var work sql.RawBytes
	err := rows.Scan(&j.pos, &b.Cycle, &at, &b.Active, (*int64)(&b.Took), (*int64)(&b.Lag), &b.Sessions, &work, &b.Mock)
	b.At = timeOf(at)
	if err == nil {
		err = decodeWork(work, &b.Work)
	}
	j.row = b
	return err
}

func scanChange(rows *sql.Rows, j *journaled) error {
	var c engine.ChangeRow
	var at int64
	var inexact sql.NullString
	err := rows.Scan(&j.pos, &at, &c.Cycle, &c.What, &c.Old, &c.New, &c.Who, &c.Why, &inexact)
	if err != nil {
		return err
	}
	c.At = timeOf(at)
	c.Inexact, err = inexactOfText(inexact)
	j.row = c
	return err
}

func scanStart(rows *sql.Rows, j *journaled) error {
	var r engine.StartRow
	var at int64
	err := rows.Scan(&j.pos, &at, &r.Cycle, &r.Resumed)
	r.At = timeOf(at)
	j.row = r
	return err
}

func scanMetrics(rows *sql.Rows, j *journaled) error {
	var m engine.MetricsRow
	var at int64
	var data sql.RawBytes
	if err := rows.Scan(&j.pos, &at, &data); err != nil {
		return err
	}
	err := blob.Unmarshal(data, &m)
	m.At = timeOf(at)
	j.row = m
	return err
}

func scanCheckpoint(rows *sql.Rows, j *journaled) error {
	var c engine.CheckpointRow
	var at int64
	var state sql.RawBytes
	if err := rows.Scan(&j.pos, &at, &c.Cycle, &c.Done, &c.Total, &c.Reason, &state); err != nil {
		return err
	}
	err := blob.Unmarshal(state, &c.State)
	c.At = timeOf(at)
	j.row = c
	return err
}

// Counters returns the counts in the row of the run: sessions without further takes, and events of all takes.
func (s *runs) Counters(ctx context.Context, run engine.RunID) (sessions, events int64, err error) {
	err = s.file.Row(ctx, `SELECT done, events FROM runs WHERE id = ? AND NOT hidden`, string(run)).Scan(&sessions, &events)
	if err != nil {
		err = fmt.Errorf("counters of run %s: %w", run, file.Translate(err))
	}
	return sessions, events, err
}
