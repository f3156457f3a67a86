package wire

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres"
)

// What a database is called in the saved settings, where it stands without its password, and in the environment.
const (
	DatabaseKey = "database-url"
	DatabaseEnv = "DATABASE_URL"
)

// noDatabase as a flag sends nothing.
const noDatabase = "none"

// Database is a remote database that results go to. The zero value is none.
type Database struct {
	URL      string // without a password, unless it comes from a flag or the environment
	Password string
	From     string // "--database-url", "DATABASE_URL", "saved"; "" is none
}

// FindDatabase returns the database in force: of the flag, the environment, or the saved one with its password from
// the keychain.
func FindDatabase(flag string, env func(string) string, data string) (Database, error) {
	if flag == noDatabase {
		return Database{}, nil
	}
	if flag != "" {
		return checked(Database{URL: flag, From: "--" + DatabaseKey})
	}
	if u := env(DatabaseEnv); u != "" {
		return checked(Database{URL: u, From: DatabaseEnv})
	}
	saved, err := LoadSaved(data)
	if err != nil || saved[DatabaseKey] == "" {
		return Database{}, err
	}
	u := saved[DatabaseKey]
	return checked(Database{URL: u, Password: KeptPassword(u), From: "saved"})
}

func checked(db Database) (Database, error) {
	if _, err := db.config(); err != nil {
		return Database{}, fmt.Errorf("the database of %s: %w", db.From, err)
	}
	return db, nil
}

func (db Database) config() (postgres.Config, error) {
	cfg := postgres.Config{URL: db.URL, Password: db.Password}
	return cfg, cfg.Validate()
}

// Target names the database without user and password; "" for none.
func (db Database) Target() string {
	if db.URL == "" {
		return ""
	}
	cfg, err := db.config()
	if err != nil {
		return ""
	}
	return cfg.Target()
}

// sessionPasswords are those that no keychain keeps: they last as long as the program.
var sessionPasswords sync.Map

// KeptPassword returns the password that is kept for a database; "" if there is none.
func KeptPassword(address string) string {
	name := account(address)
	if p, ok := sessionPasswords.Load(name); ok {
		return p.(string)
	}
	return secret(name)
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
		if err := store(data, saved); err != nil || old == "" {
			return err
		}
		sessionPasswords.Delete(account(old))
		return keepSecret(account(old), "")
	}
	if _, err := db.config(); err != nil {
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
	saved[DatabaseKey] = u.String()
	if err := store(data, saved); err != nil || db.Password == "" {
		return err
	}
	if err := keepSecret(account(u.String()), db.Password); err != nil {
		sessionPasswords.Store(account(u.String()), db.Password)
		return fmt.Errorf("the address is saved; the password is known only until the program ends: %w", err)
	}
	sessionPasswords.Delete(account(u.String()))
	return nil
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
	Hint: "save one in Settings or with `throngctl settings database-url=postgres://…`, or give --database-url or DATABASE_URL",
}
