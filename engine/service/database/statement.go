package database

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/throng-sim/throng/engine/service/redact"
)

// Statement is a statement with its arguments.
type Statement struct {
	Query  *Query
	Args   [][]byte // as text, for $1 and so on; nil is NULL
	Values []string // texts of the args, which errors must not contain
	// Changes says that the statement may change something, although it looks like one that reads.
	Changes bool

	Secrets redact.Secrets // whose marks are in the args
}

// Reads reports whether the statement only reads data.
func (s *Statement) Reads() bool { return s.Query.reads && !s.Changes }

// Hash distinguishes the statements that a step may send, by text and args. Secrets count by name.
func (s *Statement) Hash() uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s.Query.Text) // hashes never fail
	for _, arg := range s.Args {
		if redact.Marked(string(arg)) {
			arg = []byte(redact.Unmarked(string(arg)))
		}
		length := -1 // NULL
		if arg != nil {
			length = len(arg)
		}
		fmt.Fprintf(h, "\n%d:", length)
		_, _ = h.Write(arg)
	}
	return h.Sum64()
}

// rowsChanged are the first words of statements that may follow another one in a transaction, unlike vacuum, for example.
var rowsChanged = []string{"insert", "update", "delete", "merge", "with", "select", "values"}

// around returns the statements to send before and after this one, in the same round trip. A statement that reads gets a read-only
// transaction. The time limit is set for the transaction: a pooler rejects one at the start of a connection, and the session may be
// shared.
//
// The role is set for each transaction too, because the SQL of the previous one may have left it.
func (s *Statement) around(limit int64, role string) (before, after []string) {
	if s.Reads() {
		before, after = []string{"BEGIN READ ONLY"}, []string{"COMMIT"}
		if limit > 0 {
			before = append(before, fmt.Sprintf("SET LOCAL statement_timeout = %d", limit))
		}
	} else if limit > 0 && (role != "" || slices.Contains(rowsChanged, s.Query.first)) {
		// Without BEGIN a batch is a transaction too, in which SET LOCAL would warn.
		before = []string{fmt.Sprintf("SELECT set_config('statement_timeout', '%d', true)", limit)}
	}
	if role != "" {
		before = append(before, "SELECT set_config('role', "+quotedSQL(role)+", true)")
	}
	return before, after
}

// quotedSQL returns a text as a SQL literal, whatever standard_conforming_strings is.
func quotedSQL(text string) string {
	return " E'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

// errLost replaces the driver's error for a connection that was closed while a response was awaited. The driver says that nothing
// was sent, but the statement may have been carried out.
var errLost = errors.New("the connection was lost before the answer was there")

// Run carries out the statement on a connection, in one round trip. limit is the server's time limit in milliseconds; 0 sets none.
// The body is JSON: {"count": rows, "rows": [{"column": value}]}. written is the number of rows inserted, updated or deleted.
func (s *Statement) Run(ctx context.Context, conn *pgconn.PgConn, limit int64, role string) (body []byte, written int64, err error) {
	wasClosed := conn.IsClosed()
	rows := &table{}
	tag, err := s.exchange(ctx, conn, limit, role, rows)
	if err != nil {
		if errors.Is(err, pgconn.ErrConnClosed) && !wasClosed {
			err = errLost
		}
		return nil, 0, err
	}
	if changed(tag) {
		written = tag.RowsAffected()
	}
	return rows.json(max(tag.RowsAffected(), int64(rows.rows))), written, nil
}

// changed reports whether a statement counts the rows that it changed.
func changed(tag pgconn.CommandTag) bool {
	return tag.Insert() || tag.Update() || tag.Delete() || strings.HasPrefix(tag.String(), "MERGE")
}

func (s *Statement) exchange(ctx context.Context, conn *pgconn.PgConn, limit int64, role string, rows *table) (tag pgconn.CommandTag, err error) {
	before, after := s.around(limit, role)
	if len(before)+len(after) == 0 {
		return rows.collect(conn.ExecParams(ctx, s.Query.Text, s.Args, nil, nil, nil), func() {})
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	stopped := stop
	if !s.Reads() {
		stopped = func() {} // the statement is done, whatever happens to its rows
	}
	batch := &pgconn.Batch{}
	for _, text := range before {
		batch.ExecParams(text, nil, nil, nil, nil)
	}
	batch.ExecParams(s.Query.Text, s.Args, nil, nil, nil)
	for _, text := range after {
		batch.ExecParams(text, nil, nil, nil, nil)
	}
	results := conn.ExecBatch(reading, batch)
	for i := 0; results.NextResult(); i++ {
		if i == len(before) {
			tag, err = rows.collect(results.ResultReader(), stopped)
		} else {
			_, _ = results.ResultReader().Close() // the batch returns the error
		}
	}
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	if err != nil && !conn.IsClosed() && conn.TxStatus() != 'I' {
		_ = conn.Exec(ctx, "ROLLBACK").Close() // otherwise the pool would close the connection
	}
	return tag, err
}

// Revealed returns the statement as it is sent, with the values of its secrets.
func (s *Statement) Revealed() (Statement, error) {
	all := *s
	all.Args = make([][]byte, len(s.Args))
	for i, arg := range s.Args {
		text, err := s.Secrets.Reveal(string(arg), nil)
		if err != nil {
			return all, err
		}
		if arg != nil {
			all.Args[i] = []byte(text)
		}
	}
	return all, nil
}

// WithoutValues returns the server's message without the step's values. In errors about data, quoted text is removed too.
func (s *Statement) WithoutValues(e *pgconn.PgError) string {
	const most = 300
	text := e.Message
	if strings.HasPrefix(e.Code, "22") {
		text = inQuotes.ReplaceAllString(text, redact.Mark)
	}
	for _, value := range s.Values {
		text = WithoutValue(text, value)
	}
	return redact.Shorten(strings.Join(strings.Fields(text), " "), most)
}

// Listed returns the args as a JSON list, cut after about most bytes.
func (s *Statement) Listed(most int) []byte {
	list := []byte{'['}
	for i, arg := range s.Args {
		if i > 0 {
			list = append(list, ", "...)
		}
		switch {
		case len(list) > most:
			return append(list, ']')
		case arg == nil:
			list = append(list, "null"...)
		case utf8.Valid(arg):
			list = strconv.AppendQuote(list, string(arg[:min(len(arg), most)]))
		default:
			list = strconv.AppendQuote(list, redact.Binary(len(arg)))
		}
	}
	return append(list, ']')
}
