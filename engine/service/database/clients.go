package database

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Clients are the clients of a database server, including those of other programs.
type Clients struct {
	All      int
	Max      int  // connections that the server accepts (max_connections)
	Reserved int  // of those, reserved for superusers
	Pooled   bool // there is a pooler in front: the server does not know this client

	timeout string // statement_timeout, as the server reports it
}

// LimitsStatements reports whether the server ends statements by itself.
func (c Clients) LimitsStatements() bool { return c.timeout != "0" && c.timeout != "" }

// Free returns how many more connections the server accepts from ordinary users.
func (c Clients) Free() int { return max(c.Max-c.Reserved-c.All, 0) }

// CountClients asks a server for its clients. Without pg_read_all_stats the types of other processes are hidden; clients are those
// with a database and a user.
func CountClients(ctx context.Context, conn *pgx.Conn) (c Clients, err error) {
	var pid uint32
	err = conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM pg_stat_activity
			WHERE backend_type = 'client backend' OR backend_type IS NULL AND datid IS NOT NULL AND usesysid IS NOT NULL),
		current_setting('max_connections')::int,
		current_setting('superuser_reserved_connections')::int + coalesce(nullif(current_setting('reserved_connections', true), '')::int, 0),
		pg_backend_pid(), current_setting('statement_timeout')`).
		Scan(&c.All, &c.Max, &c.Reserved, &pid, &c.timeout)
	c.Pooled = pid != conn.PgConn().PID()
	return c, err
}
