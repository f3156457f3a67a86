package service

import (
	"errors"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// connectTime bounds connecting, and trying a connection that was idle.
	connectTime = 5 * time.Second
	lifetime    = time.Hour // of a connection
	lifeSpread  = 5 * time.Minute
	exampleURL  = "postgres://user@host:5432/database"
)

// Database is where a Postgres service is. No error or text of it has its password.
type Database struct{ config *pgxpool.Config }

// plainOptions are what an address that everybody may read can say behind its ?; others name files of this machine, or
// secrets.
var plainOptions = []string{"application_name", "search_path", "sslmode", "target_session_attrs"}

// CheckPostgres checks an address that stands in a file or in the settings of a run: one without secrets. Its errors do
// not repeat the address.
func CheckPostgres(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("its address cannot be read")
	}
	if _, has := u.User.Password(); has {
		return errors.New("a password does not belong into an address")
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
	_, err = ParseDatabase(address, "")
	return err
}

// ParseDatabase reads an address, postgres://user@host:port/database; a password replaces that in it. Without sslmode a
// host that is not loopback must encrypt. Its errors do not repeat the address.
func ParseDatabase(address, password string) (*Database, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return nil, errors.New("its address cannot be read; in a password, write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23 and % as %25")
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("its address does not begin with postgres://")
	}
	config, err := pgxpool.ParseConfig(u.String())
	if err == nil {
		u.RawQuery = encrypted(u.Query(), config.ConnConfig)
		config, err = pgxpool.ParseConfig(u.String())
	}
	switch {
	case err != nil:
		return nil, errors.New("its address cannot be used: check its port, sslmode and the files that it names")
	case config.ConnConfig.Host == "" || config.ConnConfig.Database == "":
		return nil, errors.New("its address does not name a host and a database")
	}
	if password != "" {
		config.ConnConfig.Password = password
	}
	adjust(config)
	return &Database{config}, nil
}

// encrypted is the query of an address with how connections are encrypted, where neither it nor the environment says.
func encrypted(query url.Values, c *pgx.ConnConfig) string {
	for _, name := range []string{"sslmode", "sslrootcert"} {
		if query.Get(name) == "" { // the driver takes it for a choice
			query.Del(name)
		}
	}
	switch {
	case query.Has("sslmode") || os.Getenv("PGSSLMODE") != "":
	case query.Has("sslrootcert"):
		query.Set("sslmode", "verify-full")
	case plainAway(c):
		query.Set("sslmode", "require")
	}
	return query.Encode()
}

// plainAway reports whether a host that is not loopback may be talked to without encryption.
func plainAway(c *pgx.ConnConfig) bool {
	plain := c.TLSConfig == nil && !onThisMachine(c.Host)
	for _, f := range c.Fallbacks {
		plain = plain || f.TLSConfig == nil && !onThisMachine(f.Host)
	}
	return plain
}

func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || ip != nil && ip.IsLoopback()
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
func (d *Database) Target() string {
	c := d.config.ConnConfig
	return net.JoinHostPort(strings.ToLower(c.Host), strconv.Itoa(int(c.Port))) + "/" + c.Database
}

// Away are the hosts, of those that the address names, that are not this machine.
func (d *Database) Away() []string {
	hosts := []string{d.config.ConnConfig.Host}
	for _, f := range d.config.ConnConfig.Fallbacks {
		hosts = append(hosts, f.Host)
	}
	hosts = slices.DeleteFunc(hosts, onThisMachine)
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
