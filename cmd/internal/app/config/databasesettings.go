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
	"github.com/throng-sim/throng/engine/duration"
	"github.com/throng-sim/throng/storage/postgres"
)

// databaseField reads and writes one field of a Database.
type databaseField struct {
	set  func(db *Database, text string) error
	show func(db Database) string
}

// databaseGroup is the heading of the settings of the database.
const databaseGroup = "Sending results"

// databaseSettings are the settings of the database. The first rows are the parts of its address: each one changes the
// address that is in force.
var databaseSettings = []Setting{
	{
		Scope: DatabaseScope, Name: DatabaseKey, Group: databaseGroup, Env: []string{DatabaseEnv}, Unit: "URL",
		Help: "Postgres database for results, for example postgres://user@host/db; none disables sending",
	},
	part("database-host", "THRONG_DATABASE_HOST", "HOST", "server of the database; replaces the server in the address",
		func(u *url.URL) string { return u.Hostname() }, func(u *url.URL, text string) error { u.Host = joined(text, u.Port()); return nil }),
	part("database-port", "THRONG_DATABASE_PORT", "N", "port of the database (default: 5432)",
		func(u *url.URL) string { return cmp.Or(u.Port(), "5432") }, func(u *url.URL, text string) error {
			n, err := strconv.ParseUint(text, 10, 16)
			if err != nil || n == 0 {
				return errors.New("a port must be a number from 1 to 65535")
			}
			u.Host = joined(u.Hostname(), text)
			return nil
		}),
	part("database-name", "THRONG_DATABASE_NAME", "NAME", "name of the database",
		func(u *url.URL) string { return strings.TrimPrefix(u.Path, "/") }, func(u *url.URL, text string) error { u.Path = "/" + text; return nil }),
	part("database-user", "THRONG_DATABASE_USER", "USER", "user of the database",
		func(u *url.URL) string { return u.User.Username() }, func(u *url.URL, text string) error { u.User = url.User(text); return nil }),
	part("database-sslmode", "THRONG_DATABASE_SSLMODE", "MODE", "encryption: "+strings.Join(sslModes, ", "),
		func(u *url.URL) string { return u.Query().Get("sslmode") }, func(u *url.URL, text string) error {
			if !slices.Contains(sslModes, text) {
				return errors.New("choose one of " + strings.Join(sslModes, ", "))
			}
			query := u.Query()
			query.Set("sslmode", text)
			u.RawQuery = query.Encode()
			return nil
		}),
	{
		Scope: DatabaseScope, Name: caKey, Group: databaseGroup, Env: []string{"THRONG_DATABASE_CA"}, Unit: "FILE",
		Help: "PEM file of CA certificates; the server is then verified",
		database: &databaseField{
			set:  func(db *Database, text string) error { db.CA = text; return nil },
			show: func(db Database) string { return db.CA },
		},
	},
	counted("database-connections", "Connections", "N", "connections for sending results, up to 50", 8, func(db *Database) *int { return &db.Limits.Connections }),
	counted("database-share", "Server share", "PERCENT", "maximum share of the server's free connections for all of Throng's pools", postgres.DefaultShare, func(db *Database) *int { return &db.Limits.Share }),
	timed("database-acquire", "Wait for a connection", "time to wait for a connection of the pool", "30s", func(db *Database) *time.Duration { return &db.Limits.Acquire }),
	timed("database-life", "Connection lifetime", "maximum lifetime of a connection", "1h", func(db *Database) *time.Duration { return &db.Limits.Life }),
	timed("database-idle", "Idle time", "time after which an idle connection is closed", "5m", func(db *Database) *time.Duration { return &db.Limits.Idle }),
	timed("database-timeout", "Statement timeout", "timeout of a batch and of each statement, also on the server", "1m", func(db *Database) *time.Duration { return &db.Limits.Statement }),
	counted("push-rows", "Batch rows", "N", "batch size in rows", 500, func(db *Database) *int { return &db.Rows }),
	timed("push-age", "Batch age", "maximum age of a batch", "5s", func(db *Database) *time.Duration { return &db.Every }),
}

var sslModes = []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}

// joined returns a host with its port, if there is one.
func joined(host, port string) string {
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") { // IPv6
		host = "[" + host + "]"
	}
	if port == "" {
		return host
	}
	return host + ":" + port
}

// part returns the setting for a part of the address.
func part(name, env, unit, help string, show func(u *url.URL) string, put func(u *url.URL, text string) error) Setting {
	return Setting{
		Scope: DatabaseScope, Name: name, Group: databaseGroup, Env: []string{env}, Unit: unit, Help: help,
		database: &databaseField{
			set: func(db *Database, text string) error {
				u, err := url.Parse(cmp.Or(db.URL, "postgres://"))
				if err != nil {
					return errors.New("the address is invalid; use postgres://user@host:5432/database")
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
		},
	}
}

// counted returns a setting that is a count.
func counted(name, title, unit, help string, standard int, of func(db *Database) *int) Setting {
	return Setting{
		Scope: DatabaseScope, Name: name, Title: title, Group: databaseGroup, Env: []string{envName(name)}, Unit: unit, Help: help, Default: strconv.Itoa(standard),
		database: &databaseField{
			set: func(db *Database, text string) error {
				n, err := strconv.Atoi(text)
				if err != nil || n < 1 {
					return fmt.Errorf("%q is not a whole number of 1 or more", text)
				}
				*of(db) = n
				return nil
			},
			show: func(db Database) string { return strconv.Itoa(cmp.Or(*of(&db), standard)) },
		},
	}
}

// timed returns a setting that is a duration.
func timed(name, title, help, standard string, of func(db *Database) *time.Duration) Setting {
	return Setting{
		Scope: DatabaseScope, Name: name, Title: title, Group: databaseGroup, Env: []string{envName(name)}, Unit: "TIME", Help: help, Default: standard,
		database: &databaseField{
			set: func(db *Database, text string) error {
				d, err := duration.Parse(text)
				if err == nil && d == 0 {
					return fmt.Errorf("%q is too short", text)
				}
				*of(db) = d
				return err
			},
			show: func(db Database) string {
				if d := *of(&db); d > 0 {
					return duration.Format(d)
				}
				return standard
			},
		},
	}
}

// envName returns the variable of a setting. Its prefix avoids variables of other programs, such as DATABASE_URL.
func envName(name string) string {
	return "THRONG_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// addressParts is the number of rows that make up the address.
const addressParts = 6

// find returns the text of a setting in a layer, and the name of its source.
func (l databaseLayer) find(s *Setting) (text, from string) {
	switch {
	case l.env != nil:
		return l.env(s.Env[0]), s.Env[0]
	case l.flags != nil:
		return l.flags[s.Name], "--" + s.Name
	}
	return l.saved[s.Name], fromSaved
}

// databaseLayer is one source of settings: the field that is not nil.
type databaseLayer struct {
	saved, flags map[string]string
	env          func(string) string
}

// apply applies the settings of a layer on top of weaker ones. A layer that names another server discards their CA and
// password.
func (db *Database) apply(l databaseLayer, origins map[string]string) error {
	var mistakes []error
	for i := range databaseSettings {
		s := &databaseSettings[i]
		text, from := l.find(s)
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
		if err := s.database.set(db, text); err != nil {
			mistakes = append(mistakes, &engine.FieldError{Field: from, Problem: err.Error()})
		}
	}
	return errors.Join(mistakes...)
}

// ofDatabase returns the value of a setting and its source. An address is shown without its password.
func (s *Setting) ofDatabase(db Database, origins map[string]string) Origin {
	switch {
	case s.Name == DatabaseKey:
		return Origin{Value: db.Target(), From: db.From}
	case s.Default == "":
		return Origin{Value: s.database.show(db), From: origins[s.Name]}
	}
	return Origin{Value: s.database.show(db), From: cmp.Or(origins[s.Name], "default")}
}

// saveDatabase saves a setting of the database; "" deletes it.
func (s *Setting) saveDatabase(data, value string) error {
	i := slices.IndexFunc(databaseSettings, func(row Setting) bool { return row.Name == s.Name })
	saved, err := LoadSaved(data)
	if err != nil {
		return err
	}
	mistake := func(err error) error { return &engine.FieldError{Field: s.Name, Problem: err.Error()} }
	switch {
	case s.Name == DatabaseKey:
		return SaveDatabase(data, Database{URL: value})
	case s.Name == caKey && value == "":
		return RemoveCA(data)
	case s.Name == caKey:
		_, err := ImportCA(data, value)
		return err
	case i < addressParts && (value == "" || saved[DatabaseKey] == "" && s.Name != "database-host"):
		return mistake(errors.New("is a part of the address: save a whole one, as " + DatabaseKey + "=postgres://user@host:5432/database"))
	case i < addressParts:
		db := Database{URL: saved[DatabaseKey]}
		if db.URL == "" { // the defaults of the system for the other parts
			db.URL = "postgres://postgres@localhost/postgres"
		}
		if err := s.database.set(&db, value); err != nil {
			return mistake(err)
		}
		return SaveDatabase(data, db)
	case value == "":
		delete(saved, s.Name)
		return store(data, saved)
	}
	var db Database
	if err := s.database.set(&db, value); err != nil {
		return mistake(err)
	}
	if err := db.Limits.Validate(); err != nil {
		return err
	}
	saved[s.Name] = value
	return store(data, saved)
}
