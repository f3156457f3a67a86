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

// What a database is called in the saved settings, where it stands without its password, and in the environment.
const (
	DatabaseKey = "database-url"
	DatabaseEnv = "THRONG_DATABASE_URL"
	// DatabasePasswordEnv holds the password of an address that has none.
	DatabasePasswordEnv = "THRONG_DATABASE_PASSWORD"
)

// unkeptKey stands in the saved settings where the database's password could not be kept.
const unkeptKey = "database-password-unkept"

// noDatabase as a flag sends nothing.
const noDatabase = "none"

// Database is a remote database that results go to. The zero value is none.
type Database struct {
	URL      string // without a password, unless it comes from a flag or the environment
	Password string
	From     string // "--database-url", "THRONG_DATABASE_HOST", "saved" and so on; "" is none
	CA       string // file of the certificates that the server's must be signed by; "" is none
	Asks     bool   // it had a password that no keychain kept, and that must be given again

	Limits postgres.Limits
	Rows   int           // that wait before they are sent; 0 is 500
	Every  time.Duration // that rows wait at most; 0 is 5 s
}

// FindDatabase returns the database in force, out of flags by their names, the environment and what is saved, with its
// password: of the address, of the environment, or of the keychain. Without an address there is none, but the limits
// count all the same.
func FindDatabase(flags map[string]string, env func(string) string, data string) (Database, error) {
	db, _, err := FindDatabaseSettings(flags, env, data)
	if err != nil || db.URL == "" {
		return db, err
	}
	db.Password = db.password(env)
	db.Asks = db.Asks && db.Password == ""
	return db, nil
}

// password is that of a database which is in force; "" where its address has one, or nobody knows it.
func (db Database) password(env func(string) string) string {
	if u, err := url.Parse(db.URL); err == nil {
		if _, has := u.User.Password(); has || u.Query().Has("password") {
			return ""
		}
	}
	switch db.From {
	case "--" + DatabaseKey, DatabaseEnv:
		return env(DatabasePasswordEnv)
	case fromSaved:
		return KeptPassword(db.URL)
	}
	return cmp.Or(env(DatabasePasswordEnv), KeptPassword(db.URL))
}

// FindDatabaseSettings is FindDatabase without the password, which a keychain may take its time for; and it says where
// each of [DatabaseSettings] comes from that anybody said.
func FindDatabaseSettings(flags map[string]string, env func(string) string, data string) (db Database, origins map[string]string, err error) {
	saved, err := LoadSaved(data)
	if err != nil {
		return Database{}, nil, err
	}
	if ca := saved[CAKey]; ca != "" {
		saved[CAKey] = filepath.Join(data, ca)
	}
	origins = map[string]string{}
	if err := errors.Join(db.apply(databaseLayer{saved: saved}, origins), db.apply(databaseLayer{env: env}, origins), db.apply(databaseLayer{flags: flags}, origins)); err != nil {
		return Database{}, nil, err
	}
	if err := db.Limits.Validate(); err != nil {
		return Database{}, nil, err
	}
	if ca := origins[CAKey]; ca != "" && ca != fromSaved && db.CA != "" {
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

// Config returns what a connection needs. Its password never appears in logs.
func (db Database) Config() (postgres.Config, error) {
	secrets.Use(db.Password)
	cfg := postgres.Config{URL: db.URL, Password: db.Password, RootCert: db.CA, Limits: db.Limits}
	return cfg, cfg.Validate()
}

// Target names the database without user and password; "" for none.
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

// KeptPassword returns the password that is kept for a database; "" if there is none.
func KeptPassword(address string) string {
	password, _, err := secrets.Kept(account(address))
	if err != nil {
		return ""
	}
	return password
}

// RememberPassword keeps the password of a database until the program ends, and nowhere else; an empty one is forgotten.
func RememberPassword(address, password string) {
	secrets.Use(password)
	secrets.Hold(account(address), password)
}

// account is what a database's password is filed under.
func account(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "database"
	}
	return "database " + u.User.Username() + "@" + u.Host + u.Path
}

// SaveDatabase keeps a database with the settings, and its password in the keychain; one without a URL forgets both.
// A password in the URL counts as given. An empty password leaves the one that is kept. Where there is no keychain the
// password lasts until the program ends, and the error says so; the URL is kept all the same.
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
		return &engine.FieldError{Field: "database", Problem: "is not an address", Hint: "postgres://user@host:5432/database"}
	}
	password, err := takePassword(u)
	if err != nil {
		return err
	}
	db.Password = cmp.Or(db.Password, password)
	if saved[DatabaseKey] != u.String() { // of another one
		delete(saved, unkeptKey)
	}
	saved[DatabaseKey] = u.String()
	if err := store(data, saved); err != nil || db.Password == "" {
		return err
	}
	return keepPassword(data, saved, db.Password)
}

// keepPassword keeps that of the saved database, and notes with it whether it must be asked for at the next start.
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

// takePassword removes the password from an address, in both places where it may stand.
func takePassword(u *url.URL) (password string, err error) {
	if p, ok := u.User.Password(); ok {
		password, u.User = p, url.User(u.User.Username())
	}
	query := u.Query()
	if query.Get("sslpassword") != "" {
		return "", &engine.FieldError{
			Field: "database", Problem: "has the password of a key file, which is kept nowhere",
			Hint: "use a key file without one, or give the address in " + DatabaseEnv,
		}
	}
	if query.Has("password") {
		password = cmp.Or(query.Get("password"), password)
		query.Del("password")
		u.RawQuery = query.Encode()
	}
	return password, nil
}

// ErrNoDatabase says that none is configured.
var ErrNoDatabase error = &engine.FieldError{
	Field: "database", Problem: "none is configured",
	Hint: "save one in Settings or with `throngctl settings database-url=postgres://…`, or give --database-url, --database-host or THRONG_DATABASE_URL",
}
