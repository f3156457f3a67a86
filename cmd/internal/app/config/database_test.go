package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
)

func none(string) string { return "" }

func TestDatabaseOfFlagEnvironmentAndSettings(t *testing.T) {
	keyring.MockInit()
	data := t.TempDir()
	env := func(name string) string {
		if name == config.DatabaseEnv {
			return "postgres://env@localhost/results"
		}
		return ""
	}
	find := func(flag string, env func(string) string) config.Database {
		t.Helper()
		db, err := config.FindDatabase(map[string]string{config.DatabaseKey: flag}, env, data)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	if db := find("", none); db != (config.Database{}) {
		t.Errorf("no database is configured, but found %+v", db)
	}
	if err := config.SaveDatabase(data, config.Database{URL: "postgres://me:pass%20word@localhost:5433/saved?sslmode=disable"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(data, "settings.json"))
	if err != nil || strings.Contains(string(text), "pass") {
		t.Errorf("the saved settings hold the password, or cannot be read: %s %v", text, err)
	}
	want := config.Database{URL: "postgres://me@localhost:5433/saved?sslmode=disable", Password: "pass word", From: "saved"}
	if db := find("", none); db != want {
		t.Errorf("saved: %+v, want %+v", db, want)
	}
	if got := want.Target(); got != "localhost:5433/saved" {
		t.Errorf("target %q", got)
	}
	if db := find("", env); db.From != config.DatabaseEnv || db.Password != "" {
		t.Errorf("environment: %+v", db)
	}
	if db := find("postgres://flag@localhost/x", env); db.From != "--database-url" {
		t.Errorf("flag: %+v", db)
	}
	if db := find("none", env); db.URL != "" {
		t.Errorf("none: %+v", db)
	}
	// A different password is saved later, then the same address without one.
	for _, password := range []string{"new", ""} {
		if err := config.SaveDatabase(data, config.Database{URL: want.URL, Password: password}); err != nil {
			t.Fatal(err)
		}
		if db := find("", none); db.Password != "new" {
			t.Errorf("password %q, want the new one", db.Password)
		}
	}
	if err := config.SaveDatabase(data, config.Database{}); err != nil {
		t.Fatal(err)
	}
	if db := find("", none); db.URL != "" || config.KeptPassword(want.URL) != "" {
		t.Errorf("after deletion: got %+v, password %q", db, config.KeptPassword(want.URL))
	}
}

// TestPasswordInQuery saves an address with the password in its query.
func TestPasswordInQuery(t *testing.T) {
	keyring.MockInit()
	data := t.TempDir()
	if err := config.SaveDatabase(data, config.Database{URL: "postgres://me@localhost/x?password=hush&sslmode=disable"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(data, "settings.json"))
	if err != nil || strings.Contains(string(text), "hush") {
		t.Errorf("the saved settings hold the password, or cannot be read: %s %v", text, err)
	}
	want := config.Database{URL: "postgres://me@localhost/x?sslmode=disable", Password: "hush", From: "saved"}
	if db, err := config.FindDatabase(nil, none, data); err != nil || db != want {
		t.Errorf("saved: %+v %v, want %+v", db, err, want)
	}
	err = config.SaveDatabase(data, config.Database{URL: "postgres://me@localhost/x?sslkey=k&sslpassword=hush"})
	if mistake, ok := errors.AsType[*engine.FieldError](err); !ok || strings.Contains(mistake.Error(), "hush") {
		t.Errorf("the password of a key file: got %v, want a database error", err)
	}
}

func TestInvalidDatabase(t *testing.T) {
	keyring.MockInit()
	data := t.TempDir()
	for _, address := range []string{"localhost", "http://localhost/db", "postgres://%zz@x/db", "postgres://u@h/db?sslmode=perhaps"} {
		_, err := config.FindDatabase(map[string]string{config.DatabaseKey: address}, none, data)
		if mistake, ok := errors.AsType[*engine.FieldError](err); !ok || mistake.Field != "database" {
			t.Errorf("%s: got %v, want a database error", address, err)
		}
		if err := config.SaveDatabase(data, config.Database{URL: address}); err == nil {
			t.Errorf("%s was saved", address)
		}
	}
	if _, err := os.Stat(filepath.Join(data, "settings.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was saved: %v", err)
	}
}

// TestPasswordWithoutKeychain checks that a password is never written to files.
func TestPasswordWithoutKeychain(t *testing.T) {
	keyring.MockInitWithError(errors.New("no bus"))
	data := t.TempDir()
	err := config.SaveDatabase(data, config.Database{URL: "postgres://lonely@localhost/db", Password: "hush"})
	if err == nil || !strings.Contains(err.Error(), "until the program ends") {
		t.Errorf("saving without a keychain: %v", err)
	}
	db, err := config.FindDatabase(nil, none, data)
	if err != nil || db.Password != "hush" {
		t.Errorf("%+v %v, want the password of this process", db, err)
	}
	if secrets.KeychainProblem() == nil {
		t.Error("the keychain works")
	}
	files, err := os.ReadDir(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(data, f.Name()))
		if err != nil || strings.Contains(string(text), "hush") {
			t.Errorf("%s holds the password: %v", f.Name(), err)
		}
	}
}

func TestDataFolder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("LOCALAPPDATA", "")
	usual, err := config.DataFolder()
	if err != nil || !strings.HasPrefix(usual, home) {
		t.Fatalf("%s %v, want a folder below the home folder", usual, err)
	}
	if err := config.ChooseDataFolder(filepath.Join(home, "missing")); err == nil {
		t.Error("a missing folder was chosen")
	}
	other := t.TempDir()
	if err := config.ChooseDataFolder(other); err != nil {
		t.Fatal(err)
	}
	if got, err := config.DataFolder(); err != nil || got != other {
		t.Errorf("%s %v, want %s", got, err, other)
	}
}
