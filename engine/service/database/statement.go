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

// Statement is what a step asks for.
type Statement struct {
	Query  *Query
	Args   [][]byte // as texts, for $1 and so on; nil is NULL
	Values []string // of the args, which no error text may say
	// Changes says that the statement is to be run as one that changes something, whatever it looks like.
	Changes bool

	Secrets redact.Secrets // whose marks stand in the args
}

func (s *Statement) Reads() bool { return s.Query.reads && !s.Changes }

// Hash tells statements apart that a step may ask for, by text and args, in which secrets count by their names.
func (s *Statement) Hash() uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s.Query.Text) // hashes do not fail
	for _, arg := range s.Args {
		if redact.Marked(string(arg)) {
			arg = []byte(redact.Unmarked(string(arg)))
		}
		length := -1 // of NULL
		if arg != nil {
			length = len(arg)
		}
		fmt.Fprintf(h, "\n%d:", length)
		_, _ = h.Write(arg)
	}
	return h.Sum64()
}

// rowsChanged begin the statements that may stand behind another one in a transaction, which others, such as vacuum, may
// not.
var rowsChanged = []string{"insert", "update", "delete", "merge", "with", "select", "values"}

// around are the statements that are sent before and behind one, in the same round trip. One that reads is in a
// transaction in which the server lets it change nothing. The server's limit is that of the transaction: a pooler
// refuses one at the start of a connection, and the session may be another's next.
//
// A role is set for each transaction, too: SQL of the one before may have left it.
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

// quotedSQL is a text as a literal of SQL, whatever standard_conforming_strings says.
func quotedSQL(text string) string {
	return " E'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

// errLost is what the driver calls a closed connection, which it says is none that a statement left on, where it was
// closed while the answer was awaited: then the statement may have been carried out.
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
		stopped = func() {} // it is done, whatever becomes of its rows
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
			_, _ = results.ResultReader().Close() // the batch's own error says it
		}
	}
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	if err != nil && !conn.IsClosed() && conn.TxStatus() != 'I' {
		_ = conn.Exec(ctx, "ROLLBACK").Close() // else the pool closes the connection
	}
	return tag, err
}

// Revealed are the args of a statement as they are sent: with the values of its secrets.
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

// WithoutValues is the server's message without what the step gave it: of a class about data no quoted text stays.
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

// Listed are the args as a list of JSON, as far as they are looked at.
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
