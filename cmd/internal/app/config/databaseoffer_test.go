package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/config"
)

// TestDatabaseOffer checks that the database of other programs is offered once, by host and name, and never used unasked.
func TestDatabaseOffer(t *testing.T) {
	keyring.MockInit()
	data := t.TempDir()
	vars := map[string]string{
		"DATABASE_URL": "postgres://me:hush-hush@db.example.com/app", "DATABASE_HOST": "db.example.com", "DATABASE_PASSWORD": "x", "PUSH_ROWS": "1",
	}
	env := func(name string) string { return vars[name] }
	if db, err := config.FindDatabase(nil, env, data); err != nil || db != (config.Database{}) {
		t.Fatalf("the variables of other programs were taken: %+v %v", db, err)
	}
	offer, ok := config.FindDatabaseOffer(env, data)
	if !ok || offer.Target != "db.example.com:5432/app" && offer.Target != "db.example.com/app" {
		t.Fatalf("got %+v %t, want an offer by host and name", offer, ok)
	}
	if err := offer.Decline(data); err != nil {
		t.Fatal(err)
	}
	if _, again := config.FindDatabaseOffer(env, data); again {
		t.Error("offered again after the answer")
	}
	vars["DATABASE_URL"] = "postgres://me:hush-hush@other.example.com/app"
	other, ok := config.FindDatabaseOffer(env, data)
	if !ok {
		t.Fatal("another database is not offered")
	}
	if err := other.Accept(data); err != nil {
		t.Fatal(err)
	}
	if db, err := config.FindDatabase(nil, env, data); err != nil || db.URL != "postgres://me@other.example.com/app" || db.Password != "hush-hush" || db.From != "saved" {
		t.Errorf("accepted: %+v %v", db, err)
	}
	if _, again := config.FindDatabaseOffer(env, data); again {
		t.Error("offered although results are sent to a database")
	}
	text, err := os.ReadFile(filepath.Join(data, "settings.json"))
	if err != nil || strings.Contains(string(text), "hush") {
		t.Errorf("the password is in the settings: %s %v", text, err)
	}
	for _, address := range []string{"", "mysql://me@db.example.com/app", "postgres://%zz"} {
		vars["DATABASE_URL"] = address
		if o, ok := config.FindDatabaseOffer(env, t.TempDir()); ok {
			t.Errorf("%q is offered: %+v", address, o)
		}
	}
}
