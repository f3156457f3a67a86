package postgres

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// stage is a temporary table for rows within a transaction. The name is only valid in the transaction.
func (t *copied) stage() string { return "pg_temp.throng_" + t.name }

func (t *copied) create() string {
	return "CREATE TEMP TABLE throng_" + t.name + " (LIKE throng." + t.name + ") ON COMMIT DROP;"
}

func (t *copied) list() string { return `"` + strings.Join(t.columns, `", "`) + `"` }

func (t *copied) copy(to string) string {
	return "COPY " + to + " (" + t.list() + ") FROM STDIN (FORMAT binary)"
}

// insert inserts missing rows in the order in which they were copied, so that two processes that send the same rows wait for
// each other instead of deadlocking.
func (t *copied) insert() string {
	return "INSERT INTO throng." + t.name + " (" + t.list() + ") SELECT " + t.list() + " FROM " + t.stage() + " ON CONFLICT DO NOTHING;"
}

// part is the portion of a table that is sent in one operation.
type part struct {
	*copied
	rows []byte
}

// parts returns the rows of some units.
func (b *batch) parts(s span) []part {
	head, sessions := b.headUnits(), len(b.sessions.ends)
	from, to := max(s.from-head, 0), max(s.to-head, 0)
	upTo := min(to, sessions)
	first := min(from, upTo)
	after := max(from-sessions, 0)
	var all []part
	for _, p := range []part{
		{&sessionsTable, b.sessions.part(first, upTo)},
		{&eventsTable, b.events.part(first, upTo)},
		{&metricsTable, b.metrics.part(after, max(to-sessions, after))},
	} {
		if len(p.rows) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// write sends some units in one transaction and returns the number of new rows. Rows that may already be in the database go
// through a stage. Others are copied directly, which takes the server a third of the time, and fails if a row exists. After
// an error, the caller must roll back before it uses the connection again.
func (b *sending) write(ctx context.Context, s span) (rows int64, err error) {
	conn, staged, parts := b.conn, b.staged, b.parts(s)
	begin, end := cmp.Or(b.begin, "BEGIN;"), ""
	if staged {
		for _, p := range parts {
			begin += p.create()
			end += p.insert()
		}
	}
	if _, err := conn.PgConn().Exec(ctx, begin).ReadAll(); err != nil {
		return 0, err
	}
	if rows, err = b.writeHead(ctx, conn, s); err != nil {
		return 0, err
	}
	for _, p := range parts {
		to := "throng." + p.name
		if staged {
			to = p.stage()
		}
		tag, err := conn.PgConn().CopyFrom(ctx, copyReader(p.rows), p.copy(to))
		if err != nil {
			return 0, err
		}
		if !staged {
			rows += tag.RowsAffected()
		}
	}
	results, err := conn.PgConn().Exec(ctx, end+"COMMIT").ReadAll()
	if err != nil {
		return 0, err
	}
	for _, r := range results {
		rows += r.CommandTag.RowsAffected()
	}
	return rows, nil
}

// writeHead writes the rows that are not copied and returns the number of rows of the head. The row of the run is first:
// other senders of the same run wait here.
func (b *batch) writeHead(ctx context.Context, conn *pgx.Conn, s span) (rows int64, err error) {
	var first pgx.Batch
	if s.from == 0 {
		for _, u := range b.head {
			first.Queue(u.query, u.args...)
		}
	}
	rows = int64(first.Len())
	if len(b.trails.rows) > 0 {
		u := b.trails.statement(b.run)
		first.Queue(u.query, u.args...)
	}
	if first.Len() == 0 {
		return 0, nil
	}
	return rows, conn.SendBatch(ctx, &first).Close()
}

// needsStage reports whether rows cannot be copied directly: one already exists, or the table has row-level security.
func needsStage(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "23505" || e.Code == "0A000")
}

// refused reports whether the server will always reject a row: errors of data, constraints and limits.
func refused(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || len(e.Code) != 5 {
		return false
	}
	switch e.Code[:2] {
	case "22", "23", "54":
		return true
	default:
		return false
	}
}

// tookTooLong reports whether the server canceled the statement because of a timeout.
func tookTooLong(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "57014"
}

// noConnectionFree reports whether the server has no free connection.
func noConnectionFree(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "53300"
}

// maxAside is the number of rejected rows without an accepted one after which the error is not considered an error of rows.
const maxAside = 100

// sending is a batch that is being sent.
type sending struct {
	*batch
	conn     *pgx.Conn
	begin    string // start of each transaction; "" sets no limits
	staged   bool
	rows     int64 // number of new rows
	accepted int   // accepted units, without the head
	aside    []aside
}

// aside is a rejected unit.
type aside struct {
	unit int
	err  error
}

// send writes some units. If the server rejects a row, it bisects the units to find the row and skip it.
func (s *sending) send(ctx context.Context, units span) error {
	if units.len() == 0 {
		return nil
	}
	rows, err := s.write(ctx, units)
	if err == nil {
		s.rows += rows
		s.accepted += units.to - max(units.from, s.headUnits())
		return nil
	}
	unstaged := !s.staged && needsStage(err)
	if !unstaged && !refused(err) {
		return err
	}
	if _, err := s.conn.PgConn().Exec(ctx, "ROLLBACK").ReadAll(); err != nil {
		return err
	}
	if unstaged {
		s.staged = true
		return s.send(ctx, units)
	}
	if units.len() == 1 {
		s.aside = append(s.aside, aside{units.from, err})
		if s.accepted == 0 && len(s.aside) > maxAside {
			return err
		}
		return nil
	}
	for _, half := range units.halves() {
		if err := s.send(ctx, half); err != nil {
			return err
		}
	}
	return nil
}
