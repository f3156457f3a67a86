package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres"
)

// Names of the database address: the setting, which is saved without a password, and the environment variable.
const (
	DatabaseKey = "database-url"
	DatabaseEnv = "THRONG_DATABASE_URL"
	// databasePasswordEnv holds the password for an address without one.
	databasePasswordEnv = "THRONG_DATABASE_PASSWORD"
)

// unkeptKey marks in the saved settings that no keychain holds the database's password.
const unkeptKey = "database-password-unkept"

// noDatabase is the value that turns sending off.
const noDatabase = "none"

// Database is the remote database that results go to. The zero value has no address.
type Database struct {
	URL      string // without a password, unless it comes from a flag or the environment
	Password string
	From     string // source of the address, for example "--database-url", "THRONG_DATABASE_HOST" or "saved"
	CA       string // file of CA certificates that verify the server; "" if there is none
	Asks     bool   // the password was in no keychain, and the user must enter it again

	Limits postgres.Limits
	Rows   int           // batch size; 0 is 500
	Every  time.Duration // maximum age of a batch; 0 is 5 s
}

// FindDatabase resolves the database from flags by name, the environment and the saved settings. The password comes from
// the address, the environment or the keychain. Without an address there is no database, but the limits are valid.
func FindDatabase(flags map[string]string, env func(string) string, data string) (Database, error) {
	db, _, err := FindDatabaseSettings(flags, env, data)
	if err != nil || db.URL == "" {
		return db, err
	}
	db.Password = db.password(env)
	db.Asks = db.Asks && db.Password == ""
	return db, nil
}

// password finds the password of a database; "" if its address contains one, or it is unknown.
func (db Database) password(env func(string) string) string {
	if u, err := url.Parse(db.URL); err == nil {
		if _, has := u.User.Password(); has || u.Query().Has("password") {
			return ""
		}
	}
	switch db.From {
	case "--" + DatabaseKey, DatabaseEnv:
		return env(databasePasswordEnv)
	case fromSaved:
		return KeptPassword(db.URL)
	}
	return cmp.Or(env(databasePasswordEnv), KeptPassword(db.URL))
}

// FindDatabaseSettings is FindDatabase without the password, because a keychain may be slow. It also returns the sources of
// the database settings that are not at their defaults.
func FindDatabaseSettings(flags map[string]string, env func(string) string, data string) (db Database, origins map[string]string, err error) {
	saved, err := LoadSaved(data)
	if err != nil {
		return Database{}, nil, err
	}
	if ca := saved[caKey]; ca != "" {
		saved[caKey] = filepath.Join(data, ca)
	}
	origins = map[string]string{}
	if err := errors.Join(db.apply(databaseLayer{saved: saved}, origins), db.apply(databaseLayer{env: env}, origins), db.apply(databaseLayer{flags: flags}, origins)); err != nil {
		return Database{}, nil, err
	}
	if err := db.Limits.Validate(); err != nil {
		return Database{}, nil, err
	}
	if ca := origins[caKey]; ca != "" && ca != fromSaved && db.CA != "" {
		if _, _, err := postgres.ReadCertificates(db.CA, time.Now()); err != nil {
			return Database{}, nil, err
		}
	}
	if db.URL == "" || db.URL == noDatabase {
		db.URL, db.CA, db.From = "", "", ""
		return db, origins, nil
	}
	db.Asks = db.From == fromSaved && saved[unkeptKey] != ""
	db, err = checked(db)
	return db, origins, err
}

func checked(db Database) (Database, error) {
	if _, err := db.Config(); err != nil {
		return Database{}, fmt.Errorf("the database of %s: %w", db.From, err)
	}
	secrets.Use(append(secrets.PasswordsIn(db.URL), db.Password)...)
	return db, nil
}

// Config returns the configuration of a connection. The password never appears in logs.
func (db Database) Config() (postgres.Config, error) {
	secrets.Use(db.Password)
	cfg := postgres.Config{URL: db.URL, Password: db.Password, RootCert: db.CA, Limits: db.Limits}
	return cfg, cfg.Validate()
}

// Target returns the database without user and password; "" if there is none.
func (db Database) Target() string {
	if db.URL == "" {
		return ""
	}
	cfg, err := db.Config()
	if err != nil {
		return ""
	}
	return cfg.Target()
}

// KeptPassword returns the stored password of a database; "" if there is none.
func KeptPassword(address string) string {
	password, _, err := secrets.Kept(account(address))
	if err != nil {
		return ""
	}
	return password
}

// RememberPassword holds the password of a database in memory until the program ends. An empty one deletes it.
func RememberPassword(address, password string) {
	secrets.Use(password)
	secrets.Hold(account(address), password)
}

// account returns the keychain account of a database's password.
func account(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "database"
	}
	return "database " + u.User.Username() + "@" + u.Host + u.Path
}

// SaveDatabase saves the address of a database with the settings, and its password in the keychain. An empty URL deletes
// both. A password in the URL is moved to the keychain. An empty password leaves the stored one. Without a keychain, the
// address is saved, the password lasts until the program ends, and the error says so.
func SaveDatabase(data string, db Database) error {
	db.URL = strings.TrimSpace(db.URL)
	saved, err := LoadSaved(data)
	if err != nil {
		return err
	}
	if db.URL == "" {
		old := saved[DatabaseKey]
		delete(saved, DatabaseKey)
		delete(saved, unkeptKey)
		if err := store(data, saved); err != nil || old == "" {
			return err
		}
		return errors.Join(RemoveCA(data), secrets.Store(account(old), ""))
	}
	if _, err := db.Config(); err != nil {
		return err
	}
	u, err := url.Parse(db.URL)
	if err != nil {
		return &engine.FieldError{Field: "database", Problem: "is not an address", Hint: "use postgres://user@host:5432/database"}
	}
	password, err := takePassword(u)
	if err != nil {
		return err
	}
	db.Password = cmp.Or(db.Password, password)
	if saved[DatabaseKey] != u.String() { // it marked another database
		delete(saved, unkeptKey)
	}
	saved[DatabaseKey] = u.String()
	if err := store(data, saved); err != nil || db.Password == "" {
		return err
	}
	return keepPassword(data, saved, db.Password)
}

// keepPassword stores the password of the saved database, and notes whether the user must enter it at the next start.
func keepPassword(data string, saved map[string]string, password string) error {
	err := secrets.Store(account(saved[DatabaseKey]), password)
	unkept, is := errors.AsType[*secrets.UnkeptError](err)
	if is {
		err = fmt.Errorf("the address is saved; the password is %w", unkept)
	}
	if is == (saved[unkeptKey] != "") {
		return err
	}
	delete(saved, unkeptKey)
	if is {
		saved[unkeptKey] = "yes"
	}
	return errors.Join(err, store(data, saved))
}

// takePassword removes the password from an address: from the user info and from the query.
func takePassword(u *url.URL) (password string, err error) {
	if p, ok := u.User.Password(); ok {
		password, u.User = p, url.User(u.User.Username())
	}
	query := u.Query()
	if query.Get("sslpassword") != "" {
		return "", &engine.FieldError{
			Field: "database", Problem: "contains the password of a key file, which cannot be stored",
			Hint: "use a key file without a password, or set the address in " + DatabaseEnv,
		}
	}
	if query.Has("password") {
		password = cmp.Or(query.Get("password"), password)
		query.Del("password")
		u.RawQuery = query.Encode()
	}
	return password, nil
}

// ErrNoDatabase says that no database is configured.
var ErrNoDatabase error = &engine.FieldError{
	Field: "database", Problem: "no database is configured",
	Hint: "save one in Settings or with `throngctl settings database-url=postgres://…`, or set --database-url, --database-host or THRONG_DATABASE_URL",
}
