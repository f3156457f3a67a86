package postgres

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// Local is the local store of a run that was sent.
type Local interface {
	Run(ctx context.Context, id engine.RunID) (engine.RunRecord, error)
	Totals(ctx context.Context, id engine.RunID) (engine.Totals, error)
	// Takes yields all takes of all sessions, ordered by cycle, agent and take. The row is reused.
	Takes(ctx context.Context, id engine.RunID) iter.Seq2[*engine.SessionRow, error]
	Metrics(ctx context.Context, id engine.RunID, after time.Time) iter.Seq2[*engine.MetricsRow, error]
	Checkpoints(ctx context.Context, id engine.RunID) ([]engine.CheckpointRecord, error)
}

// Found is called for each compared value with its table, its name, its row ("" if there is only one), and the value in the
// database and in the local store.
type Found func(table, figure, where string, same bool, there, here any)

// pageRows is the number of rows that are read from the database in one statement. Pages keep statements short for poolers,
// statement timeouts and vacuum.
const pageRows = 5000

// Compare compares a run in a database with the local store: sums of columns with the totals of the run, and sessions,
// events, metrics and checkpoints row by row. It only reads. The error for a run that is not in the database is a
// *engine.FieldError; other errors are explained for users.
func Compare(ctx context.Context, c Config, local Local, id engine.RunID, names storage.Names, found Found) error {
	config, err := c.parse()
	if err != nil {
		return err
	}
	connecting, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	conn, err := pgx.ConnectConfig(connecting, config.ConnConfig)
	if err != nil {
		return explain(err, config.ConnConfig)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTime)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	record, err := local.Run(ctx, id)
	if err != nil {
		return err
	}
	totals, err := local.Totals(ctx, id)
	if err != nil {
		return err
	}
	p := &comparison{conn: conn, local: local, run: &record, totals: &totals, names: names, found: found}
	for _, step := range []func(ctx context.Context) error{p.runRow, p.sums, p.checkpoints, p.sessions, p.events, p.metrics} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("compare with %s: %w", target(config.ConnConfig), explain(err, config.ConnConfig))
		}
	}
	return nil
}

// comparison is a comparison in progress.
type comparison struct {
	conn   *pgx.Conn
	local  Local
	run    *engine.RunRecord
	totals *engine.Totals
	names  storage.Names
	found  Found

	withoutTrails bool // an older Throng sent the sessions, without their trails
}

// row is a row of COPY: a value for each column, nil for NULL.
type row [][]byte

// parseRows reads rows in the binary format of COPY, without its header and trailer.
func parseRows(data []byte) (all []row, err error) {
	take := func(n int) []byte {
		if n < 0 || n > len(data) {
			err, n = fmt.Errorf("the server's rows end early"), len(data)
		}
		part := data[:n]
		data = data[n:]
		return part
	}
	number := func(n int) (v int) {
		for _, b := range take(n) {
			v = v<<8 | int(b)
		}
		return v
	}
	for len(data) > 0 && err == nil {
		fields := int(int16(number(2)))
		if fields < 0 {
			break
		}
		r := make(row, fields)
		for i := range r {
			if n := int(int32(number(4))); n >= 0 {
				r[i] = slices.Clip(take(n))
			}
		}
		all = append(all, r)
	}
	return all, err
}

// compared is a table that is compared row by row.
type compared struct {
	*copied
	keys []string // columns that order the rows: integers, or the time of metrics
}

// key is the value of the columns that order the rows.
type key [5]int64

// keyOf returns the key of a row.
func (t *compared) keyOf(r row) (k key) {
	for i, name := range t.keys {
		field := r[slices.Index(t.columns, name)]
		v := int64(0)
		for n, b := range field {
			if n == 0 {
				v = int64(int8(b))
				continue
			}
			v = v<<8 | int64(b)
		}
		k[i] = v
	}
	return k
}

// name identifies the row for users.
func (t *compared) name(k key) string {
	if t.name0() == metricsTable.name {
		return "second " + time.UnixMicro(k[0]+postgresEpoch).UTC().Format("2006-01-02 15:04:05.000000")
	}
	text := fmt.Sprintf("cycle %d, agent %d, take %d", k[0], k[1], k[2])
	if len(t.keys) > 3 {
		text += fmt.Sprintf(", event %d", k[3])
	}
	return text
}

func (t *compared) name0() string { return t.copied.name }

// page reads the rows after a key.
func (p *comparison) page(ctx context.Context, t *compared, after *key) ([]row, error) {
	where := "run = " + literal(string(p.run.ID))
	if after != nil {
		values := make([]string, len(t.keys))
		for i := range t.keys {
			values[i] = fmt.Sprint(after[i])
			if t.keys[i] == "at" {
				values[i] = fmt.Sprintf("timestamptz '2000-01-01 00:00:00+00' + %d * interval '1 microsecond'", after[i])
			}
		}
		where += " AND (" + strings.Join(t.keys, ", ") + ") > (" + strings.Join(values, ", ") + ")"
	}
	var data bytes.Buffer
	_, err := p.conn.PgConn().CopyTo(ctx, &data, fmt.Sprintf("COPY (SELECT %s FROM throng.%s WHERE %s ORDER BY %s LIMIT %d) TO STDOUT (FORMAT binary)",
		t.list(), t.name0(), where, strings.Join(t.keys, ", "), pageRows))
	if err != nil {
		return nil, err
	}
	return parseRows(data.Bytes()[min(len(copyHeader), data.Len()):])
}

// literal quotes a text for SQL.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// there yields the rows of a table in the database.
func (p *comparison) there(ctx context.Context, t *compared) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		for after := (*key)(nil); ; {
			page, err := p.page(ctx, t, after)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
			}
			if len(page) < pageRows {
				return
			}
			last := t.keyOf(page[len(page)-1])
			after = &last
		}
	}
}

// compare merges the rows of a table in the database and in the local store, both ordered by key.
func (p *comparison) compare(ctx context.Context, t *compared, here iter.Seq2[row, error]) error {
	next, stop := iter.Pull2(p.there(ctx, t))
	defer stop()
	theirs, err, more := next()
	if err != nil {
		return err
	}
	lines := tableLines{p: p, t: t}
	for mine, err := range here {
		if err != nil {
			return err
		}
		k := t.keyOf(mine)
		for more && slices.Compare(lines.keyOf(theirs), k[:]) < 0 {
			lines.extra(theirs)
			if theirs, err, more = next(); err != nil {
				return err
			}
		}
		if !more || slices.Compare(lines.keyOf(theirs), k[:]) > 0 {
			p.found(t.name0(), "rows", t.name(k), false, "missing", "there")
			continue
		}
		lines.both(k, theirs, mine)
		if theirs, err, more = next(); err != nil {
			return err
		}
	}
	for ; more; theirs, err, more = next() {
		if err != nil {
			return err
		}
		lines.extra(theirs)
	}
	return nil
}

// tableLines reports the rows of a table.
type tableLines struct {
	p *comparison
	t *compared
}

func (l *tableLines) keyOf(r row) []int64 {
	k := l.t.keyOf(r)
	return k[:]
}

func (l *tableLines) extra(r row) {
	l.p.found(l.t.name0(), "rows", l.t.name(l.t.keyOf(r)), false, "there", "missing")
}

// both compares a row with its counterpart, column by column.
func (l *tableLines) both(k key, theirs, mine row) {
	same := true
	for i, name := range l.t.columns {
		if sameValue(name, theirs[i], mine[i]) || name == "trail" && theirs[i] == nil && l.p.withoutTrails {
			continue
		}
		same = false
		l.p.found(l.t.name0(), name, l.t.name(k), false, shown(theirs[i]), shown(mine[i]))
	}
	if same {
		l.p.found(l.t.name0(), "rows", "", true, "the same", "the same")
	}
}

// sameValue compares two values of a column. A numeric has several representations.
func sameValue(column string, a, b []byte) bool {
	if (a == nil) != (b == nil) {
		return false
	}
	if column == "cost_usd" && len(a) >= 8 && len(b) >= 8 {
		return cmp.Compare(numeric(a), numeric(b)) == 0
	}
	return bytes.Equal(a, b)
}

// numeric returns the sign, weight and digits of a numeric without trailing zeros.
func numeric(v []byte) string {
	digits := v[8:]
	for n := len(digits); n >= 2 && digits[n-1] == 0 && digits[n-2] == 0; n = len(digits) {
		digits = digits[:n-2]
	}
	if len(digits) == 0 {
		return ""
	}
	return string(v[2:6]) + string(digits)
}

// shown formats a value for users: texts unchanged, other values as bytes.
func shown(v []byte) string {
	switch {
	case v == nil:
		return "NULL"
	case bytes.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == '\uFFFD' }) || len(v) == 0:
		return fmt.Sprintf("0x%x", v[:min(len(v), 32)])
	default:
		return string(v[:min(len(v), 80)])
	}
}

var (
	comparedSessions = &compared{&sessionsTable, []string{"cycle", "agent_index", "take"}}
	comparedEvents   = &compared{&eventsTable, []string{"cycle", "agent_index", "take", "sequence"}}
	comparedMetrics  = &compared{&metricsTable, []string{"at"}}
)

// rows yields the rows that f encodes for each take.
func (p *comparison) rows(ctx context.Context, f func(to *copyRows, s *engine.SessionRow, agent, session string)) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		var to copyRows
		for s, err := range p.local.Takes(ctx, p.run.ID) {
			agent := ""
			if err == nil {
				agent, err = p.names.Agent(s.Agent)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			to.reset()
			f(&to, s, agent, p.names.Session(s.Cycle, s.Agent))
			all, err := parseRows(to.data)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range all {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

func (p *comparison) sessions(ctx context.Context) error {
	var ways trails
	if err := p.conn.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM throng.trails WHERE run = $1)`, string(p.run.ID)).Scan(&p.withoutTrails); err != nil {
		return err
	}
	return p.compare(ctx, comparedSessions, p.rows(ctx, func(to *copyRows, s *engine.SessionRow, agent, session string) {
		to.session(string(p.run.ID), s, agent, session)
		to.trail(ways.of(s))
	}))
}

func (p *comparison) events(ctx context.Context) error {
	return p.compare(ctx, comparedEvents, p.rows(ctx, func(to *copyRows, s *engine.SessionRow, agent, session string) {
		to.events(string(p.run.ID), s, agent, session)
	}))
}

func (p *comparison) metrics(ctx context.Context) error {
	return p.compare(ctx, comparedMetrics, func(yield func(row, error) bool) {
		var to copyRows
		for m, err := range p.local.Metrics(ctx, p.run.ID, time.Time{}) {
			to.reset()
			var all []row
			if err == nil {
				to.metrics(string(p.run.ID), m)
				all, err = parseRows(to.data)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(all[0], nil) {
				return
			}
		}
	})
}
