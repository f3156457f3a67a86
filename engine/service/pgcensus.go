package service

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Clients are those of a database server, from everywhere.
type Clients struct {
	All      int
	Max      int  // that the server accepts (max_connections)
	Reserved int  // of those, for superusers and the like
	Pooled   bool // a pooler stands in front: the server does not know this client

	patience string // of the server with statements
}

// Free is how many more connections the server accepts of its usual users.
func (c Clients) Free() int { return max(c.Max-c.Reserved-c.All, 0) }

// CountClients asks a server on a connection. A user without pg_read_all_stats is not told what the processes of others are; those of
// clients have a database and a user.
func CountClients(ctx context.Context, conn *pgx.Conn) (c Clients, err error) {
	var pid uint32
	err = conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM pg_stat_activity
			WHERE backend_type = 'client backend' OR backend_type IS NULL AND datid IS NOT NULL AND usesysid IS NOT NULL),
		current_setting('max_connections')::int,
		current_setting('superuser_reserved_connections')::int + coalesce(nullif(current_setting('reserved_connections', true), '')::int, 0),
		pg_backend_pid(), current_setting('statement_timeout')`).
		Scan(&c.All, &c.Max, &c.Reserved, &pid, &c.patience)
	c.Pooled = pid != conn.PgConn().PID()
	return c, err
}

// Clients asks the server, on a connection of the pool beside those that statements have.
func (p *Postgres) Clients(ctx context.Context) (Clients, error) {
	conn, err := p.pool.kept.Acquire(ctx)
	if err != nil {
		return Clients{}, err
	}
	defer conn.Release()
	return CountClients(ctx, conn.Conn())
}

// GiveBack closes the idle connections beyond the most that were in use since it was called last.
func (p *Postgres) GiveBack() { p.pool.giveBack(p.pool.spare()) }

// Held returns how many of the server's clients are this pool's: those in use, and those that are idle. Behind a pooler
// there are none, since they are the pooler's.
func (p *Postgres) Held() (inUse, idle int) {
	if p.pooled.Load() {
		return 0, 0
	}
	f := p.pool.figures()
	return f.InUse, f.Idle
}

// Target names the database without user and password: host:port/database.
func (p *Postgres) Target() string { return p.database.Target() }
