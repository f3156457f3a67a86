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
	// connectTime bounds connecting, and trying a connection that was idle.
	connectTime = 5 * time.Second
	lifetime    = time.Hour // of a connection
	lifeSpread  = 5 * time.Minute
	exampleURL  = "postgres://user@host:5432/database"
)

// Database is where a Postgres service is. No error or text of it has its password.
type Server struct {
	Config *pgxpool.Config
	Role   string // that statements run as; "" is the user's own
}

// As returns the same database for statements that run as a role. Each of them begins with it: what one does to its
// session does not outlast it. SQL can leave a role again, so that only a user without superuser rights is a bound.
func (d *Server) As(role string) *Server { return &Server{d.Config, role} }

// plainOptions are what an address that everybody may read can say behind its ?; others name files of this machine, or
// secrets.
var plainOptions = []string{"application_name", "search_path", "sslmode", "target_session_attrs"}

// CheckPostgres checks an address that stands in a file or in the settings of a run: one without secrets. Its errors do
// not repeat the address.
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

// ParseDatabase reads an address, postgres://user@host:port/database; a password replaces that in it. Without sslmode a
// host that is not loopback must encrypt. Its errors do not repeat the address.
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
		if !u.Query().Has(name) { // of a service file or a variable
			delete(config.ConnConfig.RuntimeParams, name)
		}
	}
	if password != "" {
		config.ConnConfig.Password = password
	}
	adjust(config)
	return &Server{Config: config}, nil
}

// parseAlone parses an address that says everything itself. The driver cannot be told to leave PGSERVICE alone, so that it
// gets a service that says nothing.
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

// neutral are the values of what an address does not say. Without them the driver would take them from PG* variables,
// service files, ~/.pgpass and ~/.postgresql: what this machine's user has there is not for scenarios.
var neutral = map[string]string{
	"password": "", "passfile": os.DevNull, "connect_timeout": "5", "target_session_attrs": "any",
	"sslmode": "", "sslkey": "", "sslcert": "", "sslcertmode": "allow", "sslsni": "1", "sslrootcert": "", "sslpassword": "", "sslnegotiation": "",
	"min_protocol_version": "", "max_protocol_version": "", "channel_binding": "", "require_auth": "",
}

// closeAddress has an address say everything itself.
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

// encrypted is the query of an address with how connections are encrypted, where it does not say.
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

// plainAway reports whether a host that is not loopback may be talked to without encryption.
func plainAway(c *pgx.ConnConfig) bool {
	plain := c.TLSConfig == nil && !engine.IsThisMachine(c.Host)
	for _, f := range c.Fallbacks {
		plain = plain || f.TLSConfig == nil && !engine.IsThisMachine(f.Host)
	}
	return plain
}

// adjust sets what all connections have in common. They depend on no state of a session, so that they work through a
// transaction pooler, and write times in one way.
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

// Target names the database without user and password: host:port/database.
func (d *Server) Target() string {
	c := d.Config.ConnConfig
	return net.JoinHostPort(strings.ToLower(c.Host), strconv.Itoa(int(c.Port))) + "/" + c.Database
}

// Name is what the database is called.
func (d *Server) Name() string { return d.Config.ConnConfig.Database }

// Hosts are those that the address names, each once, as host:port.
func (d *Server) Hosts() []string {
	c := d.Config.ConnConfig
	hosts := []string{net.JoinHostPort(strings.ToLower(c.Host), strconv.Itoa(int(c.Port)))}
	for _, f := range c.Fallbacks {
		hosts = append(hosts, net.JoinHostPort(strings.ToLower(f.Host), strconv.Itoa(int(f.Port))))
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
