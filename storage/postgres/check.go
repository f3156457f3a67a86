package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Report is the result of a check of a database.
type Report struct {
	Target    string
	Version   string // of the server
	RoundTrip time.Duration
	TLS       string // description of the encryption
	Pooler    bool   // a pooler is in front of the server

	MaxConnections    int
	Kept              int // connections reserved for superusers
	InUse             int // by all clients
	IdleInTransaction int
	Hidden            int   // clients whose state this user may not see; some may be idle in a transaction
	Share             int   // connections that Throng may open, given the free ones; 0 if unknown
	SizeBytes         int64 // of this database; 0 if unknown

	Schema int    // version of Throng's schema; 0 if there is none
	Rights string // description of the user's rights
}

// Check tests a database. On an error, the report contains the results so far. Errors are explained for users. Each step may
// take 5 s.
func Check(ctx context.Context, c Config) (Report, error) {
	config, err := c.parse()
	if err != nil {
		return Report{}, err
	}
	r := Report{Target: target(config.ConnConfig)}
	return r, explain(r.check(ctx, c, config), config.ConnConfig)
}

func (r *Report) check(ctx context.Context, c Config, config *pgxpool.Config) error {
	step := func(f func(ctx context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, stepTime)
		defer cancel()
		return f(ctx)
	}
	var conn *pgx.Conn
	err := step(func(ctx context.Context) (err error) {
		conn, err = pgx.ConnectConfig(ctx, config.ConnConfig)
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		_ = step(conn.Close)
	}()
	r.TLS = protection(conn)
	r.Version = conn.PgConn().ParameterStatus("server_version")
	share := func(ctx context.Context, conn *pgx.Conn) (err error) {
		r.Share, _, err = c.allowed(ctx, conn)
		return err
	}
	for _, f := range []func(ctx context.Context, conn *pgx.Conn) error{r.measure, r.countConnections, share, r.weigh, r.readRights} {
		if err := step(func(ctx context.Context) error { return f(ctx, conn) }); err != nil {
			return err
		}
	}
	return nil
}

// measure returns the shortest of a few round trips.
func (r *Report) measure(ctx context.Context, conn *pgx.Conn) error {
	for range 5 {
		began := time.Now()
		if err := conn.Ping(ctx); err != nil {
			return err
		}
		if took := time.Since(began); r.RoundTrip == 0 || took < r.RoundTrip {
			r.RoundTrip = took
		}
	}
	return nil
}

func (r *Report) countConnections(ctx context.Context, conn *pgx.Conn) error {
	var err error
	if r.Pooler, err = pooled(ctx, conn); err != nil {
		return err
	}
	f, err := readFigures(ctx, conn)
	if silent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	err = conn.QueryRow(ctx, `SELECT count(*) FILTER (WHERE state LIKE 'idle in transaction%'), count(*) FILTER (WHERE state IS NULL)
		FROM pg_stat_activity WHERE `+clientsOnly).Scan(&r.IdleInTransaction, &r.Hidden)
	if err != nil {
		return err
	}
	r.InUse, r.MaxConnections, r.Kept = f.Clients, f.Max, f.Kept
	return nil
}

// weigh reads the size of the database. SQL does not tell the free space of the server's disk.
func (r *Report) weigh(ctx context.Context, conn *pgx.Conn) error {
	err := conn.QueryRow(ctx, `SELECT pg_database_size(current_database())`).Scan(&r.SizeBytes)
	if silent(err) {
		return nil
	}
	return err
}

// readRights checks that this user may send rows; if not, it returns an error.
func (r *Report) readRights(ctx context.Context, conn *pgx.Conn) error {
	var there, create, createIn, use, temporary bool
	err := conn.QueryRow(ctx, `SELECT s.oid IS NOT NULL, has_database_privilege(current_database(), 'CREATE'),
			coalesce(has_schema_privilege(s.oid, 'CREATE'), false), coalesce(has_schema_privilege(s.oid, 'USAGE'), false),
			has_database_privilege(current_database(), 'TEMPORARY')
		FROM (SELECT) one LEFT JOIN pg_namespace s ON s.nspname = 'throng'`).Scan(&there, &create, &createIn, &use, &temporary)
	if err != nil {
		return err
	}
	user, database := conn.Config().User, conn.Config().Database
	lacks := func(right string) error {
		r.Rights = "lacks a right"
		return &fault{"user " + user + " may not send results: " + right, nil}
	}
	switch {
	case !temporary:
		return lacks("GRANT TEMPORARY ON DATABASE " + quote(database) + " TO " + quote(user))
	case !there && !create:
		return lacks("GRANT CREATE ON DATABASE " + quote(database) + " TO " + quote(user))
	case !there:
		r.Rights = "may create the schema throng"
		return nil
	case !use:
		return lacks("GRANT USAGE ON SCHEMA throng TO " + quote(user))
	}
	if r.Schema, err = schemaVersion(ctx, conn); err != nil {
		return err
	}
	if r.Schema < newestSchema() {
		if !createIn {
			return lacks("the owner of the schema throng must migrate it, or GRANT CREATE ON SCHEMA throng TO " + quote(user))
		}
		r.Rights = "may migrate the schema throng"
		return nil
	}
	var missing []string
	err = conn.QueryRow(ctx, `SELECT array_agg(t || ' (' || p || ')') FROM unnest(ARRAY['runs', 'checkpoints', 'sessions', 'events', 'metrics', 'trails']) t,
		unnest(ARRAY['SELECT', 'INSERT', 'UPDATE']) p WHERE (p <> 'UPDATE' OR t IN ('runs', 'checkpoints')) AND NOT has_table_privilege('throng.' || t, p)`).Scan(&missing)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return lacks("it needs rights on " + strings.Join(missing, ", ") + " of the schema throng")
	}
	r.Rights = "may write to the schema throng"
	return nil
}

// Connect opens one connection like a pusher does. Its error is explained for users.
func (c Config) Connect(ctx context.Context) (*pgx.Conn, error) {
	config, err := c.parse()
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	return conn, explain(err, config.ConnConfig)
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
