package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// figures are the server's numbers of connections.
type figures struct {
	Clients int  // of all databases and users
	Max     int  // max_connections
	Kept    int  // reserved for superusers and replication
	Pooled  bool // a pooler is in front of the server, if that is known
}

// unknownFigures are the numbers of a server that does not report them.
var unknownFigures = figures{Clients: -1, Max: -1}

// clientsOnly selects clients among the server's processes. Users without pg_read_all_stats do not see the type of other
// processes, but only clients, and the few processes that work for them, have a database and a user.
const clientsOnly = `(backend_type = 'client backend' OR backend_type IS NULL AND datid IS NOT NULL AND usesysid IS NOT NULL)`

func readFigures(ctx context.Context, q querier) (f figures, err error) {
	err = q.QueryRow(ctx, `SELECT (SELECT count(*) FROM pg_stat_activity WHERE `+clientsOnly+`), current_setting('max_connections')::int,
		current_setting('superuser_reserved_connections')::int + coalesce(nullif(current_setting('reserved_connections', true), '')::int, 0)`).
		Scan(&f.Clients, &f.Max, &f.Kept)
	return f, err
}

// share returns the number of connections that the pusher may open: a percentage of the free ones.
func (f figures) share(wanted, percent int) int {
	if f.Max < 0 {
		return wanted
	}
	free := f.Max - f.Kept - f.Clients + 1 // plus the connection that asks, which will be closed
	return max(min(wanted, free*percent/100), 1)
}

// pooled reports whether a pooler is in front of the server: it reports another process ID for the session than the server
// does.
func pooled(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var server uint32
	err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&server)
	return server != conn.PgConn().PID(), err
}

// allowed returns how many connections to the server may be open, and the numbers of the server. Behind a pooler, which
// limits them itself, and if the server does not report them, it is the configured number.
func (c Config) allowed(ctx context.Context, conn *pgx.Conn) (int, figures, error) {
	limits := c.withDefaults()
	between, err := pooled(ctx, conn)
	if err != nil {
		return 0, unknownFigures, err
	}
	f, err := readFigures(ctx, conn)
	if silent(err) {
		return limits.Connections, unknownFigures, nil
	}
	if f.Pooled = between; between {
		return limits.Connections, f, err
	}
	return f.share(limits.Connections, limits.Share), f, err
}

// silent reports whether the server answered but does not report the numbers: it does not know the query, or the user has no
// right to it.
func silent(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.HasPrefix(e.Code, "42")
}

// open connects to the database, migrates its schema and returns a pool within its share of connections. It calls empty
// before it creates the schema.
func (c Config) open(ctx context.Context, empty func() error) (*pgxpool.Pool, figures, error) {
	config, err := c.parse()
	if err != nil {
		return nil, figures{}, err
	}
	config.ConnConfig.DialFunc = trackTransfers(config.ConnConfig.DialFunc)
	pool, f, err := c.openPool(ctx, config, empty)
	return pool, f, explain(err, config.ConnConfig)
}

func (c Config) openPool(ctx context.Context, config *pgxpool.Config, empty func() error) (*pgxpool.Pool, figures, error) {
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig.Copy())
	if err != nil {
		return nil, unknownFigures, err
	}
	defer func() { _ = conn.Close(ctx) }()
	most, f, err := c.allowed(ctx, conn)
	if err == nil {
		err = prepare(ctx, conn, empty)
	}
	if err != nil {
		return nil, f, err
	}
	config.MaxConns = int32(most)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	return pool, f, err
}

// prepare migrates the schema.
func prepare(ctx context.Context, conn *pgx.Conn, empty func() error) error {
	version, err := schemaVersion(ctx, conn)
	if err == nil && version == 0 {
		err = empty()
	}
	if err != nil {
		return err
	}
	return migrate(ctx, conn)
}

// Descriptions of the protection of a connection.
const (
	notEncrypted = "not encrypted"
	notVerified  = "encrypted, server not verified"
	verified     = "encrypted and verified"
)

// protection describes how a connection is encrypted and verified.
func protection(conn *pgx.Conn) string {
	secure, ok := conn.PgConn().Conn().(*tls.Conn)
	if !ok {
		return notEncrypted
	}
	// sslmode=verify-ca verifies with a function of the driver.
	config := conn.Config().TLSConfig
	state := secure.ConnectionState()
	switch {
	case len(state.VerifiedChains) > 0:
		chain := state.VerifiedChains[0]
		return verified + " by " + nameOf(chain[len(chain)-1])
	case config != nil && config.VerifyPeerCertificate != nil:
		return verified
	}
	return notVerified
}
