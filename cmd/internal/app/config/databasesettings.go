package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres"
)

// DatabaseSetting is one of the sink's: what of it a person may say by flag, in the environment or in the saved settings.
type DatabaseSetting struct {
	Name, Title, Env, Hold, Help string
	set                          func(db *Database, text string) error
	show                         func(db Database) string
	standard                     string // what show gives where nobody says anything
}

// DatabaseSettings is the one table of what can be said of the database that results go to. Parts of an address are put
// into that which is in force.
var DatabaseSettings = []DatabaseSetting{
	{Name: DatabaseKey, Env: DatabaseEnv, Hold: "URL", Help: "Postgres that results are sent to as well, such as postgres://user@host/db; none sends nothing"},
	part("database-host", "THRONG_DATABASE_HOST", "HOST", "server of that database, in place of an address or of the one in it",
		func(u *url.URL) string { return u.Hostname() }, func(u *url.URL, text string) error { u.Host = joined(text, u.Port()); return nil }),
	part("database-port", "THRONG_DATABASE_PORT", "N", "its port; 5432 without",
		func(u *url.URL) string { return cmp.Or(u.Port(), "5432") }, func(u *url.URL, text string) error {
			n, err := strconv.ParseUint(text, 10, 16)
			if err != nil || n == 0 {
				return errors.New("a port is a number from 1 to 65535")
			}
			u.Host = joined(u.Hostname(), text)
			return nil
		}),
	part("database-name", "THRONG_DATABASE_NAME", "NAME", "its name on the server",
		func(u *url.URL) string { return strings.TrimPrefix(u.Path, "/") }, func(u *url.URL, text string) error { u.Path = "/" + text; return nil }),
	part("database-user", "THRONG_DATABASE_USER", "USER", "who logs in",
		func(u *url.URL) string { return u.User.Username() }, func(u *url.URL, text string) error { u.User = url.User(text); return nil }),
	part("database-sslmode", "THRONG_DATABASE_SSLMODE", "MODE", "encryption: "+strings.Join(sslModes, ", "),
		func(u *url.URL) string { return u.Query().Get("sslmode") }, func(u *url.URL, text string) error {
			if !slices.Contains(sslModes, text) {
				return errors.New("it is one of " + strings.Join(sslModes, ", "))
			}
			query := u.Query()
			query.Set("sslmode", text)
			u.RawQuery = query.Encode()
			return nil
		}),
	{Name: CAKey, Env: "THRONG_DATABASE_CA", Hold: "FILE", Help: "certificates in PEM that the server's must be signed by; it is then verified", set: func(db *Database, text string) error {
		db.CA = text
		return nil
	}, show: func(db Database) string { return db.CA }},
	counted("database-connections", "Connections", "N", "connections for sending results, 50 at most", 8, func(db *Database) *int { return &db.Limits.Connections }),
	counted("database-share", "Server share", "PERCENT", "share of the server's connections that Throng takes at most, over all its pools", postgres.DefaultShare, func(db *Database) *int { return &db.Limits.Share }),
	timed("database-acquire", "Wait for a connection", "wait for a connection of the pool", "30s", func(db *Database) *time.Duration { return &db.Limits.Acquire }),
	timed("database-life", "Connection lifetime", "life of a connection", "1h0m0s", func(db *Database) *time.Duration { return &db.Limits.Life }),
	timed("database-idle", "Idle time", "after which a connection that has nothing to do is closed; before it is used again it is tried", "5m0s", func(db *Database) *time.Duration { return &db.Limits.Idle }),
	timed("database-timeout", "Statement timeout", "for a batch and each of its statements, on the server too", "1m0s", func(db *Database) *time.Duration { return &db.Limits.Statement }),
	counted("push-rows", "Batch rows", "N", "rows that wait before they are sent", 500, func(db *Database) *int { return &db.Rows }),
	timed("push-age", "Batch age", "time that rows wait before they are sent", "5s", func(db *Database) *time.Duration { return &db.Every }),
}

var sslModes = []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}

// joined is a host and its port, if there is one.
func joined(host, port string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") { // of IPv6
		host = "[" + host + "]"
	}
	if port == "" {
		return host
	}
	return host + ":" + port
}

// part is a setting that is a part of the address.
func part(name, env, hold, help string, show func(u *url.URL) string, put func(u *url.URL, text string) error) DatabaseSetting {
	return DatabaseSetting{
		Name: name, Env: env, Hold: hold, Help: help,
		set: func(db *Database, text string) error {
			u, err := url.Parse(cmp.Or(db.URL, "postgres://"))
			if err != nil {
				return errors.New("the address is none; postgres://user@host:5432/database")
			}
			if err := put(u, text); err != nil {
				return err
			}
			db.URL = u.String()
			return nil
		},
		show: func(db Database) string {
			u, err := url.Parse(db.URL)
			if db.URL == "" || err != nil {
				return ""
			}
			return show(u)
		},
	}
}

func counted(name, title, hold, help string, standard int, of func(db *Database) *int) DatabaseSetting {
	return DatabaseSetting{
		Name: name, Title: title, Env: envName(name), Hold: hold, Help: help, standard: strconv.Itoa(standard),
		set: func(db *Database, text string) error {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return wrong(cmp.Or(err, errors.New("too small")), text, "a whole number from 1 up")
			}
			*of(db) = n
			return nil
		},
		show: func(db Database) string { return strconv.Itoa(cmp.Or(*of(&db), standard)) },
	}
}

func timed(name, title, help, standard string, of func(db *Database) *time.Duration) DatabaseSetting {
	return DatabaseSetting{
		Name: name, Title: title, Env: envName(name), Hold: "TIME", Help: help, standard: standard,
		set: func(db *Database, text string) error {
			d, err := engine.ParseTime(text)
			if err == nil && d == 0 {
				return fmt.Errorf("%q is too short", text)
			}
			*of(db) = d
			return err
		},
		show: func(db Database) string {
			if d := *of(&db); d > 0 {
				return d.String()
			}
			return standard
		},
	}
}

// envName is the variable of a setting. DATABASE_URL and its like belong to the programs of the user: Throng reads its own.
func envName(name string) string {
	return "THRONG_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// addressParts are the settings of the table that make up the address.
const addressParts = 6

// DatabaseLimits are those of the settings that are no part of where the database is.
func DatabaseLimits() []DatabaseSetting { return DatabaseSettings[addressParts+1:] }

// find returns what a layer says about a setting and what to call its place.
func (s *DatabaseSetting) find(l databaseLayer) (text, from string) {
	switch {
	case l.env != nil:
		return l.env(s.Env), s.Env
	case l.flags != nil:
		return l.flags[s.Name], "--" + s.Name
	}
	return l.saved[s.Name], fromSaved
}

// databaseLayer is one of the places that settings come from: the one that is not nil.
type databaseLayer struct {
	saved, flags map[string]string
	env          func(string) string
}

// apply puts what a layer says over what weaker ones said. One that names another server has nothing of theirs: not its
// CA, and not its password.
func (db *Database) apply(l databaseLayer, origins map[string]string) error {
	var mistakes []error
	for i := range DatabaseSettings {
		s := &DatabaseSettings[i]
		text, from := s.find(l)
		if text == "" {
			continue
		}
		if i < addressParts {
			db.From = from
		}
		if s.Name == "database-host" || s.Name == DatabaseKey {
			db.CA = ""
		}
		origins[s.Name] = from
		if s.Name == DatabaseKey {
			db.URL = text
			continue
		}
		if err := s.set(db, text); err != nil {
			mistakes = append(mistakes, &engine.FieldError{Field: from, Problem: err.Error()})
		}
	}
	return errors.Join(mistakes...)
}

// Show returns what is in force of a setting, and from where. An address has no password.
func (s *DatabaseSetting) Show(db Database, origins map[string]string) Origin {
	o := Origin{From: cmp.Or(origins[s.Name], "default")}
	switch {
	case s.Name == DatabaseKey:
		o = Origin{db.Target(), db.From}
	case s.standard == "":
		o = Origin{s.show(db), origins[s.Name]}
	default:
		o.Value = s.show(db)
	}
	return o
}

// SaveDatabaseSetting keeps one of the settings by its name; "" forgets it. known is false for a name that is none.
func SaveDatabaseSetting(data, name, value string) (known bool, err error) {
	i := slices.IndexFunc(DatabaseSettings, func(s DatabaseSetting) bool { return s.Name == name })
	if i < 0 {
		return false, nil
	}
	saved, err := LoadSaved(data)
	if err != nil {
		return true, err
	}
	mistake := func(err error) error { return &engine.FieldError{Field: name, Problem: err.Error()} }
	switch {
	case name == DatabaseKey:
		return true, SaveDatabase(data, Database{URL: value})
	case name == CAKey && value == "":
		return true, RemoveCA(data)
	case name == CAKey:
		_, err := ImportCA(data, value)
		return true, err
	case i < addressParts && (value == "" || saved[DatabaseKey] == "" && name != "database-host"):
		return true, mistake(errors.New("is a part of the address: save a whole one, as " + DatabaseKey + "=postgres://user@host:5432/database"))
	case i < addressParts:
		db := Database{URL: saved[DatabaseKey]}
		if db.URL == "" { // the parts that are missing are those that the system would take
			db.URL = "postgres://postgres@localhost/postgres"
		}
		if err := DatabaseSettings[i].set(&db, value); err != nil {
			return true, mistake(err)
		}
		return true, SaveDatabase(data, db)
	case value == "":
		delete(saved, name)
		return true, store(data, saved)
	}
	var db Database
	if err := DatabaseSettings[i].set(&db, value); err != nil {
		return true, mistake(err)
	}
	if err := db.Limits.Validate(); err != nil {
		return true, err
	}
	saved[name] = value
	return true, store(data, saved)
}

// Standard returns the default; "" is none.
func (s *DatabaseSetting) Standard() string { return s.standard }
