package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/postgres"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestDatabaseByItsParts combines parts of the address from all sources.
func TestDatabaseByItsParts(t *testing.T) {
	keyring.MockInit()
	data := t.TempDir()
	if err := config.SaveDatabase(data, config.Database{URL: "postgres://me:kept@saved:5433/results?sslmode=require"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		flags, env map[string]string
		want       config.Database
	}{
		{"as it is saved", nil, nil, config.Database{URL: "postgres://me@saved:5433/results?sslmode=require", Password: "kept", From: "saved"}},
		{
			"another server with what else is saved, but not its password",
			map[string]string{"database-host": "other", "database-port": "6432"},
			nil,
			config.Database{URL: "postgres://me@other:6432/results?sslmode=require", From: "--database-port"},
		},
		{
			"all by the environment", nil,
			map[string]string{"THRONG_DATABASE_HOST": "::1", "THRONG_DATABASE_PORT": "1", "THRONG_DATABASE_NAME": "x y", "THRONG_DATABASE_USER": "a@b", "THRONG_DATABASE_PASSWORD": "p", "THRONG_DATABASE_SSLMODE": "disable"},
			config.Database{URL: "postgres://a%40b@[::1]:1/x%20y?sslmode=disable", Password: "p", From: "THRONG_DATABASE_SSLMODE"},
		},
		{
			"an address by the environment, its user by flag",
			map[string]string{"database-user": "you"},
			map[string]string{"THRONG_DATABASE_URL": "postgres://env/db", "THRONG_DATABASE_PASSWORD": "p"},
			config.Database{URL: "postgres://you@env/db", Password: "p", From: "--database-user"},
		},
		{
			"a flag's password counts",
			map[string]string{"database-url": "postgres://u:own@flag/db"},
			map[string]string{"THRONG_DATABASE_PASSWORD": "p"},
			config.Database{URL: "postgres://u:own@flag/db", From: "--database-url"},
		},
		{
			"the limits",
			map[string]string{"database-url": "none", "database-share": "40"},
			map[string]string{"THRONG_DATABASE_SHARE": "50", "THRONG_DATABASE_CONNECTIONS": "3", "THRONG_PUSH_AGE": "2s"},
			config.Database{Limits: postgres.Limits{Connections: 3, Share: 40}, Every: 2 * time.Second},
		},
	} {
		got, err := config.FindDatabase(c.flags, func(name string) string { return c.env[name] }, data)
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
	for _, flags := range []map[string]string{
		{"database-port": "x"},
		{"database-port": "0"},
		{"database-sslmode": "perhaps"},
		{"database-connections": "51"},
		{"database-connections": "0"},
		{"database-share": "101"},
		{"push-age": "soon"},
		{"database-timeout": "0"},
		{"database-ca": filepath.Join(data, "none.pem")},
	} {
		_, err := config.FindDatabase(flags, none, data)
		if _, ok := errors.AsType[*engine.FieldError](err); !ok {
			t.Errorf("%v: got %v, want an error", flags, err)
		}
	}
}

// TestEveryDatabaseSettingIsSaved saves each setting, reads it and deletes it.
func TestEveryDatabaseSettingIsSaved(t *testing.T) {
	keyring.MockInit()
	data := t.TempDir()
	values := map[string]string{
		"database-url": "postgres://me@localhost/results", "database-host": "other", "database-port": "6432", "database-name": "mine",
		"database-user": "you", "database-sslmode": "require", "database-connections": "5", "database-share": "60", "push-rows": "250",
		"database-ca": pgtest.New(t, pgtest.Options{TLS: true}).Certificate,
	}
	for i := range config.Settings {
		s := &config.Settings[i]
		if s.Scope != config.DatabaseScope {
			continue
		}
		value := values[s.Name]
		if value == "" {
			value = "7s"
		}
		if err := config.Save(data, map[string]string{s.Name: value}); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		origins, err := config.Sources{Data: data, Env: none}.InForce()
		if err != nil {
			t.Fatal(err)
		}
		o := origins[s.Name]
		want := map[string]string{"database-url": "localhost:5432/results", "database-ca": filepath.Join(data, "database-ca.pem")}[s.Name]
		if want == "" {
			want = value
		}
		if o.Value != want || s.Title != "" && o.From != "saved" {
			t.Errorf("%s: %+v, want %s", s.Name, o, want)
		}
	}
	for _, s := range config.Settings {
		if s.Scope == config.DatabaseScope && s.Title != "" {
			if err := config.Save(data, map[string]string{s.Name: ""}); err != nil {
				t.Errorf("delete %s: %v", s.Name, err)
			}
		}
	}
	if db, err := config.FindDatabase(nil, none, data); err != nil || db.Limits != (postgres.Limits{}) || db.Every != 0 || db.Target() != "other:6432/mine" {
		t.Errorf("got %+v, %v", db, err)
	}
	for name, value := range map[string]string{"database-share": "0", "database-port": "", "database-sslmode": "x"} {
		if err := config.Save(data, map[string]string{name: value}); err == nil {
			t.Errorf("%s=%s was saved", name, value)
		}
	}
}

// TestImportedCA verifies a server with imported certificates until they are removed. An unusable file changes nothing.
func TestImportedCA(t *testing.T) {
	keyring.MockInit()
	data := t.TempDir()
	server := pgtest.New(t, pgtest.Options{TLS: true})
	if err := config.SaveDatabase(data, config.Database{URL: server.Database(t)}); err != nil {
		t.Fatal(err)
	}
	encryption := func() string {
		t.Helper()
		db, err := config.FindDatabase(nil, none, data)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := app.CheckDatabase(t.Context(), db)
		for _, l := range lines {
			if l.Name == "encryption" {
				return l.Value
			}
		}
		return err.Error()
	}
	if got := encryption(); got != "encrypted, server not verified" {
		t.Errorf("without a CA: %s", got)
	}
	copied := filepath.Join(t.TempDir(), "ca.pem")
	text, err := os.ReadFile(server.Certificate)
	if err == nil {
		err = os.WriteFile(copied, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	ca, err := config.ImportCA(data, copied)
	if err != nil || ca.Name != "throng test" {
		t.Fatalf("got %v, %v", ca, err)
	}
	if err := os.Remove(copied); err != nil { // the imported copy remains
		t.Fatal(err)
	}
	for _, bad := range []string{copied, data, filepath.Join(data, "settings.json")} {
		if _, err := config.ImportCA(data, bad); err == nil {
			t.Errorf("%s was imported", bad)
		}
	}
	if got := encryption(); got != "encrypted and verified by throng test" {
		t.Errorf("with the CA: %s", got)
	}
	// The CA belongs to the saved server and is not used for others.
	if db, err := config.FindDatabase(map[string]string{config.DatabaseKey: "postgres://localhost/x"}, none, data); err != nil || db.CA != "" {
		t.Errorf("another server: %+v, %v", db, err)
	}
	other := pgtest.New(t, pgtest.Options{TLS: true})
	if err := config.SaveDatabase(data, config.Database{URL: other.Database(t)}); err != nil {
		t.Fatal(err)
	}
	if got := encryption(); !strings.Contains(got, "not trusted") || !strings.Contains(got, "--database-ca") {
		t.Errorf("a server with another CA: %s", got)
	}
	if err := config.RemoveCA(data); err != nil {
		t.Fatal(err)
	}
	if ca, err := config.SavedCA(data); ca != nil || err != nil {
		t.Errorf("still present: %v, %v", ca, err)
	}
	if got := encryption(); got != "encrypted, server not verified" {
		t.Errorf("after it was removed: %s", got)
	}
}
