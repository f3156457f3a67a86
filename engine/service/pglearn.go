package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// learn asks a server on its first connection what bounds there are, so that the others can be opened. What it does not
// say is no bound.
func (p *Postgres) learn(ctx context.Context, conn *pgx.Conn) error {
	defer p.pool.opened()
	if p.learnt.Load() {
		return nil
	}
	c, err := CountClients(ctx, conn)
	if _, silent := errors.AsType[*pgconn.PgError](err); silent {
		err, c = nil, Clients{Pooled: true} // what is no PostgreSQL itself bounds its connections itself
	}
	if err != nil {
		return err
	}
	p.ownLimit.Store(c.patience != "0" && c.patience != "")
	p.Share(c, 1) // this connection
	p.learnt.Store(true)
	return nil
}

// Share has the pool keep to its share of what other clients leave of a server, of whose clients own are Throng's. The
// share is that of all connections of the pool: one is for the questions about the server's clients.
func (p *Postgres) Share(c Clients, own int) {
	p.pooled.Store(c.Pooled)
	switch {
	case c.Pooled: // a pooler bounds them
		p.pool.allow(0)
	case p.limits.Allow != nil:
		p.pool.allow(max(p.limits.Allow(c.Max-c.Reserved-max(c.All-own, 0))-1, 1))
	default:
		p.pool.allow(0)
	}
}

// limitStep is what the server's limit is rounded up to, so that its statistics see few different statements.
const limitStep = 5 * time.Second

// graceTime is how long a server goes on with a statement after this side gave it up, and has asked it to stop: that may
// not have arrived.
const graceTime = 5 * time.Second

// serverLimit is how long the server is to work on a statement that is awaited for a time, in milliseconds; 0 is that it has
// a limit of its own.
func (p *Postgres) serverLimit(patience time.Duration) int64 {
	if p.ownLimit.Load() {
		return 0
	}
	return int64((patience+graceTime+limitStep-1)/limitStep) * limitStep.Milliseconds()
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
	if s.reads() {
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

// send carries out a statement with those around it, in one round trip.
func (s *Statement) send(ctx context.Context, conn *pgconn.PgConn, limit int64, role string, rows *table) (tag pgconn.CommandTag, err error) {
	wasClosed := conn.IsClosed()
	tag, err = s.exchange(ctx, conn, limit, role, rows)
	if errors.Is(err, pgconn.ErrConnClosed) && !wasClosed {
		err = errLost
	}
	return tag, err
}

func (s *Statement) exchange(ctx context.Context, conn *pgconn.PgConn, limit int64, role string, rows *table) (tag pgconn.CommandTag, err error) {
	before, after := s.around(limit, role)
	if len(before)+len(after) == 0 {
		return rows.collect(conn.ExecParams(ctx, s.Query.text, s.Args, nil, nil, nil), func() {})
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	stopped := stop
	if !s.reads() {
		stopped = func() {} // it is done, whatever becomes of its rows
	}
	batch := &pgconn.Batch{}
	for _, text := range before {
		batch.ExecParams(text, nil, nil, nil, nil)
	}
	batch.ExecParams(s.Query.text, s.Args, nil, nil, nil)
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
