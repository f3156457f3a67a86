// Package postgres sends the results of runs to a remote PostgreSQL database. A [Pusher] drains the outbox of the local
// store: an outage of the database neither slows a run nor loses a row, and a row that is sent twice is stored once. It
// works through a transaction pooler, because nothing depends on the state of a database session.
package postgres

import (
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/throng-sim/throng/engine"
)

// stepTime bounds a connection attempt and each query of a check.
const stepTime = 5 * time.Second

// Config names a database. Only its URL is required.
type Config struct {
	// URL is postgres://user@host:port/database. Without sslmode, connections to other hosts are encrypted without
	// verification, and connections to a loopback host are encrypted if the server supports it.
	URL string
	// Password replaces the password of the URL. Errors do not contain it.
	Password string
	// RootCert is a file with CA certificates. If it is set, the server's certificate is verified.
	RootCert string
	Limits
}

// Validate returns a *engine.FieldError if the config is invalid.
func (c Config) Validate() error {
	_, err := c.parse()
	return err
}

// Target returns the name of the database without user and password: host:port/database. It is empty for an invalid config.
func (c Config) Target() string {
	p, err := c.parse()
	if err != nil {
		return ""
	}
	return target(p.ConnConfig)
}

func target(c *pgx.ConnConfig) string { return address(c) + "/" + c.Database }

func address(c *pgx.ConnConfig) string {
	return net.JoinHostPort(strings.ToLower(c.Host), strconv.Itoa(int(c.Port)))
}

// parse never repeats the URL in errors, because it may contain the password.
func (c Config) parse() (*pgxpool.Config, error) {
	wrong := func(problem, hint string) error {
		return &engine.FieldError{Field: "database", Problem: problem, Hint: hint}
	}
	const example = "postgres://user@host:5432/database"
	if strings.TrimSpace(c.URL) == "" {
		return nil, wrong("has no address", example)
	}
	u, err := url.Parse(strings.TrimSpace(c.URL))
	if err != nil {
		return nil, wrong("is not an address", example+"; in a password, write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23 and % as %25")
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, wrong("is not the address of a PostgreSQL database", example)
	}
	if err := c.Limits.Validate(); err != nil {
		return nil, err
	}
	p, err := pgxpool.ParseConfig(u.String())
	if err == nil {
		query := u.Query()
		setTLS(query, c.RootCert, p.ConnConfig)
		u.RawQuery = query.Encode()
		p, err = pgxpool.ParseConfig(u.String())
	}
	switch {
	case err != nil:
		return nil, wrong("has an address that cannot be used", example+"; check its port, its sslmode and the files in it")
	case p.ConnConfig.Host == "":
		return nil, wrong("has no host", example)
	case p.ConnConfig.Database == "":
		return nil, wrong("has no name", example)
	}
	c.adjust(p)
	return p, nil
}

// setTLS sets the encryption of connections, unless the address, the environment or a service file sets it. Only p shows the
// choice of a service file.
func setTLS(query url.Values, rootCert string, p *pgx.ConnConfig) {
	for _, name := range []string{"sslmode", "sslrootcert"} {
		if query.Get(name) == "" { // the driver treats it as a choice
			query.Del(name)
		}
	}
	if rootCert != "" && !query.Has("sslrootcert") {
		query.Set("sslrootcert", rootCert)
	}
	switch {
	case query.Has("sslmode") || os.Getenv("PGSSLMODE") != "":
	case query.Has("sslrootcert"):
		query.Set("sslmode", "verify-full")
	case plainAway(p):
		query.Set("sslmode", "require") // verifies if PGSSLROOTCERT is set
	}
}

// plainAway reports whether connections to a host that is not loopback may be unencrypted.
func plainAway(p *pgx.ConnConfig) bool {
	plain := p.TLSConfig == nil && !loopback(p.Host)
	for _, f := range p.Fallbacks {
		plain = plain || f.TLSConfig == nil && !loopback(f.Host)
	}
	return plain
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || ip != nil && ip.IsLoopback()
}

// adjust sets the options that all connections share.
func (c Config) adjust(p *pgxpool.Config) {
	l := c.withDefaults()
	p.MaxConns = int32(l.Connections)
	p.MinConns, p.MinIdleConns = 0, 0
	p.MaxConnLifetime, p.MaxConnLifetimeJitter, p.MaxConnIdleTime = l.Life, l.Life/10, l.Idle
	p.PingTimeout = stepTime // idle connections are tested before they are used
	conn := p.ConnConfig
	if c.Password != "" {
		conn.Password = c.Password
	}
	conn.ConnectTimeout = stepTime
	// Prepared statements with names belong to a session.
	conn.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn.StatementCacheCapacity, conn.DescriptionCacheCapacity = 0, 0
	conn.RuntimeParams["client_encoding"] = "UTF8" // a database with another encoding would misread the bytes
	if conn.RuntimeParams["application_name"] == "" {
		conn.RuntimeParams["application_name"] = "throng"
	}
}
