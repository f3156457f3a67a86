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

// figures are what a server says about its connections.
type figures struct {
	Clients int  // of all databases and users
	Max     int  // max_connections
	Kept    int  // of those, kept for superusers and the like
	Pooled  bool // as far as it was asked: a pooler stands in front
}

// unknownFigures are those of a server that does not say.
var unknownFigures = figures{Clients: -1, Max: -1}

// clientsOnly tells clients from the server's own processes. A user without pg_read_all_stats is not told what the
// processes of others are; only clients, and the few processes that work for one, have a database and a user.
const clientsOnly = `(backend_type = 'client backend' OR backend_type IS NULL AND datid IS NOT NULL AND usesysid IS NOT NULL)`

func readFigures(ctx context.Context, q querier) (f figures, err error) {
	err = q.QueryRow(ctx, `SELECT (SELECT count(*) FROM pg_stat_activity WHERE `+clientsOnly+`), current_setting('max_connections')::int,
		current_setting('superuser_reserved_connections')::int + coalesce(nullif(current_setting('reserved_connections', true), '')::int, 0)`).
		Scan(&f.Clients, &f.Max, &f.Kept)
	return f, err
}

// share is how many connections the sink may open: at most so many percent of those that are free.
func (f figures) share(wanted, percent int) int {
	if f.Max < 0 {
		return wanted
	}
	free := f.Max - f.Kept - f.Clients + 1 // the one that asks goes
	return max(min(wanted, free*percent/100), 1)
}

// pooled reports whether a pooler stands between this side and the server: what it names the session is not what the
// server calls it.
func pooled(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var server uint32
	err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&server)
	return server != conn.PgConn().PID(), err
}

// allowed asks a server how many connections may be open to it, and what it says of them. Behind a pooler, which bounds
// them itself, and where the server does not say, that is as many as are configured.
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

// silent reports whether a server answers, but not what it was asked: it does not know the question, or this user may
// not ask.
func silent(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.HasPrefix(e.Code, "42")
}

// open connects to the database, brings its schema up to date and returns a pool that takes no more than its share.
// Empty is called before a schema is made where there is none.
func (c Config) open(ctx context.Context, empty func() error) (*pgxpool.Pool, figures, error) {
	config, err := c.parse()
	if err != nil {
		return nil, figures{}, err
	}
	config.ConnConfig.DialFunc = overLines(config.ConnConfig.DialFunc)
	pool, f, err := c.openPool(ctx, config, empty)
	return pool, f, inWords(err, config.ConnConfig)
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

// prepare brings the schema up to date.
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

// The words for how a connection is protected.
const (
	notEncrypted = "not encrypted"
	notVerified  = "encrypted, server not verified"
	verified     = "encrypted and verified"
)

// protection says how a connection is encrypted, and who vouches for the server.
func protection(conn *pgx.Conn) string {
	secure, ok := conn.PgConn().Conn().(*tls.Conn)
	if !ok {
		return notEncrypted
	}
	// sslmode=verify-ca verifies by a function of its own.
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
