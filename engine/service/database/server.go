// Package database connects to Postgres servers: addresses, a connection pool that respects the limits of servers and poolers, and
// statements with their results as JSON.
package database

import (
	"errors"
	"net"
	"net/url"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/throng-sim/throng/engine"
)

const (
	// connectTime limits connecting, and checking an idle connection.
	connectTime = 5 * time.Second
	lifetime    = time.Hour // of a connection
	lifeSpread  = 5 * time.Minute
	exampleURL  = "postgres://user@host:5432/database"
)

// Server is the address of a Postgres database. Its errors and texts do not contain the password.
type Server struct {
	Config *pgxpool.Config
	Role   string // role for statements; "" is the user's own
}

// As returns the same database for statements that run as a role. Every statement sets it: a change of the session does not outlast
// the statement. SQL can leave a role, so that only a user without superuser rights is really limited.
func (d *Server) As(role string) *Server { return &Server{d.Config, role} }

// plainOptions are the options that a public address may have after the ?. Others name files of this machine, or secrets.
var plainOptions = []string{"application_name", "search_path", "sslmode", "target_session_attrs"}

// Check checks an address without secrets, of a file or of a run's settings. Its errors do not repeat the address.
func Check(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("its address cannot be read")
	}
	if _, has := u.User.Password(); has {
		return errors.New("an address must not contain a password")
	}
	switch {
	case u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Hostname() == "":
		return errors.New("its address does not begin with postgres:// and a host")
	case strings.Trim(u.Path, "/") == "":
		return errors.New("its address does not name a database")
	}
	for name := range u.Query() {
		if !slices.Contains(plainOptions, name) {
			return errors.New("its address has ?" + name + "=, which only an address that is a secret may have")
		}
	}
	_, err = Parse(address, "")
	return err
}

// Parse parses an address, postgres://user@host:port/database. A password replaces the one in the address. Without sslmode,
// connections to hosts other than loopback must be encrypted. Its errors do not repeat the address.
func Parse(address, password string) (*Server, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return nil, errors.New("its address cannot be read; in a password, write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23 and % as %25")
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("its address does not begin with postgres://")
	}
	if err := closeAddress(u); err != nil {
		return nil, err
	}
	config, err := parseAlone(u)
	if err == nil {
		u.RawQuery = encrypted(u.Query(), config.ConnConfig)
		config, err = parseAlone(u)
	}
	switch {
	case err != nil:
		return nil, errors.New("its address cannot be used: check its port, sslmode and the files that it names")
	case config.ConnConfig.Host == "" || config.ConnConfig.Database == "":
		return nil, errors.New("its address does not name a host and a database")
	}
	for name := range config.ConnConfig.RuntimeParams {
		if !u.Query().Has(name) { // from a service file or a variable
			delete(config.ConnConfig.RuntimeParams, name)
		}
	}
	if password != "" {
		config.ConnConfig.Password = password
	}
	adjust(config)
	return &Server{Config: config}, nil
}

// parseAlone parses a complete address. The driver cannot ignore PGSERVICE, so that it gets an empty service file.
func parseAlone(u *url.URL) (_ *pgxpool.Config, err error) {
	if os.Getenv("PGSERVICE") == "" {
		return pgxpool.ParseConfig(u.String())
	}
	file, err := os.CreateTemp("", "throng-pgservice")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.WriteString("[throng]\n")
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	alone, query := *u, u.Query()
	query.Set("service", "throng")
	query.Set("servicefile", file.Name())
	alone.RawQuery = query.Encode()
	return pgxpool.ParseConfig(alone.String())
}

// neutral are the values of options that an address leaves out. Otherwise the driver would take them from PG* variables, service
// files, ~/.pgpass and ~/.postgresql, which are not meant for scenarios.
var neutral = map[string]string{
	"password": "", "passfile": os.DevNull, "connect_timeout": "5", "target_session_attrs": "any",
	"sslmode": "", "sslkey": "", "sslcert": "", "sslcertmode": "allow", "sslsni": "1", "sslrootcert": "", "sslpassword": "", "sslnegotiation": "",
	"min_protocol_version": "", "max_protocol_version": "", "channel_binding": "", "require_auth": "",
}

// closeAddress completes an address, so that nothing is taken from the environment.
func closeAddress(u *url.URL) error {
	query := u.Query()
	for _, name := range []string{"service", "servicefile", "passfile"} {
		if query.Has(name) {
			return errors.New("its address has ?" + name + "=: password and service files are not read for scenarios; write what they say into the address")
		}
	}
	if u.Host == "" && query.Get("host") == "" || strings.Trim(u.Path, "/") == "" && query.Get("database") == "" && query.Get("dbname") == "" {
		return errors.New("its address does not name a host and a database")
	}
	if !strings.Contains(u.Host[strings.LastIndex(u.Host, "]")+1:], ":") && !query.Has("port") {
		query.Set("port", "5432")
	}
	if u.User.Username() == "" && query.Get("user") == "" {
		if me, err := user.Current(); err == nil {
			query.Set("user", me.Username)
		}
	}
	_, hasPassword := u.User.Password()
	for name, value := range neutral {
		if !query.Has(name) && (name != "password" || !hasPassword) {
			query.Set(name, value)
		}
	}
	u.RawQuery = query.Encode()
	return nil
}

// encrypted returns the query of an address with sslmode, if it has none.
func encrypted(query url.Values, c *pgx.ConnConfig) string {
	switch {
	case query.Get("sslmode") != "":
	case query.Get("sslrootcert") != "":
		query.Set("sslmode", "verify-full")
	case plainAway(c):
		query.Set("sslmode", "require")
	}
	return query.Encode()
}

// plainAway reports whether connections to a host other than loopback may be unencrypted.
func plainAway(c *pgx.ConnConfig) bool {
	plain := c.TLSConfig == nil && !engine.IsThisMachine(c.Host)
	for _, f := range c.Fallbacks {
		plain = plain || f.TLSConfig == nil && !engine.IsThisMachine(f.Host)
	}
	return plain
}

// adjust sets what all connections have in common. They keep no session state, so that they work through a transaction pooler, and
// write times in one format.
func adjust(p *pgxpool.Config) {
	p.MinConns, p.MinIdleConns = 0, 0
	p.MaxConnLifetime, p.MaxConnLifetimeJitter, p.PingTimeout = lifetime, lifeSpread, connectTime
	c := p.ConnConfig
	c.ConnectTimeout = connectTime
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	c.StatementCacheCapacity, c.DescriptionCacheCapacity = 0, 0
	c.RuntimeParams["client_encoding"], c.RuntimeParams["datestyle"], c.RuntimeParams["timezone"] = "UTF8", "ISO", "UTC"
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "throng sql steps"
	}
}

// Target returns host:port/database.
func (d *Server) Target() string {
	c := d.Config.ConnConfig
	return net.JoinHostPort(strings.ToLower(c.Host), strconv.Itoa(int(c.Port))) + "/" + c.Database
}

// Name returns the name of the database.
func (d *Server) Name() string { return d.Config.ConnConfig.Database }

// Hosts returns the hosts of the address, each once, as host:port.
func (d *Server) Hosts() []string {
	c := d.Config.ConnConfig
	hosts := []string{net.JoinHostPort(strings.ToLower(c.Host), strconv.Itoa(int(c.Port)))}
	for _, f := range c.Fallbacks {
		hosts = append(hosts, net.JoinHostPort(strings.ToLower(f.Host), strconv.Itoa(int(f.Port))))
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
