package postgres

import (
	"context"
	"crypto/tls"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// figures are what a server says about its connections.
type figures struct {
	Clients int // of all databases and users
	Max     int // max_connections
	Kept    int // of those, kept for superusers and the like
}

// clientsOnly tells clients from the server's own processes. A user without pg_read_all_stats is not told what the
// processes of others are; only clients, and the few processes that work for one, have a database and a user.
const clientsOnly = `(backend_type = 'client backend' OR backend_type IS NULL AND datid IS NOT NULL AND usesysid IS NOT NULL)`

func readFigures(ctx context.Context, q querier) (f figures, err error) {
	err = q.QueryRow(ctx, `SELECT (SELECT count(*) FROM pg_stat_activity WHERE `+clientsOnly+`), current_setting('max_connections')::int,
		current_setting('superuser_reserved_connections')::int + coalesce(nullif(current_setting('reserved_connections', true), '')::int, 0)`).
		Scan(&f.Clients, &f.Max, &f.Kept)
	return f, err
}

// share is how many connections the sink may open: at most 70 % of those that are free.
func (f figures) share(wanted int) int {
	free := f.Max - f.Kept - f.Clients + 1 // the one that asks goes
	return max(min(wanted, free*7/10), 1)
}

// open connects to the database, brings its schema up to date and returns a pool that takes no more than its share.
func (c Config) open(ctx context.Context) (*pgxpool.Pool, figures, error) {
	config, err := c.parse()
	if err != nil {
		return nil, figures{}, err
	}
	pool, f, err := openPool(ctx, config)
	return pool, f, inWords(err, config.ConnConfig)
}

func openPool(ctx context.Context, config *pgxpool.Config) (*pgxpool.Pool, figures, error) {
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig.Copy())
	if err != nil {
		return nil, figures{}, err
	}
	defer func() { _ = conn.Close(ctx) }()
	f, err := readFigures(ctx, conn)
	if err == nil {
		err = migrate(ctx, conn)
	}
	if err != nil {
		return nil, f, err
	}
	config.MaxConns = int32(f.share(int(config.MaxConns)))
	pool, err := pgxpool.NewWithConfig(ctx, config)
	return pool, f, err
}

// The words for how a connection is protected.
const (
	notEncrypted = "not encrypted"
	notVerified  = "encrypted, server not verified"
	verified     = "encrypted and verified"
)

// protection says how a connection is encrypted.
func protection(conn *pgx.Conn) string {
	secure, ok := conn.PgConn().Conn().(*tls.Conn)
	if !ok {
		return notEncrypted
	}
	// sslmode=verify-ca verifies by a function of its own.
	config := conn.Config().TLSConfig
	if len(secure.ConnectionState().VerifiedChains) > 0 || config != nil && config.VerifyPeerCertificate != nil {
		return verified
	}
	return notVerified
}
